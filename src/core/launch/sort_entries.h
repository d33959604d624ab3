// Sorts entries by their unsigned keys, stably: merging when they are few, else by a radix sort
// from the lowest digit up, whose passes are shared with the pool. Where the keys are much wider
// than their number needs, only the upper digits are sorted; entries that agree in these lie side
// by side in short runs then, and each run is merged. Long runs cost a full radix sort: nothing is
// quadratic.
#pragma once

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "../kernels/rank.h"
#include "../threads.h"

namespace tessella::launch {

template <class Key>
struct KeyOnly {
  using K = Key;
  K key;
};

template <class Key, class Index>
struct KeyAndIndex {
  using K = Key;
  K key;
  Index index;
};

constexpr int64_t sort_few = 200;       // below this, merging is faster than counting digits
constexpr int64_t sort_longest = 4096;  // a run that is merged
constexpr int64_t sort_buffered_bytes = 8 << 20;  // from here on, writes of a pass are buffered
constexpr int sort_digits = 256;

// How a row is cut for the pool. The table has a row of counts for each chunk.
struct SortChunks {
  int64_t count, size;
  int64_t* table;
  bool interruptible;

  static int64_t table_bytes(int64_t chunks) {
    return chunks * sort_digits * static_cast<int64_t>(sizeof(int64_t));
  }
  int64_t* row(int64_t chunk) const { return table + chunk * sort_digits; }
};

// As many keys as are ranked at once: a lane of 64 bits takes twice the time.
template <class E>
constexpr int64_t ranked = sizeof(typename E::K) == 8 ? MAX_RANKED / 2 : MAX_RANKED;

// At most `ranked` entries, from where they are to `out`, which may be the same place.
template <class E>
void rank_sort(const E* entries, E* out, int64_t n) {
  using Wide = std::conditional_t<sizeof(typename E::K) == 8, uint64_t, uint32_t>;
  alignas(64) Wide keys[MAX_RANKED] = {}, ranks[MAX_RANKED];
  E moving[MAX_RANKED];
  std::copy(entries, entries + n, moving);
  for (int64_t i = 0; i < n; ++i) keys[i] = moving[i].key;
  if constexpr (sizeof(Wide) == 8) {
    TS_CHOSEN(rank_kernels).rank64(n, ranks, keys);
  } else {
    TS_CHOSEN(rank_kernels).rank32(n, ranks, keys);
  }
  for (int64_t i = 0; i < n; ++i) out[ranks[i]] = moving[i];
}

// Two sorted neighbours into out, without a branch that depends on the keys.
template <class E>
void merge(const E* left, int64_t n_left, const E* right, int64_t n_right, E* out) {
  const E* left_end = left + n_left;
  const E* right_end = right + n_right;
  while (left < left_end && right < right_end) {
    bool is_right = right->key < left->key;
    *out++ = is_right ? *right : *left;
    right += is_right;
    left += !is_right;
  }
  out = std::copy(left, left_end, out);
  std::copy(right, right_end, out);
}

// Leaves the result in `entries`; `other` has room for as many.
template <class E>
void merge_sort(E* entries, E* other, int64_t n) {
  int levels = 0;
  while (ranked<E> << levels < n) ++levels;
  E* from = levels % 2 == 0 ? entries : other;
  E* to = levels % 2 == 0 ? other : entries;
  for (int64_t at = 0; at < n; at += ranked<E>)
    rank_sort(entries + at, from + at, std::min(ranked<E>, n - at));
  for (int64_t width = ranked<E>; width < n; width *= 2, std::swap(from, to)) {
    for (int64_t at = 0; at < n; at += 2 * width) {
      int64_t left = std::min(width, n - at), right = std::min(width, n - at - left);
      merge(from + at, left, from + at + left, right, to + at);
    }
  }
}

// Writes entries to the places of their digits by way of one line of memory for each digit: 256
// places in a large array would miss the caches and the TLB at nearly every write.
template <class E>
class DigitBuffers {
 public:
  DigitBuffers(E* out, const int64_t* positions) : out_(out) {
    std::copy(positions, positions + sort_digits, start_);
    std::copy(positions, positions + sort_digits, end_);
  }

  void put(int digit, const E& entry) {
    int64_t at = end_[digit]++;
    int64_t slot = at % line;
    lines_[digit][slot] = entry;
    if (slot == line - 1) write(digit, at + 1 - line, line);
  }

  void flush() {
    for (int digit = 0; digit < sort_digits; ++digit)
      write(digit, end_[digit] / line * line, end_[digit] % line);
#if defined(__x86_64__)
    _mm_sfence();  // what went past the caches is ordered before the end of the chunk
#endif
  }

 private:
  static constexpr int64_t line = sizeof(E) > 8 ? 8 : 64 / static_cast<int64_t>(sizeof(E));

  // Past the caches where the processor can: the line is complete and is not needed soon.
  static void write_line(char* to, const char* from) {
#if defined(__x86_64__)
    if (reinterpret_cast<uintptr_t>(to) % 16 == 0) {
      for (size_t i = 0; i < line * sizeof(E); i += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
      return;
    }
#endif
    memcpy(to, from, line * sizeof(E));
  }

  // The first `count` slots belong at out[begin]; those before the digit's start were never put.
  void write(int digit, int64_t begin, int64_t count) {
    int64_t skip = start_[digit] - begin;
    if (skip <= 0 && count == line) {
      write_line(reinterpret_cast<char*>(out_ + begin),
                 reinterpret_cast<const char*>(lines_[digit]));
    } else {
      for (int64_t slot = std::max<int64_t>(skip, 0); slot < count; ++slot)
        out_[begin + slot] = lines_[digit][slot];
    }
  }

  E* out_;
  int64_t start_[sort_digits];
  int64_t end_[sort_digits];
  alignas(64) E lines_[sort_digits][line];
};

template <class E>
class EntrySorter {
 public:
  using K = typename E::K;

