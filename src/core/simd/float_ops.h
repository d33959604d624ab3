// Primitive operations on lanes that GCC's vector extensions have no operator for: rounding, square
// root, fused multiply-add, minimum and maximum, signs and classification. Each is exact or
// correctly rounded, so every instruction set gives the same bits (fma apart, see there). Included
// by vector.h; elementary functions are in maths.h.
#pragma once
#include "vector.h"
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tessella::TS_ISA {

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

// One branch for each native width: V is returned by the intrinsic with the lanes' suffix. Widths
// that no instruction has (one lane, or wider than the register) fall through to a loop over lanes.
// The 512-bit forms take a mask of ones: GCC 12 warns that the unmasked ones read an undefined
// value.
#if defined(__AVX512F__)
#define TS_512(op, ...)                                                        \
  if constexpr (is_vec<V, float, 64>) return (V)_mm512_##op##_ps(__VA_ARGS__); \
  if constexpr (is_vec<V, double, 64>) return (V)_mm512_##op##_pd(__VA_ARGS__);
#else
#define TS_512(op, ...)
#endif
#if defined(__AVX2__)
#define TS_256(op, ...)                                                        \
  if constexpr (is_vec<V, float, 32>) return (V)_mm256_##op##_ps(__VA_ARGS__); \
  if constexpr (is_vec<V, double, 32>) return (V)_mm256_##op##_pd(__VA_ARGS__);
#else
#define TS_256(op, ...)
#endif
#if defined(__SSE4_1__)
#define TS_128(op, ...)                                                     \
  if constexpr (is_vec<V, float, 16>) return (V)_mm_##op##_ps(__VA_ARGS__); \
  if constexpr (is_vec<V, double, 16>) return (V)_mm_##op##_pd(__VA_ARGS__);
#else
#define TS_128(op, ...)
#endif
#if defined(__aarch64__)
#define TS_NEON(op, ...)                                                \
  if constexpr (is_vec<V, float, 16>) return (V)op##q_f32(__VA_ARGS__); \
  if constexpr (is_vec<V, double, 16>) return (V)op##q_f64(__VA_ARGS__);
#else
#define TS_NEON(op, ...)
#endif

#define TS_LANES(builtin, ...)               \
  V out{};                                   \
  for (int i = 0; i < lanes<V>; ++i) {       \
    if constexpr (same_type<Lane<V>, float>) \
      out[i] = builtin##f(__VA_ARGS__);      \
    else                                     \
      out[i] = builtin(__VA_ARGS__);         \
  }                                          \
  return out;

#define TS_ROUNDING(name, mode, neon)                         \
  template <class V>                                          \
  TS_INLINE V name(V x) {                                     \
    TS_512(maskz_roundscale, -1, x, mode | _MM_FROUND_NO_EXC) \
    TS_256(round, x, mode | _MM_FROUND_NO_EXC)                \
    TS_128(round, x, mode | _MM_FROUND_NO_EXC)                \
    TS_NEON(neon, x)                                          \
    TS_LANES(__builtin_##name, x[i])                          \
  }

TS_ROUNDING(floor, _MM_FROUND_TO_NEG_INF, vrndm)
TS_ROUNDING(ceil, _MM_FROUND_TO_POS_INF, vrndp)
TS_ROUNDING(trunc, _MM_FROUND_TO_ZERO, vrnd)
TS_ROUNDING(rint, _MM_FROUND_TO_NEAREST_INT, vrndn)  // half to even
#undef TS_ROUNDING

template <class V>
TS_INLINE V sqrt(V x) {
  TS_512(maskz_sqrt, -1, x)
  TS_256(sqrt, x)
  TS_128(sqrt, x)
  TS_NEON(vsqrt, x)
  TS_LANES(__builtin_sqrt, x[i])
}

// a * b + c, rounded once where the instruction set has it and twice on the x86-64 baseline.
template <class V>
TS_INLINE V fma(V a, V b, V c) {
  if constexpr (!has_fma) {
    return a * b + c;
  } else {
#if defined(__FMA__)
    TS_512(fmadd, a, b, c)
    TS_256(fmadd, a, b, c)
    TS_128(fmadd, a, b, c)
#endif
    TS_NEON(vfma, c, a, b)
    TS_LANES(__builtin_fma, a[i], b[i], c[i])
  }
}

template <class V>
TS_INLINE MaskOf<V> is_nan(V x) {
  return x != x;
}

template <class V>
TS_INLINE V abs(V x) {
  using M = MaskOf<V>;
  using B = BitsOf<V>;
  if constexpr (is_float_vec<V>) {
    return (V)((B)x & ~((B)splat<V>(-0.0)));
  } else if constexpr (is_signed_vec<V>) {
    const B sign = (B)(M)(x < 0);  // two's complement in unsigned lanes: |INT_MIN| wraps to itself
    return (V)(((B)x ^ sign) - sign);
  } else {
    return x;
  }
}

template <class V>
TS_INLINE V copysign(V magnitude, V sign) {
  const BitsOf<V> bit = (BitsOf<V>)splat<V>(-0.0);
  return (V)(((BitsOf<V>)magnitude & ~bit) | ((BitsOf<V>)sign & bit));
}

template <class V>
TS_INLINE MaskOf<V> signbit(V x) {
  return (MaskOf<V>)x < 0;
}

template <class V>
TS_INLINE MaskOf<V> is_inf(V x) {
  return abs(x) == splat<V>(__builtin_inff());
}

template <class V>
TS_INLINE MaskOf<V> is_finite(V x) {
  return abs(x) < splat<V>(__builtin_inff());
}

// a < b ? a : b and a > b ? a : b lane by lane: b where either is NaN and where both are zeros.
template <class V>
TS_INLINE V lesser(V a, V b) {
  TS_512(maskz_min, -1, a, b)
  TS_256(min, a, b)
  TS_128(min, a, b)
  return a < b ? a : b;
}
template <class V>
TS_INLINE V greater(V a, V b) {
  TS_512(maskz_max, -1, a, b)
  TS_256(max, a, b)
  TS_128(max, a, b)
  return a > b ? a : b;
}

// NaN if either operand is NaN, and -0 < +0. The two orders of `lesser` give the same bits except
// for a NaN (either operand comes out once, and a NaN or-ed with anything stays one) and for two
// zeros.
template <class V>
TS_INLINE V min(V a, V b) {
  if constexpr (!is_float_vec<V>) {
    return a < b ? a : b;
  } else {
    TS_NEON(vmin, a, b)
    using B = BitsOf<V>;
    return (V)((B)lesser(a, b) | (B)lesser(b, a));
  }
}
template <class V>
TS_INLINE V max(V a, V b) {
  if constexpr (!is_float_vec<V>) {
    return a > b ? a : b;
  } else {
    TS_NEON(vmax, a, b)
    using B = BitsOf<V>;
    const B ab = (B)greater(a, b), ba = (B)greater(b, a);
    return select(is_nan(a) | is_nan(b), (V)(ab | ba), (V)(ab & ba));
  }
}
template <class V>
TS_INLINE V minimum(V a, V b) {
  return min(a, b);
}
template <class V>
TS_INLINE V maximum(V a, V b) {
  return max(a, b);
}

#undef TS_512
#undef TS_256
#undef TS_128
#undef TS_NEON
#undef TS_LANES

}  // namespace tessella::TS_ISA
