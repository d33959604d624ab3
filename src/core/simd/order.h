// Primitives of sorting: lanes exchanged, interleaved and parted by a pivot. Lanes are signed
// integers of 32 or 64 bits.
#pragma once
#include "shuffle.h"
#include "vector.h"

namespace tessella::TS_ISA {

template <class V>
TS_INLINE V least(V a, V b) {
  return a < b ? a : b;
}
template <class V>
TS_INLINE V greatest(V a, V b) {
  return a < b ? b : a;
}

// Lane i has what was in lane i ^ X.
template <int X, class V>
TS_INLINE V swap_lanes(V v) {
  V from{};
  for (int i = 0; i < lanes<V>; ++i) from[i] = i ^ X;
  return shuffle(v, from);
}

// The lanes of `low`, but those of `high` where bit B of the lane's number is set.
template <int B, class V>
TS_INLINE V mix_lanes(V low, V high) {
  V from{};
  for (int i = 0; i < lanes<V>; ++i) from[i] = i & B ? i + lanes<V> : i;
  return shuffle(low, high, from);
}

// a0 b0 a1 b1 …: the first half of it in a, the other in b.
template <class V>
TS_INLINE void interleave(V& a, V& b) {
  V first{}, second{};
  for (int i = 0; i < lanes<V>; ++i) {
    first[i] = i / 2 + i % 2 * lanes<V>;
    second[i] = first[i] + lanes<V> / 2;
  }
  V low = shuffle(a, b, first);
  b = shuffle(a, b, second);
  a = low;
}

#if !defined(__AVX512F__)

// For each set of lanes: these lanes in order, then the others, as a shuffle of units of U bytes.
template <int Lanes, int LaneBytes, int U>
struct PartingTable {
  using Unit = typename IntegerOf<U>::signed_type;
  static constexpr int units = LaneBytes / U;
  alignas(64) Unit from[1 << Lanes][Lanes * units]{};

  constexpr PartingTable() {
    for (int set = 0; set < 1 << Lanes; ++set) {
      int to = 0;
      for (int wanted = 1; wanted >= 0; --wanted)
        for (int lane = 0; lane < Lanes; ++lane)
          if ((set >> lane & 1) == wanted) {
            for (int u = 0; u < units; ++u) from[set][to * units + u] = Unit(lane * units + u);
            ++to;
          }
    }
  }
};
// AVX2 moves words of 32 bits between any lanes; narrower vectors are shuffled by bytes.
template <class V>
constexpr PartingTable<lanes<V>, sizeof(Lane<V>), sizeof(V) == 32 ? 4 : 1> parting_table;

template <class M>
TS_INLINE unsigned set_of(M mask) {
#if defined(__AVX2__)
  if constexpr (is_shape<M, 4, 32>) return (unsigned)_mm256_movemask_ps((__m256)mask);
  if constexpr (is_shape<M, 8, 32>) return (unsigned)_mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__)
  if constexpr (is_shape<M, 4, 16>) return (unsigned)_mm_movemask_ps((__m128)mask);
  if constexpr (is_shape<M, 8, 16>) return (unsigned)_mm_movemask_pd((__m128d)mask);
#endif
  unsigned set = 0;
  for (int i = 0; i < lanes<M>; ++i) set |= (unsigned)(mask[i] & 1) << i;
  return set;
}

template <class V>
TS_INLINE V shuffle_parted(V v, unsigned set) {
  const auto* from = parting_table<V>.from[set];
#if defined(__AVX2__)
  return (V)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_load_si256((const __m256i*)from));
#else
  using Bytes = VecN<int8_t, sizeof(V)>;
  return (V)shuffle((Bytes)v, load<Bytes>(from));
#endif
}

#endif

// Puts the lanes below the pivot at `left`, the others before `right`, and moves both. There is
// room for a whole vector at either, which may be the same place.
template <class V>
TS_INLINE void part_lanes(V v, V pivot, Lane<V>*& left, Lane<V>*& right) {
  constexpr int W = lanes<V>;
#if defined(__AVX512F__)
  constexpr unsigned all = (1u << W) - 1;
  unsigned below;
  V low, high;
  if constexpr (sizeof(Lane<V>) == 4) {
    below = _mm512_cmplt_epi32_mask((__m512i)v, (__m512i)pivot);
    low = (V)_mm512_maskz_compress_epi32((__mmask16)below, (__m512i)v);
    high = (V)_mm512_maskz_compress_epi32((__mmask16)~below, (__m512i)v);
  } else {
    below = _mm512_cmplt_epi64_mask((__m512i)v, (__m512i)pivot);
    low = (V)_mm512_maskz_compress_epi64((__mmask8)below, (__m512i)v);
    high = (V)_mm512_maskz_compress_epi64((__mmask8)~below, (__m512i)v);
  }
  const int count = __builtin_popcount(below);
  store(left, low);
  left += count;
  right -= W - count;
  if constexpr (sizeof(Lane<V>) == 4)
    _mm512_mask_storeu_epi32(right, (__mmask16)(all >> count), (__m512i)high);
  else
    _mm512_mask_storeu_epi64(right, (__mmask8)(all >> count), (__m512i)high);
#else
  const unsigned below = set_of(v < pivot);
  const int count = __builtin_popcount(below);
  const V parted = shuffle_parted(v, below);
  store(left, parted);
  store(right - W, parted);
  left += count;
  right -= W - count;
#endif
}

}  // namespace tessella::TS_ISA
