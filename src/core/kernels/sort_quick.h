// Quicksort of words, parted in place a few vectors at a time. It ends in sorting networks, and in
// a heap sort where pivots keep being bad, so that nothing is quadratic.
#pragma once

#include "sort_network.h"

namespace tessella::TS_ISA {

constexpr int PART_VECTORS = 4;  // read at once

// Puts the word at `left` or the one before `right` in its place, and leaves the rest between them.
template <class T>
TS_INLINE void part_one(T pivot, T*& left, T*& right) {
  T word = *left, other = right[-1];
  bool is_below = word < pivot;
  *left = is_below ? word : other;
  right[-1] = is_below ? other : word;
  left += is_below;
  right -= !is_below;
}

// Moves the words below the pivot to the front, and says how many they are. Vectors are read in
// groups, from the side that has less room for what is written. One group from each side is read
// ahead, and what is less than a group at the end: so there is always room for a group at both.
template <class T>
int64_t part(int64_t n, T* x, T pivot) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  constexpr int64_t group = PART_VECTORS * W;
  const V limit = splat<V>(pivot);
  alignas(64) T ahead[3 * group];
  T *left = x, *right = x + n, *end = ahead;
  auto read_ahead = [&](const T* from, int64_t count) {
    memcpy(end, from, (size_t)count * sizeof(T));
    end += count;
  };
  for (int64_t rest = n % W; rest > 0; --rest) part_one(pivot, left, right);
  T *next_left = left, *next_right = right;
  if (right - left >= 2 * group) {
    read_ahead(left, group);
    read_ahead(right - group, group);
    next_left += group;
    next_right -= group;
    while (next_right - next_left >= group) {
      const bool is_left = next_left - left <= right - next_right;
      const T* from = is_left ? next_left : next_right - group;
      next_left += is_left ? group : 0;
      next_right -= is_left ? 0 : group;
      V v[PART_VECTORS];
      for (int i = 0; i < PART_VECTORS; ++i) v[i] = load<V>(from + i * W);
      for (int i = 0; i < PART_VECTORS; ++i) part_lanes(v[i], limit, left, right);
    }
  }
  read_ahead(next_left, next_right - next_left);
  for (const T* from = ahead; from < end; from += W) part_lanes(load<V>(from), limit, left, right);
  return left - x;
}

template <class T>
TS_OUTLINE void sift_down(T* x, int64_t at, int64_t n) {
  for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
    child += child + 1 < n && x[child] < x[child + 1];
    if (x[at] >= x[child]) return;
    T moved = x[at];
    x[at] = x[child];
    x[child] = moved;
  }
}

template <class T>
TS_OUTLINE void heap_sort(T* x, int64_t n) {
  for (int64_t i = n / 2; i-- > 0;) sift_down(x, i, n);
  for (int64_t last = n - 1; last > 0; --last) {
    T moved = x[0];
    x[0] = x[last];
    x[last] = moved;
    sift_down(x, 0, last);
  }
}

// The median of words spread over all of them, at places that no common pattern repeats at.
template <class T>
TS_INLINE T choose_pivot(const T* x, int64_t n) {
  constexpr int64_t most_samples = block_words<T> < 64 ? block_words<T> : 64;
  const int64_t samples = n < 4096 ? 16 : most_samples;
  alignas(64) T taken[most_samples];
  uint64_t state = (uint64_t)n;
  const int64_t stride = n / samples;
  for (int64_t i = 0; i < samples; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    taken[i] = x[i * stride + (int64_t)((state >> 32) * (uint64_t)(stride & 0xffffffff) >> 32)];
  }
  sort_few(taken, samples);
  return taken[samples / 2];
}

// Sorts n words; from place `wanted` on, their order may be any.
template <class T>
void quick_sort(int64_t n, T* x, int64_t wanted, int depth) {
  while (n > block_words<T>) {
    if (depth-- == 0) return heap_sort(x, n);
    const T pivot = choose_pivot(x, n);
    int64_t below = part(n, x, pivot);
    if (below == 0) {  // the pivot is the least: its equals are in their places when parted off
      below = pivot == most<T> ? n : part(n, x, (T)(pivot + 1));
      if (wanted <= below) return;
      x += below, n -= below, wanted -= below;
    } else if (wanted <= below) {
      n = below;
    } else if (below < n - below) {
      quick_sort(below, x, below, depth);
      x += below, n -= below, wanted -= below;
    } else {
      quick_sort(n - below, x + below, wanted - below, depth);
      n = below, wanted = below;
    }
  }
  sort_few(x, n);
}

template <class T>
void sort_words(int64_t n, T* x, int64_t wanted) {
  int depth = 2 * (64 - __builtin_clzll((unsigned long long)n | 1));
  quick_sort(n, x, wanted, depth);
}

}  // namespace tessella::TS_ISA
