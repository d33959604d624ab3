// Sorting networks over vectors. The rows of a block are vectors; its columns are sorted by
// exchanges between rows, and joined by exchanges between lanes. A network has no branch that
// depends on the data.
#pragma once

#include "../simd/order.h"

namespace tessella::TS_ISA {

template <class T>
constexpr T most = static_cast<T>(~(uint64_t{1} << (8 * sizeof(T) - 1)));

constexpr int BLOCK_ROWS = 16;

template <int I, int J, class V>
TS_INLINE void exchange(V* v) {
  V low = least(v[I], v[J]);
  v[J] = greatest(v[I], v[J]);
  v[I] = low;
}

// Exchanges rows D apart, in groups of 2 D, of which each is bitonic.
template <int N, int D, int I = 0, class V>
TS_INLINE void half_clean(V* v) {
  if constexpr (I < N) {
    if constexpr ((I & D) == 0) exchange<I, I + D>(v);
    half_clean<N, D, I + 1>(v);
  }
}

template <int N, int D, class V>
TS_INLINE void clean(V* v) {
  if constexpr (D > 0) {
    half_clean<N, D>(v);
    clean<N, D / 2>(v);
  }
}

// Batcher's odd-even merge of the rows I, I + Step, … below I + N.
template <int I, int Last, int Step, class V>
TS_INLINE void exchange_neighbours(V* v) {
  if constexpr (I + Step < Last) {
    exchange<I, I + Step>(v);
    exchange_neighbours<I + 2 * Step, Last, Step>(v);
  }
}

template <int I, int N, int Step, class V>
TS_INLINE void merge_rows(V* v) {
  if constexpr (2 * Step < N) {
    merge_rows<I, N, 2 * Step>(v);
    merge_rows<I + Step, N, 2 * Step>(v);
    exchange_neighbours<I + Step, I + N, Step>(v);
  } else {
    exchange<I, I + Step>(v);
  }
}

// Sorts each column of N rows, a power of two.
template <int N, int I = 0, class V>
TS_INLINE void sort_rows(V* v) {
  if constexpr (N > 1) {
    sort_rows<N / 2, I>(v);
    sort_rows<N / 2, I + N / 2>(v);
    merge_rows<I, N, 1>(v);
  }
}

// --- columns joined ------------------------------------------------------------------------------

// Two sorted halves of a group of G columns face each other: row r of one with R-1-r of the other.
template <int R, int G, int I = 0, class V>
TS_INLINE void face_columns(V* v) {
  if constexpr (I < R / 2) {
    V mine = v[I], other = swap_lanes<G - 1>(v[R - 1 - I]);
    V low = least(mine, other), high = greatest(mine, other);
    v[I] = mix_lanes<G / 2>(low, high);
    v[R - 1 - I] = swap_lanes<G - 1>(mix_lanes<G / 2>(high, low));
    face_columns<R, G, I + 1>(v);
  }
}

template <int R, int D, int I = 0, class V>
TS_INLINE void clean_lanes(V* v) {
  if constexpr (I < R) {
    V other = swap_lanes<D>(v[I]);
    v[I] = mix_lanes<D>(least(v[I], other), greatest(v[I], other));
    clean_lanes<R, D, I + 1>(v);
  }
}

template <int R, int D, class V>
TS_INLINE void clean_columns(V* v) {
  if constexpr (D > 0) {
    clean_lanes<R, D>(v);
    clean_columns<R, D / 2>(v);
  }
}

// Makes sorted columns one sequence that runs down the first column, then the second, ….
template <int R, int G = 2, class V>
TS_INLINE void join_columns(V* v) {
  if constexpr (G <= lanes<V>) {
    face_columns<R, G>(v);
    clean_columns<R, G / 4>(v);
    clean<R, R / 2>(v);
    join_columns<R, 2 * G>(v);
  }
}

// One perfect shuffle of all elements; as many as R has bits turn columns into rows.
template <int R, int I = 0, class V>
TS_INLINE void shuffle_rows(const V* v, V* out) {
  if constexpr (I < R / 2) {
    out[2 * I] = v[I];
    out[2 * I + 1] = v[I + R / 2];
    interleave(out[2 * I], out[2 * I + 1]);
    shuffle_rows<R, I + 1>(v, out);
  }
}

template <int R, int Bits = R, class V>
TS_INLINE void transpose(V* v) {
  if constexpr (Bits > 1) {
    V out[R];
    shuffle_rows<R>(v, out);
    for (int i = 0; i < R; ++i) v[i] = out[i];
    transpose<R, Bits / 2>(v);
  }
}

// The first n words of a vector, followed by the greatest.
template <class V>
TS_INLINE V load_padded(const Lane<V>* x, int n) {
  V place{};
  for (int i = 0; i < lanes<V>; ++i) place[i] = i;
  const V padding = splat<V>(most<Lane<V>>);
  if (n <= 0) return padding;
  return place < splat<V>((Lane<V>)n) ? load_partial<V>(x, n) : padding;
}

// Sorts n words, at most R vectors of them.
template <int R, class T>
TS_OUTLINE void sort_block(T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  V v[R];
  for (int r = 0; r < R; ++r)
    v[r] = n >= (r + 1) * W ? load<V>(x + r * W) : load_padded<V>(x + r * W, (int)n - r * W);
  sort_rows<R>(v);
  join_columns<R>(v);
  transpose<R>(v);
  for (int r = 0; r < R; ++r) {
    if (n >= (r + 1) * W)
      store(x + r * W, v[r]);
    else if (n > r * W)
      store_partial(x + r * W, v[r], (int)n - r * W);
  }
}

template <class T>
constexpr int64_t block_words = BLOCK_ROWS * lanes<Vec<T>>;

// Sorts at most block_words words.
template <class T>
TS_INLINE void sort_few(T* x, int64_t n) {
  constexpr int W = lanes<Vec<T>>;
  if (n <= 1) return;
  if (n <= 2 * W) return sort_block<2>(x, n);
  if (n <= 4 * W) return sort_block<4>(x, n);
  if (n <= 8 * W) return sort_block<8>(x, n);
  sort_block<BLOCK_ROWS>(x, n);
}

}  // namespace tessella::TS_ISA
