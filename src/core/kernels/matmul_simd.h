// The vectors of the matrix product: native width, loads of a part, one multiply-add.
// Not a general SIMD layer: only what tiles and packing need, for float, double, uint32, uint64.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "../simd/shuffle.h"
#include "../simd/width.h"

namespace tessella::TS_ISA {

template <class T>
constexpr int LANES = VB / int(sizeof(T));
template <class T>
using Native = VecN<T, LANES<T>>;

template <class V, class T>
inline V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <class V, class T>
inline void store(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// The scalar in every lane. Subtracting from a zero vector would lose the sign of -0.
template <class V, class T>
inline V splat(T x) {
  return x - V{};
}

// a * b + c, rounded once where the instruction set can. NEON's types are not GCC's vectors, so an
// overload on them would lose to this template: they are named inside.
template <class V>
inline V multiply_add(V a, V b, V c) {
#if defined(__aarch64__)
  if constexpr (__is_same(V, Native<float>))
    return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
  if constexpr (__is_same(V, Native<double>))
    return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
  return a * b + c;
}
#if defined(__AVX2__)
inline __m256 multiply_add(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256d multiply_add(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#endif
#if defined(__AVX512F__)
inline __m512 multiply_add(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512d multiply_add(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#endif

// Fetches p[offset] into the cache; by its address, since it may lie outside of the operand.
template <class T>
inline __attribute__((always_inline)) void fetch_at(const T* p, int64_t offset) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p) + uintptr_t(offset) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address));
}

template <int BYTES>
struct BitsOf {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};

// Of each two blocks of SIZE lanes, the second of x and the first of y change places.
template <int SIZE, class V>
inline __attribute__((always_inline)) void swap_blocks(V& x, V& y) {
  constexpr int N = sizeof(V) / sizeof(x[0]);
  using Mask = VecN<typename BitsOf<sizeof(x[0])>::type, N>;
  Mask low, high;
  for (int l = 0; l < N; l++) {
    low[l] = l & SIZE ? N + l - SIZE : l;
    high[l] = l & SIZE ? N + l : l + SIZE;
  }
  V first = shuffle(x, y, low);
  y = shuffle(x, y, high);
  x = first;
}

// The first `count` lanes, 0 <= count <= LANES; lanes after them are zero and memory after them is
// not touched.
template <class T>
struct Part {
#if defined(__AVX512F__)
  explicit Part(int64_t count) : mask_(uint16_t((1u << count) - 1)) {}
  Native<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4)
      return (Native<T>)_mm512_maskz_loadu_ps(mask_, p);
    else
      return (Native<T>)_mm512_maskz_loadu_pd(__mmask8(mask_), p);
  }
  void store(T* p, Native<T> v) const {
    if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_ps(p, mask_, (__m512)v);
    else
      _mm512_mask_storeu_pd(p, __mmask8(mask_), (__m512d)v);
  }

 private:
  uint16_t mask_;
#elif defined(__AVX2__)
  explicit Part(int64_t count) {
    if constexpr (sizeof(T) == 4) {
      mask_ = _mm256_cmpgt_epi32(_mm256_set1_epi32(int(count)),
                                 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    } else {
      mask_ = _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
    }
  }
  Native<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4)
      return (Native<T>)_mm256_maskload_epi32((const int*)p, mask_);
    else
      return (Native<T>)_mm256_maskload_epi64((const long long*)p, mask_);
  }
  void store(T* p, Native<T> v) const {
    if constexpr (sizeof(T) == 4)
      _mm256_maskstore_epi32((int*)p, mask_, (__m256i)v);
    else
      _mm256_maskstore_epi64((long long*)p, mask_, (__m256i)v);
  }

 private:
  __m256i mask_;
#else
  explicit Part(int64_t count) : count_(count) {}
  Native<T> load(const T* p) const {
    Native<T> v{};
    for (int i = 0; i < LANES<T>; i++)
      if (i < count_) v[i] = p[i];
    return v;
  }
  void store(T* p, Native<T> v) const {
    for (int i = 0; i < LANES<T>; i++)
      if (i < count_) p[i] = v[i];
  }

 private:
  int64_t count_;
#endif
};

}  // namespace tessella::TS_ISA
