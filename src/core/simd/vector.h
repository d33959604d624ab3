// Vectors of the native width and the primitive operations on them, written with GCC's vector
// extensions: arithmetic, comparison and bit operators are the compiler's own. This file adds what
// has no operator: loads and stores, selection, conversion and the type traits. Rounding, square
// root, fma and minimum are in float_ops.h, elementary functions in maths.h. Everything is generic
// over the number of lanes (a power of two, 1 included), so that tails and strided elements get the
// same bits.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "width.h"

// Functions that take vectors by value are always inlined, so no calling convention is involved.
#pragma GCC diagnostic ignored "-Wpsabi"
#define TS_INLINE static inline __attribute__((always_inline))
// For a function too large to be copied into every caller. It takes vectors by reference: a vector
// wider than the instruction set has no stable way to be passed by value.
#define TS_OUTLINE static __attribute__((noinline, unused))

namespace tessella::TS_ISA {

template <class T>
using Vec = VecN<T, VB / (int)sizeof(T)>;

template <class T>
struct Unreferenced {
  typedef T type;
};
template <class T>
struct Unreferenced<T&> {
  typedef T type;
};
template <class V>
V& any_value();  // never defined: names a value inside decltype

template <class V>
using Lane = typename Unreferenced<decltype(any_value<V>()[0])>::type;
template <class V>
constexpr int lanes = (int)(sizeof(V) / sizeof(Lane<V>));

template <class A, class B>
constexpr bool same_type = false;
template <class A>
constexpr bool same_type<A, A> = true;

template <int Bytes>
struct IntegerOf;
template <>
struct IntegerOf<1> {
  typedef int8_t signed_type;
  typedef uint8_t unsigned_type;
};
template <>
struct IntegerOf<2> {
  typedef int16_t signed_type;
  typedef uint16_t unsigned_type;
};
template <>
struct IntegerOf<4> {
  typedef int32_t signed_type;
  typedef uint32_t unsigned_type;
};
template <>
struct IntegerOf<8> {
  typedef int64_t signed_type;
  typedef uint64_t unsigned_type;
};

// The integer vectors with as many lanes of the same width. Comparisons yield MaskOf<V>: -1 or 0.
template <class V>
using MaskOf = VecN<typename IntegerOf<sizeof(Lane<V>)>::signed_type, lanes<V>>;
template <class V>
using BitsOf = VecN<typename IntegerOf<sizeof(Lane<V>)>::unsigned_type, lanes<V>>;

template <class V>
constexpr bool is_float_vec = same_type<Lane<V>, float> || same_type<Lane<V>, double>;
template <class V>
constexpr bool is_signed_vec = (Lane<V>)(-1) < (Lane<V>)1;
// V is Bytes wide with lanes of type T (for the choice of an intrinsic).
template <class V, class T, int Bytes>
constexpr bool is_vec = same_type<Lane<V>, T> && sizeof(V) == Bytes;
template <class V, int LaneBytes, int Bytes>
constexpr bool is_shape = sizeof(Lane<V>) == LaneBytes && sizeof(V) == Bytes;

template <class V>
TS_INLINE V splat(Lane<V> x) {
  return x - V{};  // x - 0 keeps -0.0, where 0 + x would not
}

template <class To, class V>
TS_INLINE To bitcast(V v) {
  static_assert(sizeof(To) == sizeof(V));
  return (To)v;
}

template <class To, class V>
TS_INLINE To convert(V v) {
  return __builtin_convertvector(v, To);
}

// Unsigned integers, or the low bits of any, in another width. By factors of two: GCC takes vectors
// apart into lanes where the factor is greater, unless AVX-512 has an instruction to narrow them.
template <class To, class V>
TS_INLINE To resize(V v) {
  constexpr int from = sizeof(Lane<V>), to = sizeof(Lane<To>);
  if constexpr (to > 2 * from)
    return resize<To>(convert<VecN<typename IntegerOf<2 * from>::unsigned_type, lanes<V>>>(v));
  else if constexpr (2 * to < from && VB < 64)
    return resize<To>(convert<VecN<typename IntegerOf<from / 2>::unsigned_type, lanes<V>>>(v));
  else
    return convert<To>(v);
}

// a where the mask is -1, b where it is 0.
template <class M, class V>
TS_INLINE V select(M mask, V a, V b) {
  return mask ? a : b;
}

template <class M>
TS_INLINE bool any(M mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(M) == 64) return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(M) == 32) return _mm256_movemask_epi8((__m256i)mask) != 0;
#endif
#if defined(__SSE4_1__)
  if constexpr (sizeof(M) == 16) return _mm_movemask_epi8((__m128i)mask) != 0;
#endif
  if constexpr (sizeof(M) >= 16) {
    auto words = (VecN<uint64_t, sizeof(M) / 8>)mask;
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(M) / 8; ++i) bits |= words[i];
    return bits != 0;
  } else {
    uint64_t bits = 0;  // not mask[i] != 0: GCC 12 folds that wrongly for masks of one lane
    memcpy(&bits, &mask, sizeof mask);
    return bits != 0;
  }
}

template <class M>
TS_INLINE bool all(M mask) {
  return !any(~mask);
}

