// Functions of float lanes. exp, log, tanh, sigmoid, erf and gelu work in native ones; the others
// of this file evaluate halves of the vector as doubles, where short polynomials without
// compensation
// ("narrow") give nearly correctly rounded floats. Functions that have no form of their own here
// use the double form for floats too, see maths.h.
#pragma once
#include "maths_log.h"
#include "maths_power.h"
#include "shuffle.h"

namespace tessella::TS_ISA {

// x = k ln 2 + r for |x| < 180, |r| <= ln(2)/2.
template <class V>
struct ExpReduced {
  V r, k;
};
template <class V>
TS_INLINE ExpReduced<V> exp_reduced(V x) {
  const V shift = splat<V>(integer_shift<V>);
  const V k = fma(x, splat<V>(0x1.715476p+0f), shift) - shift;  // 1 / ln 2
  return {fma(k, splat<V>(-kLn2F[1]), fma(k, splat<V>(-kLn2F[0]), x)), k};
}

// exp(x) = 2^k (m.hi + m.lo) for |x| < 180; m.hi alone is within 0.82 ulp.
template <class V>
struct ExpFloat {
  Pair<V> m;
  V k;
};
template <class V>
TS_INLINE ExpFloat<V> exp_float(V x) {
  const auto [r, k] = exp_reduced(x);
  const Pair<V> lead = fast_two_sum(splat<V>(1), r);
  return {fast_two_sum(lead.hi, fma(r * r, polynomial(kExpF, r), lead.lo)), k};
}

// Within 1.1 ulp.
template <class V>
TS_INLINE V exp_f32(V x) {
  const auto [r, k] = exp_reduced(clamp(x, exp_vanishes<V>, 90));
  return scale(splat<V>(1) + fma(r * r, polynomial(kExpF, r), r), k);
}

// log(1 + f) = f - (h - f^3 P(f)), h = f*f/2.
template <class V>
TS_INLINE V log_f32(V x) {
  const MaskOf<V> tiny = x < splat<V>(0x1p-126f);
  const Split<V> parts = split_exponent(select(tiny, x * splat<V>(0x1p24f), x));
  const V e = select(tiny, parts.e - 24, parts.e);
  const V f = parts.m - 1;
  const V h = splat<V>(0.5f) * f * f;
  const V inner = fma(h * f, polynomial(kLogF, f) * 2, e * splat<V>(kLn2F[1]));
  return log_special(x, fma(e, splat<V>(kLn2F[0]), f - (h - inner)));
}

// Lane i is table[number[i] modulo 8].
template <class V>
TS_INLINE V look_up(const float (&table)[8], MaskOf<V> number) {
#if defined(__AVX512F__)
  if constexpr (lanes<V> == 16)
    return shuffle((V)_mm512_maskz_broadcast_f32x8(-1, _mm256_loadu_ps(table)), number);
#endif
  if constexpr (lanes<V> == 8) {
    return shuffle(load<V>(table), number);
  } else if constexpr (lanes<V> == 4) {
    return shuffle(load<V>(table), load<V>(table + 4), number);
  } else {
    V out{};
    for (int i = 0; i < lanes<V>; ++i) out[i] = table[number[i] & 7];
    return out;
  }
}

// A polynomial about the centre of the piece of |x|. The first begins at 0, where its centre is, so
// that small results keep all their digits; at 9.2 tanh has long been 1.
template <class V>
TS_INLINE V tanh_f32(V x) {
  constexpr int TERMS = sizeof kTanhF / sizeof kTanhF[0] - 1;
  const V a = lesser(splat<V>(9.2f), abs(x));
  const auto number = (MaskOf<V>)((BitsOf<V>)fma(a, splat<V>(1.5f), splat<V>(1)) >> 22);
  const V t = a - look_up<V>(kTanhF[0], number);
  V sum = look_up<V>(kTanhF[TERMS], number);
#pragma GCC unroll 8
  for (int i = TERMS - 1; i > 0; --i) sum = fma(sum, t, look_up<V>(kTanhF[i], number));
  return copysign(sum, x);
}

// 1 / (1 + e^-x), with e^-|x| in the numerator for negative x so that it fades out gradually. What
// rounding took from numerator and denominator is given back after the division.
template <class V>
TS_INLINE V sigmoid_f32(V x) {
  const ExpFloat<V> parts = exp_float(greater(splat<V>(exp_vanishes<V>), -abs(x)));
  const Pair<V> e = {scale(parts.m.hi, parts.k), scale(parts.m.lo, parts.k)};
  const Pair<V> below = fast_two_sum(splat<V>(1), e.hi);
  const MaskOf<V> negative = x < 0;
  const V quotient = select(negative, e.hi, splat<V>(1)) / below.hi;
  const V inverse = select(negative, splat<V>(1) - quotient, quotient);  // 1 / below
  const V low = select(negative, e.lo, V{}) - quotient * (below.lo + e.lo);
  return fma(low, inverse, quotient);
}

// 1 - exp(-P(a)) away from zero; from 3.92 on it rounds to 1.
template <class V>
TS_INLINE V erf_f32(V x) {
  const V a = lesser(splat<V>(3.94f), abs(x)), z = a * a;
  const V small = fma(a, polynomial(kErfF, z), a);
  const ExpFloat<V> e = exp_float(-polynomial(kErfTailF, a));
  const V large = splat<V>(1) - e.m.hi * power_of_two(e.k);
  return copysign(select(a < splat<V>(1), small, large), x);
}

// exp(-x*x/2) and the share of a normal distribution beyond |x|, both as a factor of 2^k; they have
// vanished at 14.5. The square is held in two parts, as its error would grow with it.
template <class V>
struct NormalTail {
  V density, share, k;
};
template <class V>
TS_INLINE NormalTail<V> normal_tail_f32(V x) {
  const V a = lesser(splat<V>(14.5f), abs(x)), square = a * a;
  const V low = fma(a, a, -square);
  const ExpFloat<V> e = exp_float(splat<V>(-0.5f) * square);
  const V density = fma(e.m.hi, splat<V>(-0.5f) * low, e.m.hi);
  const V u = splat<V>(7) / (a + splat<V>(3.5f));
  return {density, density * (u * polynomial(kNormalTailF, u)), e.k};
}

// x Phi(x); where it fades out, x is multiplied before what is small becomes subnormal.
template <class V>
TS_INLINE V gelu_f32(V x) {
  const NormalTail<V> tail = normal_tail_f32(x);
  const V above = x * (splat<V>(1) - scale(tail.share, tail.k));
  const V below = x < splat<V>(-14.4f) ? x * V{} : scale(x * tail.share, tail.k);
  return x < 0 ? below : above;
}

// The slope of gelu: Phi(x) + x exp(-x*x/2) / sqrt(2 pi). It fades out below zero.
template <class V>
TS_INLINE V gelu_slope_f32(V x) {
  const NormalTail<V> tail = normal_tail_f32(x);
  const V share = scale(tail.share, tail.k);
  const V rise = abs(x) * scale(tail.density, tail.k) * splat<V>(0x1.988454p-2f);
  return x < 0 ? -(rise - share) : splat<V>(1) - share + rise;
}

}  // namespace tessella::TS_ISA
