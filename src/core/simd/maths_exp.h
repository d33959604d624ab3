// The exponential family in double lanes: exp, exp2, expm1, sinh, cosh, tanh and the logistic
// function. Arguments are reduced by x = k ln 2 + r, |r| <= ln(2)/2, then a polynomial in r. Float
// lanes have functions of their own in maths_float.h; dispatch by lane type is in maths.h.
#pragma once
#include "maths_pair.h"

namespace tessella::TS_ISA {

// exp(x) = 2^k (1 + p.hi + p.lo) from exp_parts, and 2^k (p.hi + p.lo) from exp_pair.
template <class V>
struct ExpParts {
  V k;
  Pair<V> p;
};

// exp(x + low) for |x| < 2^11 and |low| <= ulp(x).
template <class V>
TS_INLINE ExpParts<V> exp_parts(V x, V low) {
  const V shift = splat<V>(integer_shift<V>);
  const V k = fma(x, splat<V>(kInvLn2Pair[0]), shift) - shift;
  const V coarse = fma(k, splat<V>(-kLn2[0]), x);
  const V correction = fma(k, splat<V>(-kLn2[1]), low);
  const Pair<V> r = fast_two_sum(coarse, correction);
  // d exp(r) = (1 + r) dr for the part of r below its last bit, of which 1 stands in p.lo.
  const V tail = fma(r.hi * r.hi, polynomial(kExp, r.hi), fma(r.hi, r.lo, r.lo));
  return {k, {r.hi, tail}};
}

// exp(x + low) as a normalised pair times 2^k.
template <class V>
TS_INLINE ExpParts<V> exp_pair(V x, V low) {
  const ExpParts<V> parts = exp_parts(x, low);
  const Pair<V> one = fast_two_sum(splat<V>(1), parts.p.hi);
  return {parts.k, fast_two_sum(one.hi, one.lo + parts.p.lo)};
}

// Within [low, high]; NaN stays NaN.
template <class V>
TS_INLINE V clamp(V x, Lane<V> low, Lane<V> high) {
  return lesser(splat<V>(high), greater(splat<V>(low), x));
}

template <class V>
TS_INLINE V exp_f64(V x) {
  x = clamp(x, exp_vanishes<V>, 715);
  const V shift = splat<V>(integer_shift<V>);
  const V k = fma(x, splat<V>(kInvLn2Pair[0]), shift) - shift;
  const V r = fma(k, splat<V>(-kLn2[1]), fma(k, splat<V>(-kLn2[0]), x));
  const V p = splat<V>(1) + fma(r * r, polynomial(kExp, r), r);
  return scale(p, k);
}

template <class V>
TS_INLINE V exp2_f64(V x) {
  x = clamp(x, -2 * exponent_bias<V>, 1030);
  const V k = rint(x);
  const Pair<V> r = multiply(pair_of<V>(kLn2Pair), x - k);
  const V tail = fma(r.hi * r.hi, polynomial(kExp, r.hi), r.lo);
  return scale(splat<V>(1) + (r.hi + tail), k);
}

// (exp(x) - 1) / 2 as a pair, x in [-50, 710]: halved, so that 2^1024 is not met before the end.
template <class V>
TS_INLINE Pair<V> half_expm1(V x) {
  const ExpParts<V> parts = exp_parts(x, V{});
  const V power = power_of_two(parts.k - 1);
  const V less = power - splat<V>(0.5);
  const Pair<V> s = two_sum(less, power * parts.p.hi);
  const V lost = (power - less) - splat<V>(0.5);  // for |k| > 53
  return fast_two_sum(s.hi, s.lo + fma(power, parts.p.lo, lost));
}

template <class V>
TS_INLINE V expm1_f64(V x) {
  const V value = splat<V>(2) * sum(half_expm1(clamp(x, -50, 709.9)));
  return select(abs(x) < splat<V>(0x1p-54), x, value);
}

// exp(x) / 2 as a pair, x in [0, 711].
template <class V>
TS_INLINE Pair<V> half_exp(V x) {
  const ExpParts<V> parts = exp_pair(x, V{});
  const V k = parts.k - 1;
  return {scale(parts.p.hi, k), scale(parts.p.lo, k)};
}

template <class V>
TS_INLINE V sinh_f64(V x) {
  const V a = abs(x);
  const Pair<V> e = half_exp(lesser(splat<V>(712), a));
  const V large = e.hi + (e.lo - splat<V>(0.25) / e.hi);
  const V z = x * x;
  const V small = fma(x * z, polynomial(kSinh, z), x);
  return select(a < splat<V>(1), small, copysign(large, x));
}

template <class V>
TS_INLINE V cosh_f64(V x) {
  const Pair<V> e = half_exp(lesser(splat<V>(712), abs(x)));
  return e.hi + (e.lo + splat<V>(0.25) / e.hi);
}

// h / (h + 1) with h = (e^2a - 1) / 2; from a = 20 on it rounds to 1.
template <class V>
TS_INLINE V tanh_f64(V x) {
  const V a = abs(x);
  const Pair<V> h = half_expm1(lesser(splat<V>(44), a + a));
  const Pair<V> below = two_sum(h.hi, splat<V>(1));
  const V t = sum(divide(h, {below.hi, below.lo + h.lo}));
  return select(a < splat<V>(0x1p-30), x, copysign(t, x));
}

// 1 / (1 + e^-x), with e^-|x| in the numerator for negative x so that it fades out gradually.
template <class V>
TS_INLINE V sigmoid_f64(V x) {
  const V a = -abs(x);
  const ExpParts<V> parts = exp_pair(greater(splat<V>(exp_vanishes<V>), a), V{});
  const Pair<V> e = {scale(parts.p.hi, parts.k), scale(parts.p.lo, parts.k)};
  const Pair<V> below = fast_two_sum(splat<V>(1), e.hi);
  const MaskOf<V> negative = x < 0;
  const Pair<V> above = {select(negative, e.hi, splat<V>(1)), select(negative, e.lo, V{})};
  const V s = sum(divide(above, {below.hi, below.lo + e.lo}));
  return select(x < splat<V>(-40), e.hi, s);
}

}  // namespace tessella::TS_ISA
