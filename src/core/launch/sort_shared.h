// One long line, shared by all threads. Chunks of it are parted by the same splitters, the parts
// are brought together in buckets, and each bucket is sorted by itself.
#pragma once

#include "../threads.h"
#include "sort_coding.h"

namespace tessella::launch {

constexpr int64_t sort_chunk = 65536;  // words
constexpr int64_t sort_bucket = 32768;
constexpr int64_t sort_most_buckets = 1024;
constexpr int64_t sort_samples = 16;  // for each bucket

template <class W>
class SharedSorter {
 public:
  SharedSorter(const SortTask& task, const SortLines& lines, char* memory)
      : task_(task),
        lines_(lines),
        coding_(task, lines.n),
        words_(reinterpret_cast<W*>(memory)),
        other_(words_ + lines.n),
        splitters_(other_ + lines.n),
        found_(reinterpret_cast<KeysFound*>(memory + found_offset(lines.n))),
        table_(reinterpret_cast<int64_t*>(memory + table_offset(lines.n))) {}

  static int64_t scratch_bytes(int64_t n) {
    return table_offset(n) + chunk_count(n) * (bucket_count(n) + 1) * 8;
  }

  // The line whose first elements are at these offsets of x, values and indices.
  void operator()(const int64_t* offsets) {
    x_ = task_.x + offsets[0] * coding_.item;
    values_ = task_.values ? task_.values + offsets[1] * coding_.item : nullptr;
    indices_ = task_.indices ? task_.indices + offsets[2] : nullptr;
    int64_t n = lines_.n, wanted = lines_.wanted;
    if (!coding_.is_indexed || coding_.holds_all()) {
      Packing packing = coding_.hold({}).packing;
      auto prepare = [&](int64_t begin, int64_t end) {
        encode(begin, end), pack(begin, end, packing);
      };
      sort(0, n, wanted, prepare, [&](int64_t i) {
        W word;
        coding_.encode(1, 1, &word, 1, x_ + i * lines_.step[0] * coding_.item, 1);
        return coding_.is_indexed ? packed_word(word, packing, static_cast<uint64_t>(i)) : word;
      });
    } else {
      for_chunks(n, 1, [&](int64_t, int64_t begin, int64_t end) { encode(begin, end); });
      Held held = coding_.hold(found());
      auto prepare = [&](int64_t begin, int64_t end) { pack(begin, end, held.packing); };
      sort(0, n, wanted, prepare, [&](int64_t i) {
        return packed_word(words_[i], held.packing, static_cast<uint64_t>(i));
      });
      std::swap(words_, other_);
      if (!held.is_whole()) settle(0, coding_.include_tied(n, words_, wanted), held);
      std::swap(words_, other_);
    }
    for_chunks(wanted, 1, [&](int64_t, int64_t begin, int64_t end) { store(begin, end); });
    if (values_ && !coding_.is_indexed && found().has_negative_zero) restore_zeros();
  }

 private:
  using Held = typename Coding<W>::Held;

