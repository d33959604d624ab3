// Cuts random fills into chunks, each with the counter at which its part of the stream begins, and
// makes permutations in two steps: every number goes to a random bucket, then each bucket, small
// enough for the cache, is shuffled (Rao, 1961; Sandelius, 1962).
#include "random.h"

#include <string.h>

#include <algorithm>

#include "../integers.h"
#include "../threads.h"

namespace tessella::launch {
namespace {

constexpr int64_t chunk_numbers = 16384;  // a whole number of groups

// Counters that `words` words take, from the start of a group.
uint64_t counters_of(int64_t words) {
  return static_cast<uint64_t>(ceil_div(words, RANDOM_GROUP_WORDS)) * RANDOM_GROUP_COUNTERS;
}

int64_t cost_ns(Distribution distribution) {
  return distribution == Distribution::normal ? chunk_numbers : chunk_numbers / 2;
}

void fill_words(uint64_t key, uint64_t counter, int64_t n, void* out, DType dtype) {
  auto bits = TS_CHOSEN(random_kernels).fill[static_cast<int>(Distribution::bits)];
  bits[static_cast<int>(dtype)]({key, counter, 0, 0}, n, out);
}

// Buckets of a permutation: a power of two, about bucket_size numbers each.
constexpr int64_t bucket_size = 16384;
constexpr int64_t max_buckets = 4096;
constexpr int64_t chunk_scatter = 65536;

struct Buckets {
  int bits;
  int64_t count;
  int64_t chunks;

  explicit Buckets(int64_t n) : bits(0), chunks(ceil_div(n, chunk_scatter)) {
    while (n >> bits > bucket_size && int64_t{1} << bits < max_buckets) ++bits;
    count = int64_t{1} << bits;
  }
};

// One random word for each number: its top bits choose the bucket.
class BucketWords {
 public:
  BucketWords(const PermutationTask& task, const Buckets& buckets)
      : task_(task), shift_(32 - buckets.bits) {}

  // body(number, bucket) for the numbers of one chunk, in order.
  template <class F>
  void for_each(int64_t chunk, F&& body) const {
    constexpr int64_t tile = 1024;
    uint32_t words[tile];
    int64_t begin = chunk * chunk_scatter, end = std::min(begin + chunk_scatter, task_.n);
    for (int64_t first = begin; first < end; first += tile) {
      int64_t n = std::min(tile, end - first);
      fill_words(task_.key, task_.counter + counters_of(first), n, words, DType::uint32);
      for (int64_t i = 0; i < n; ++i) body(first + i, words[i] >> shift_);
    }
  }