// The first lanes<V>/2 lanes, and the others.
template <class V>
using Half = VecN<Lane<V>, lanes<V> / 2>;
template <class V>
TS_INLINE Half<V> low_half(V v) {
  Half<V> h;
  memcpy(&h, &v, sizeof h);
  return h;
}
template <class V>
TS_INLINE Half<V> high_half(V v) {
  Half<V> h;
  memcpy(&h, (const char*)&v + sizeof h, sizeof h);
  return h;
}
template <class H>
TS_INLINE VecN<Lane<H>, 2 * lanes<H>> join(H low, H high) {
  VecN<Lane<H>, 2 * lanes<H>> v;
  memcpy(&v, &low, sizeof low);
  memcpy((char*)&v + sizeof low, &high, sizeof high);
  return v;
}

template <class V>
TS_INLINE V load(const Lane<V>* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}

template <class V>
TS_INLINE void store(Lane<V>* p, V v) {
  memcpy(p, &v, sizeof v);
}

// Past the caches, whose lines are then not read first: for what is larger than they are. p is
// aligned to the vector; other threads see it after end_stream().
template <class V>
TS_INLINE void stream(Lane<V>* p, V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_stream_si512((__m512i*)p, (__m512i)v);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_stream_si256((__m256i*)p, (__m256i)v);
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 16) return _mm_stream_si128((__m128i*)p, (__m128i)v);
#endif
  store(p, v);
}
TS_INLINE void end_stream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// A window of eight words that begins 8 - n words in has n leading ones.
static constexpr int32_t kFirst32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static constexpr int64_t kFirst64[8] = {-1, -1, -1, -1};
#endif

// Reads n elements, 1 <= n < lanes<V>, and nothing beyond them. The other lanes repeat element 0,
// so that they raise no floating-point exception that the data would not.
template <class V>
TS_INLINE V load_partial(const Lane<V>* p, int n) {
  V v = splat<V>(p[0]);
#if defined(__AVX512F__)
  const uint64_t mask = ((uint64_t)1 << n) - 1;
  if constexpr (is_shape<V, 4, 64>) return (V)_mm512_mask_loadu_epi32((__m512i)v, mask, p);
  if constexpr (is_shape<V, 8, 64>) return (V)_mm512_mask_loadu_epi64((__m512i)v, mask, p);
  if constexpr (is_shape<V, 4, 32>) return (V)_mm256_mask_loadu_epi32((__m256i)v, mask, p);
  if constexpr (is_shape<V, 8, 32>) return (V)_mm256_mask_loadu_epi64((__m256i)v, mask, p);
  if constexpr (is_shape<V, 1, 64>) return (V)_mm512_mask_loadu_epi8((__m512i)v, mask, p);
  if constexpr (is_shape<V, 2, 64>) return (V)_mm512_mask_loadu_epi16((__m512i)v, mask, p);
#elif defined(__AVX2__)
  if constexpr (is_shape<V, 4, 32>) {
    const __m256i mask = _mm256_loadu_si256((const __m256i*)(kFirst32 + 8 - n));
    return (V)_mm256_blendv_epi8((__m256i)v, _mm256_maskload_epi32((const int*)p, mask), mask);
  }
  if constexpr (is_shape<V, 8, 32>) {
    const __m256i mask = _mm256_loadu_si256((const __m256i*)(kFirst64 + 4 - n));
    return (V)_mm256_blendv_epi8((__m256i)v, _mm256_maskload_epi64((const long long*)p, mask),
                                 mask);
  }
#endif
  if constexpr (is_float_vec<V>) {
    for (int i = 1; i < n; ++i) v[i] = p[i];
  } else {
    memcpy(&v, p, (size_t)n * sizeof(Lane<V>));
  }
  return v;
}

// Writes the first n elements, 1 <= n < lanes<V>, and nothing beyond them.
template <class V>
TS_INLINE void store_partial(Lane<V>* p, V v, int n) {
#if defined(__AVX512F__)
  const uint64_t mask = ((uint64_t)1 << n) - 1;
  if constexpr (is_shape<V, 4, 64>) return _mm512_mask_storeu_epi32(p, mask, (__m512i)v);
  if constexpr (is_shape<V, 8, 64>) return _mm512_mask_storeu_epi64(p, mask, (__m512i)v);
  if constexpr (is_shape<V, 4, 32>) return _mm256_mask_storeu_epi32(p, mask, (__m256i)v);
  if constexpr (is_shape<V, 8, 32>) return _mm256_mask_storeu_epi64(p, mask, (__m256i)v);
  if constexpr (is_shape<V, 1, 64>) return _mm512_mask_storeu_epi8(p, mask, (__m512i)v);
  if constexpr (is_shape<V, 2, 64>) return _mm512_mask_storeu_epi16(p, mask, (__m512i)v);
#elif defined(__AVX2__)
  if constexpr (is_shape<V, 4, 32>) {
    const __m256i mask = _mm256_loadu_si256((const __m256i*)(kFirst32 + 8 - n));
    return _mm256_maskstore_epi32((int*)p, mask, (__m256i)v);
  }
  if constexpr (is_shape<V, 8, 32>) {
    const __m256i mask = _mm256_loadu_si256((const __m256i*)(kFirst64 + 4 - n));
    return _mm256_maskstore_epi64((long long*)p, mask, (__m256i)v);
  }
#endif
  memcpy(p, &v, (size_t)n * sizeof(Lane<V>));
}

}  // namespace tessella::TS_ISA

#include "float_ops.h"