  static int64_t chunk_count(int64_t n) { return (n + sort_chunk - 1) / sort_chunk; }
  static int64_t bucket_count(int64_t n) {
    auto whole = static_cast<uint64_t>(n / sort_bucket);
    return std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(whole)), 2, sort_most_buckets);
  }
  static int64_t found_offset(int64_t n) {
    int64_t words = 2 * n + bucket_count(n) * sort_samples;
    return (words * static_cast<int64_t>(sizeof(W)) + 63) / 64 * 64;
  }
  static int64_t table_offset(int64_t n) {
    return found_offset(n) + chunk_count(n) * static_cast<int64_t>(sizeof(KeysFound));
  }

  // body(chunk, begin, end) for each chunk of `n` elements
  template <class F>
  void for_chunks(int64_t n, int64_t ns_each, F&& body) {
    auto call = [&](int64_t chunk, int) {
      body(chunk, chunk * sort_chunk, std::min((chunk + 1) * sort_chunk, n));
    };
    parallel(chunk_count(n), ns_each * sort_chunk, task_.interruptible, call);
  }

  void encode(int64_t begin, int64_t end) {
    const char* x = x_ + begin * lines_.step[0] * coding_.item;
    found_[begin / sort_chunk] =
        coding_.encode_line(end - begin, words_ + begin, x, lines_.step[0]);
  }

  void pack(int64_t begin, int64_t end, const Packing& packing) {
    if (!coding_.is_indexed) return;
    coding_.kernel.pack(1, end - begin, words_ + begin, end - begin, packing, Number::column,
                        begin);
  }

  KeysFound found() const {
    KeysFound all;
    for (int64_t i = 0; i < chunk_count(lines_.n); ++i) all = coding_.join(all, found_[i]);
    return all;
  }

  // Sorts words_[start … start + n) into other_; from place `wanted` of these on, the order may be
  // any. `prepare` makes the words of a chunk, `sample` one of them before that.
  template <class Prepare, class Sample>
  void sort(int64_t start, int64_t n, int64_t wanted, Prepare&& prepare, Sample&& sample) {
    int64_t buckets = choose_splitters(n, wanted, sample);
    for_chunks(n, 2, [&](int64_t chunk, int64_t begin, int64_t end) {
      prepare(begin, end);
      part(words_ + start + begin, 0, end - begin, 0, buckets, table_ + chunk * (buckets + 1));
    });
    sum_up(n, buckets);
    for_chunks(n, 1, [&](int64_t chunk, int64_t begin, int64_t) {
      const W* from = words_ + start + begin;
      const int64_t* row = table_ + chunk * (buckets + 1);
      // A part's size is the distance to where the next chunk's part of the bucket begins.
      for (int64_t b = 0; b < buckets; ++b) {
        int64_t size = part_end(chunk, b, n, buckets) - row[b];
        memcpy(other_ + start + row[b], from, static_cast<size_t>(size) * sizeof(W));
        from += size;
      }
    });
    auto sort_bucket = [&](int64_t b, int) {
      int64_t begin = table_[b], end = b + 1 < buckets ? table_[b + 1] : n;
      if (begin >= wanted || is_uniform(b, buckets)) return;
      coding_.kernel.sort(end - begin, other_ + start + begin, std::min(end, wanted) - begin);
    };
    parallel(buckets, n / buckets * 5, task_.interruptible, sort_bucket);
  }

  // Words between two splitters that differ by one are all the same.
  bool is_uniform(int64_t bucket, int64_t buckets) const {
    return bucket > 0 && bucket + 1 < buckets && splitters_[bucket] == splitters_[bucket - 1] + 1;
  }

  // Splitters are strictly ascending: a value that would be several splitters gets a bucket of its
  // own. Those far above what is wanted are left out.
  template <class Sample>
  int64_t choose_splitters(int64_t n, int64_t wanted, Sample&& sample) {
    int64_t buckets = bucket_count(n), samples = buckets * sort_samples;
    uint64_t state = static_cast<uint64_t>(n);
    for (int64_t i = 0; i < samples; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      splitters_[i] = sample(static_cast<int64_t>((state >> 1) % static_cast<uint64_t>(n)));
    }
    coding_.kernel.sort(samples, splitters_, samples);
    int64_t last = wanted * buckets / n + 2;
    buckets = std::min(buckets, last + 1);
    for (int64_t b = 1; b < buckets; ++b) {
      splitters_[b - 1] = splitters_[b * sort_samples];
      if (b == 1 || splitters_[b - 1] > splitters_[b - 2]) continue;
      if (splitters_[b - 2] == std::numeric_limits<W>::max()) return b;
      splitters_[b - 1] = splitters_[b - 2] + 1;
    }
    return buckets;
  }

  // Parts a chunk into the buckets first … last-1, and notes where each begins.
  void part(W* words, int64_t begin, int64_t end, int64_t first, int64_t last, int64_t* starts) {
    if (last - first == 1) {
      starts[first] = begin;
      starts[last] = end;
      return;
    }
    int64_t middle = (first + last) / 2;
    int64_t below = coding_.kernel.part(end - begin, words + begin, splitters_[middle - 1]);
    part(words, begin, begin + below, first, middle, starts);
    part(words, begin + below, end, middle, last, starts);
  }

  // Turns the starts inside chunks into places in the line: buckets in order, and within each the
  // chunks in order.
  void sum_up(int64_t n, int64_t buckets) {
    int64_t total = 0;
    for (int64_t b = 0; b < buckets; ++b) {
      for (int64_t chunk = 0; chunk < chunk_count(n); ++chunk) {
        int64_t* row = table_ + chunk * (buckets + 1);
        int64_t size = row[b + 1] - row[b];
        row[b] = total;
        total += size;
      }
    }
  }
  int64_t part_end(int64_t chunk, int64_t bucket, int64_t n, int64_t buckets) const {
    if (chunk + 1 < chunk_count(n)) return table_[(chunk + 1) * (buckets + 1) + bucket];
    return bucket + 1 < buckets ? table_[bucket + 1] : n;
  }

  // Coding::settle, shared. Words that agree are a run; a run longer than a chunk holds the border
  // of two chunks. Such runs are settled one after another, and get back what they held, so that
  // they are known; then every worker settles the short runs that begin in its chunks.
  void settle(int64_t start, int64_t n, const Held& held) {
    W* words = words_ + start;
    auto is_tied = [&](int64_t i, int64_t j) { return coding_.is_tied(words[i], words[j]); };
    for (int64_t border = sort_chunk; border < n; border += sort_chunk) {
      if (!is_tied(border - 1, border)) continue;
      auto is_below = [&](W word, W key) { return word < key && !coding_.is_tied(word, key); };
      auto is_above = [&](W key, W word) { return key < word && !coding_.is_tied(word, key); };
      int64_t begin = std::lower_bound(words, words + border, words[border], is_below) - words;
      int64_t end = std::upper_bound(words + border, words + n, words[border], is_above) - words;
      if (end - begin > sort_chunk) settle_long(start + begin, end - begin, held);
      border += (end - border) / sort_chunk * sort_chunk;
    }
    for_chunks(n, 1, [&](int64_t chunk, int64_t begin, int64_t end) {
      while (begin > 0 && begin < end && is_tied(begin - 1, begin)) ++begin;
      table_[chunk] = begin;  // where the first run begins
    });
    for_chunks(n, 1, [&](int64_t chunk, int64_t, int64_t) {
      int64_t next = chunk + 1 < chunk_count(n) ? table_[chunk + 1] : n;
      for (int64_t begin = table_[chunk], end; begin < next; begin = end) {
        end = begin + 1;
        while (end < n && is_tied(begin, end)) ++end;
        if (end - begin > 1 && end - begin <= sort_chunk)
          coding_.settle_tied(words + begin, end - begin, held, x_, lines_.step[0]);
      }
    });
  }

  void settle_long(int64_t start, int64_t n, const Held& held) {
    Held next = coding_.below(held);
    W tag = words_[start];
    bool differs = false;
    for_chunks(n, 8, [&](int64_t chunk, int64_t begin, int64_t end) {
      table_[chunk] =
          coding_.repack(words_ + start + begin, end - begin, next.packing, x_, lines_.step[0]);
    });
    for (int64_t i = 0; i < chunk_count(n); ++i)
      differs |= table_[i] != 0 || !coding_.is_tied(words_[start], words_[start + i * sort_chunk]);
    if (differs) {
      sort(start, n, n, [](int64_t, int64_t) {}, [&](int64_t i) { return words_[start + i]; });
      for_chunks(n, 1, [&](int64_t, int64_t begin, int64_t end) {
        std::copy(other_ + start + begin, other_ + start + end, words_ + start + begin);
      });
    }
    if (!next.is_whole()) settle(start, n, next);
    for_chunks(n, 1, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t i = start + begin; i < start + end; ++i)
        words_[i] = coding_.with_index(tag, coding_.index(words_[i]));
    });
  }

  void store(int64_t begin, int64_t end) {
    const int64_t* step = lines_.step;
    coding_.store_line(end - begin, other_ + begin, x_, step[0],
                       values_ ? values_ + begin * step[1] * coding_.item : nullptr, step[1],
                       indices_ ? indices_ + begin * step[2] : nullptr, step[2]);
  }

  void restore_zeros() {
    int64_t place = coding_.first_zero(lines_.wanted, other_, 1);
    auto put = [&](int64_t chunk, int) {
      int64_t begin = chunk * sort_chunk, count = std::min(sort_chunk, lines_.n - begin);
      coding_.put_zeros(count, x_ + begin * lines_.step[0] * coding_.item, lines_.step[0],
                        lines_.wanted, &place, values_, lines_.step[1]);
    };
    parallel(chunk_count(lines_.n), sort_chunk, task_.interruptible, put, 1);  // in order
  }

  const SortTask& task_;
  const SortLines& lines_;
  const Coding<W> coding_;
  W* words_;
  W* other_;
  W* splitters_;  // and the samples that they are chosen from
  KeysFound* found_;
  int64_t* table_;  // where each part of each chunk begins
  const char* x_ = nullptr;
  char* values_ = nullptr;
  int64_t* indices_ = nullptr;
};

}  // namespace tessella::launch
