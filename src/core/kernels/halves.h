// float16 and bfloat16 to float32 and back, one element and whole runs.
// To halves from wider types than float32, go through float32 rounded to odd (float_to_odd): the
// lost bits stay visible in the last one, so that the second rounding is the only one.
#pragma once

#include "../simd/vector.h"
#include "elements.h"

namespace tessella::TS_ISA {

template <class To, class From>
TS_INLINE To bits_as(From x) {
  To out;
  memcpy(&out, &x, sizeof out);
  return out;
}

TS_INLINE float widen(Bfloat16 x) { return bits_as<float>(static_cast<uint32_t>(x) << 16); }

TS_INLINE Bfloat16 narrow_bfloat16(float x) {
  uint32_t bits = bits_as<uint32_t>(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t quiet_nan = (bits >> 16) | 0x40;
  return static_cast<Bfloat16>(x != x ? quiet_nan : rounded);
}

TS_INLINE float widen(Float16 x) {
  uint32_t half = static_cast<uint32_t>(x);
  uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
  // 2^112 moves the exponent from bias 15 to 127 and makes subnormals normal.
  float scaled = bits_as<float>(magnitude << 13) * 0x1p112f;
  uint32_t bits = bits_as<uint32_t>(scaled);
  if (magnitude >= 0x7c00) bits |= 0x7f800000;  // infinity and NaN
  return bits_as<float>(bits | sign);
}

TS_INLINE Float16 narrow_float16(float x) {
  uint32_t bits = bits_as<uint32_t>(x);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t half;
  if (magnitude > 0x7f800000) {
    half = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  } else if (magnitude >= 0x477ff000) {  // 65520 and more round to infinity
    half = 0x7c00;
  } else if (magnitude < 0x38800000) {  // below 2^-14: adding 1/2 aligns the last bit to 2^-24
    half = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000;
  } else {
    uint32_t rebased = magnitude - (112u << 23);
    half = (rebased + 0xfff + ((rebased >> 13) & 1)) >> 13;
  }
  return static_cast<Float16>(half | sign);
}

TS_INLINE void widen_run(int64_t n, float* out, const Bfloat16* x) {
  for (int64_t i = 0; i < n; ++i) out[i] = widen(x[i]);
}
TS_INLINE void narrow_run(int64_t n, Bfloat16* out, const float* x) {
  for (int64_t i = 0; i < n; ++i) out[i] = narrow_bfloat16(x[i]);
}

TS_INLINE void widen_run(int64_t n, float* out, const Float16* x) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
  for (; i < n; ++i) out[i] = widen(x[i]);
}
TS_INLINE void narrow_run(int64_t n, Float16* out, const float* x) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) out[i] = narrow_float16(x[i]);
}

// float32 rounded to odd: truncated, with the last bit set if anything was lost.
TS_INLINE float float_to_odd(double x) {
  float nearest = static_cast<float>(x);
  double back = static_cast<double>(nearest);
  if (back == x || x != x) return nearest;
  uint32_t bits = bits_as<uint32_t>(nearest);
  bool is_too_large = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  if (is_too_large) --bits;  // towards zero; infinity becomes the largest finite number
  return bits_as<float>(bits | 1);
}

}  // namespace tessella::TS_ISA