  EntrySorter(E* entries, E* other, int64_t n, const SortChunks& chunks)
      : from_(entries), to_(other), n_(n), chunks_(chunks) {}

  // `varying` has a bit set where any two keys differ. Returns which of the buffers is sorted.
  E* sort(K varying) {
    if (n_ < sort_few) {
      merge_sort(from_, to_, n_);
    } else if (varying != 0) {
      int low = std::countr_zero(varying), high = std::bit_width(varying);
      int enough = (std::bit_width(static_cast<uint64_t>(n_)) + 15) / 8 * 8;
      int split = std::max(low, high - enough);
      radix(split, high);
      if (split > low && !merge_runs(split)) radix(low, high);
    }
    return from_;
  }

 private:
  template <class F>
  void for_each_chunk(int64_t ns_each_entry, F&& body) {
    auto call = [&](int64_t chunk, int) {
      int64_t begin = chunk * chunks_.size;
      body(chunk, begin, std::min(begin + chunks_.size, n_));
    };
    parallel(chunks_.count, ns_each_entry * chunks_.size, chunks_.interruptible, call);
  }

  void radix(int low, int high) {
    for (int shift = low; shift < high; shift += 8) pass(shift);
  }

  static int digit(const E& entry, int shift) { return static_cast<uint8_t>(entry.key >> shift); }

  void pass(int shift) {
    for_each_chunk(1, [&](int64_t chunk, int64_t begin, int64_t end) {
      int64_t* counts = chunks_.row(chunk);
      std::fill_n(counts, sort_digits, 0);
      for (int64_t i = begin; i < end; ++i) ++counts[digit(from_[i], shift)];
    });
    if (!sum_up()) return;
    for_each_chunk(2, [&](int64_t chunk, int64_t begin, int64_t end) {
      int64_t* position = chunks_.row(chunk);
      if (n_ * static_cast<int64_t>(sizeof(E)) < sort_buffered_bytes) {
        for (int64_t i = begin; i < end; ++i) to_[position[digit(from_[i], shift)]++] = from_[i];
      } else {
        DigitBuffers<E> buffers(to_, position);
        for (int64_t i = begin; i < end; ++i) buffers.put(digit(from_[i], shift), from_[i]);
        buffers.flush();
      }
    });
    std::swap(from_, to_);
  }

  // Turns counts into positions: digits in order, and within one digit chunks in order. False if
  // all entries have the same digit.
  bool sum_up() {
    int64_t total = 0;
    bool is_useful = true;
    for (int digit = 0; digit < sort_digits; ++digit) {
      int64_t before = total;
      for (int64_t chunk = 0; chunk < chunks_.count; ++chunk)
        total += std::exchange(chunks_.row(chunk)[digit], total);
      is_useful &= total - before != n_;
    }
    return is_useful;
  }

  // Merges runs of entries that agree above `split`. False, and nothing done, if one is too long.
  // A run belongs to the chunk in which it begins.
  bool merge_runs(int split) {
    for_each_chunk(1, [&](int64_t chunk, int64_t begin, int64_t end) {
      find_runs(split, begin, end, chunks_.row(chunk));
    });
    int64_t longest = 0;
    for (int64_t chunk = 0; chunk < chunks_.count; ++chunk)
      longest = std::max(longest, chunks_.row(chunk)[1]);
    if (longest > sort_longest) return false;
    for_each_chunk(2, [&](int64_t chunk, int64_t, int64_t) {
      int64_t first = chunks_.row(chunk)[0];
      int64_t last = chunk + 1 < chunks_.count ? chunks_.row(chunk + 1)[0] : n_;
      merge_runs_between(split, first, last);
    });
    return true;
  }

  // found[0]: where the first run begins, `end` if none does; found[1]: the longest run's part.
  void find_runs(int split, int64_t begin, int64_t end, int64_t* found) const {
    int64_t longest = 0, start = begin;
    found[0] = begin == 0 || !is_one_run(split, begin) ? begin : end;
    for (int64_t i = begin + 1; i < end; ++i) {
      if (is_one_run(split, i)) continue;
      if (found[0] == end) found[0] = i;
      longest = std::max(longest, i - start);
      start = i;
    }
    found[1] = std::max(longest, end - start);
  }

  bool is_one_run(int split, int64_t i) const {
    return (from_[i - 1].key ^ from_[i].key) >> split == 0;
  }

  void merge_runs_between(int split, int64_t first, int64_t last) {
    int64_t start = first;
    for (int64_t i = first + 1; i <= last; ++i) {
      if (i < last && is_one_run(split, i)) continue;
      if (i - start > 1) merge_sort(from_ + start, to_ + start, i - start);
      start = i;
    }
  }

  E* from_;
  E* to_;
  int64_t n_;
  const SortChunks& chunks_;
};

}  // namespace tessella::launch