 private:
  const PermutationTask& task_;
  int shift_;
};

// positions[chunk * buckets + bucket]: where that chunk's numbers of the bucket go. Filled with
// counts, then summed up over the buckets, and within one over the chunks.
void sum_up(const Buckets& buckets, int64_t* positions, int64_t* starts) {
  int64_t n = buckets.count;
  auto each = [=](auto&& body) {  // in the order of memory
    for (int64_t i = 0; i < buckets.chunks * n; i += n)
      for (int64_t bucket = 0; bucket < n; ++bucket) body(bucket, positions[i + bucket]);
  };
  std::fill_n(starts, n + 1, 0);
  each([=](int64_t bucket, int64_t count) { starts[bucket + 1] += count; });
  for (int64_t bucket = 0; bucket < n; ++bucket) starts[bucket + 1] += starts[bucket];
  each([=](int64_t bucket, int64_t& position) {
    int64_t count = position;
    position = starts[bucket];
    starts[bucket] += count;
  });
  std::copy_backward(starts, starts + n - 1, starts + n);  // each had become that of the next
  starts[0] = 0;
}

void scatter_numbers(const PermutationTask& task, const Buckets& buckets, int64_t* positions,
                     int64_t* starts) {
  BucketWords words(task, buckets);
  parallel(buckets.chunks, chunk_scatter, task.interruptible, [&](int64_t chunk, int) {
    int64_t* counts = positions + chunk * buckets.count;
    std::fill_n(counts, buckets.count, 0);
    words.for_each(chunk, [&](int64_t, uint32_t bucket) { ++counts[bucket]; });
  });
  sum_up(buckets, positions, starts);
  parallel(buckets.chunks, 2 * chunk_scatter, task.interruptible, [&](int64_t chunk, int) {
    int64_t* position = positions + chunk * buckets.count;
    words.for_each(chunk,
                   [&](int64_t number, uint32_t bucket) { task.out[position[bucket]++] = number; });
  });
}

// Fisher and Yates: each place from the last on takes one of the numbers up to it.
void shuffle(uint64_t key, uint64_t counter, int64_t n, int64_t* out) {
  constexpr int64_t tile = 512;
  uint64_t words[tile];
  for (int64_t done = 0; done < n; done += tile) {
    int64_t count = std::min(tile, n - done);
    fill_words(key, counter + counters_of(2 * done), count, words, DType::uint64);
    for (int64_t i = 0; i < count; ++i) {
      auto left = static_cast<uint64_t>(n - done - i);
      auto from = static_cast<uint64_t>(static_cast<unsigned __int128>(words[i]) * left >> 64);
      std::swap(out[left - 1], out[from]);
    }
  }
}

}  // namespace

bool has_random(Distribution distribution, DType dtype) {
  auto fill = TS_CHOSEN(random_kernels).fill[static_cast<int>(distribution)];
  return !is_user(dtype) && fill[static_cast<int>(dtype)] != nullptr;
}

uint64_t random_counters(Distribution distribution, DType dtype, int64_t n) {
  return counters_of(n * random_words_each(distribution, dtype));
}

void random(const RandomTask& task) {
  RandomFn fill = TS_CHOSEN(random_kernels)
                      .fill[static_cast<int>(task.distribution)][static_cast<int>(task.dtype)];
  uint64_t range = task.distribution == Distribution::bernoulli
                       ? static_cast<uint64_t>(task.p * 0x1p32 + 0.5)
                       : task.range;
  int64_t words = random_words_each(task.distribution, task.dtype);
  int64_t chunks = ceil_div(task.n, chunk_numbers);
  int64_t ns = cost_ns(task.distribution) * words;
  parallel(chunks, ns, task.interruptible, [&](int64_t chunk, int) {
    int64_t first = chunk * chunk_numbers;
    uint64_t counter = task.counter + counters_of(first * words);
    fill({task.key, counter, task.low, range}, std::min(chunk_numbers, task.n - first),
         static_cast<char*>(task.out) + first * itemsize(task.dtype));
  });
}

// The words of the buckets, then those of the shuffles: a bucket begins at a group of its own.
uint64_t permutation_counters(int64_t n) {
  return counters_of(n) + counters_of(2 * n) +
         static_cast<uint64_t>(Buckets(n).count) * RANDOM_GROUP_COUNTERS;
}

int64_t permutation_scratch_bytes(int64_t n) {
  Buckets buckets(n);
  return ((buckets.chunks + 1) * buckets.count + 1) * static_cast<int64_t>(sizeof(int64_t));
}

void permutation(const PermutationTask& task, void* scratch) {
  Buckets buckets(task.n);
  auto* starts = static_cast<int64_t*>(scratch);
  int64_t* positions = starts + buckets.count + 1;
  if (buckets.count == 1) {
    starts[0] = 0, starts[1] = task.n;
    for (int64_t i = 0; i < task.n; ++i) task.out[i] = i;
  } else {
    scatter_numbers(task, buckets, positions, starts);
  }
  uint64_t counter = task.counter + counters_of(task.n);
  parallel(buckets.count, 4 * bucket_size, task.interruptible, [&](int64_t bucket, int) {
    int64_t start = starts[bucket], n = starts[bucket + 1] - start;
    // Rounded down: the group that the bucket before may reach into is made up for by `bucket`.
    uint64_t groups = static_cast<uint64_t>(2 * start / RANDOM_GROUP_WORDS + bucket);
    shuffle(task.key, counter + groups * RANDOM_GROUP_COUNTERS, n, task.out + start);
  });
}

}  // namespace tessella::launch
