// Unevaluated sums of two vectors (about 100 bits in double lanes) and the small tools that every
// family of functions uses: polynomials, splitting off the exponent, scaling by a power of two and
// evaluating float lanes as doubles. Error-free sums and products after Knuth, Dekker and Veltkamp.
#pragma once
#include "coefficients.h"
#include "vector.h"

namespace tessella::TS_ISA {

// hi + lo, with lo at most a few ulp of hi; normalised means half an ulp. The operations below do
// not normalise: that would double the length of the chain from operand to result.
template <class V>
struct Pair {
  V hi, lo;
};

// a + b exactly, if |a| >= |b| or a == 0.
template <class V>
TS_INLINE Pair<V> fast_two_sum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

// a + b exactly.
template <class V>
TS_INLINE Pair<V> two_sum(V a, V b) {
  const V sum = a + b;
  const V part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// The upper 26 bits of each lane; what is left fits 26 bits and a sign.
template <class V>
TS_INLINE V upper_bits(V a) {
  const V scaled = a * splat<V>(0x1p27 + 1);
  return scaled - (scaled - a);
}

// a * b exactly, unless it overflows or the error term is subnormal. Without fma: |a|, |b| < 2^996.
template <class V>
TS_INLINE Pair<V> two_product(V a, V b) {
  const V product = a * b;
  if constexpr (has_fma) {
    return {product, fma(a, b, -product)};
  } else {
    const V a1 = upper_bits(a), b1 = upper_bits(b);
    const V a2 = a - a1, b2 = b - b1;
    return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
  }
}

template <class V>
TS_INLINE Pair<V> multiply(Pair<V> a, Pair<V> b) {
  const Pair<V> p = two_product(a.hi, b.hi);
  return {p.hi, p.lo + fma(a.hi, b.lo, a.lo * b.hi)};
}

template <class V>
TS_INLINE Pair<V> multiply(Pair<V> a, V b) {
  const Pair<V> p = two_product(a.hi, b);
  return {p.hi, fma(a.lo, b, p.lo)};
}

// a + b where |a| >= |b|.
template <class V>
TS_INLINE Pair<V> add(Pair<V> a, Pair<V> b) {
  const Pair<V> s = fast_two_sum(a.hi, b.hi);
  return {s.hi, s.lo + (a.lo + b.lo)};
}

// The first quotient's error is found exactly, so hi + lo is right to about 100 bits.
template <class V>
TS_INLINE Pair<V> divide(Pair<V> a, Pair<V> b) {
  const V inverse = splat<V>(1) / b.hi;
  const V quotient = a.hi * inverse;
  const Pair<V> p = two_product(quotient, b.hi);
  const V rest = ((a.hi - p.hi) - p.lo) + (a.lo - quotient * b.lo);
  return {quotient, rest * inverse};
}

template <class V>
TS_INLINE V sum(Pair<V> a) {
  return a.hi + a.lo;
}

template <class V>
TS_INLINE Pair<V> pair_of(const Lane<V> (&parts)[2]) {
  return {splat<V>(parts[0]), splat<V>(parts[1])};
}

// c[0] + c[1] x + ..., as two interleaved chains in x * x: half the latency of one.
template <class V, int N>
TS_INLINE V polynomial(const Lane<V> (&c)[N], V x) {
  const V square = x * x;
  V even = splat<V>(c[(N - 1) & ~1]), odd = splat<V>(c[(N - 2) | 1]);
#pragma GCC unroll 16
  for (int i = ((N - 1) & ~1) - 2; i >= 0; i -= 2) even = fma(even, square, splat<V>(c[i]));
#pragma GCC unroll 16
  for (int i = ((N - 2) | 1) - 2; i > 0; i -= 2) odd = fma(odd, square, splat<V>(c[i]));
  return fma(odd, x, even);
}

// Added to a small number it leaves the nearest integer in the lowest bits of the fraction.
template <class V>
constexpr Lane<V> integer_shift = sizeof(Lane<V>) == 4 ? (Lane<V>)0x1.8p23 : (Lane<V>)0x1.8p52;
template <class V>
constexpr int fraction_bits = sizeof(Lane<V>) == 4 ? 23 : 52;
template <class V>
constexpr int exponent_bias = sizeof(Lane<V>) == 4 ? 127 : 1023;

// 2^k for an integer k for which it is a normal number, and 0 for k = -bias.
template <class V>
TS_INLINE V power_of_two(V k) {
  using B = BitsOf<V>;
  const B bits = (B)(k + splat<V>(integer_shift<V> + exponent_bias<V>));
  return (V)(bits << fraction_bits<V>);
}

// x * 2^k in two steps, |k| below twice the largest exponent. A small x may be rounded by both.
template <class V>
TS_INLINE V rescale(V x, V k) {
  const V half = trunc(k * splat<V>(0.5));
  return x * power_of_two(half) * power_of_two(k - half);
}

// The same for x near 1, where only the last step rounds: one instruction may stand for both. It
// leaves lanes out that are 0 in the end, since a product that underflows costs a hundred cycles.
template <class V>
TS_INLINE V scale(V x, V k) {
#if defined(__AVX512F__)
  const V last = splat<V>(-exponent_bias<V> - fraction_bits<V>);  // 1 * 2^last rounds to 0
  if constexpr (is_vec<V, float, 64>)
    return (V)_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(k, last, _CMP_NLT_UQ), x, k);
  if constexpr (is_vec<V, double, 64>)
    return (V)_mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(k, last, _CMP_NLT_UQ), x, k);
#endif
  return rescale(x, k);
}

// Where exp may clamp its argument from below: k is twice -bias there, so that rescale multiplies
// by zeros and nothing underflows.
template <class V>
constexpr Lane<V> exp_vanishes = sizeof(Lane<V>) == 4 ? (Lane<V>)-176 : (Lane<V>)-1418;

// x = m * 2^e for a positive normal x, with m in [sqrt(1/2), sqrt(2)).
template <class V>
struct Split {
  V m, e;
};
template <class V>
TS_INLINE Split<V> split_exponent(V x) {
  using B = BitsOf<V>;
  constexpr int shift = fraction_bits<V>;
  const B offset = (B)splat<V>(0x1p1) - (B)splat<V>(0x1.6a09e667f3bcdp-1);
  const B shifted = ((B)x + offset) >> shift;  // e + bias + 1
  const B exponent = shifted - (exponent_bias<V> + 1);
  const V unit = splat<V>(sizeof(Lane<V>) == 4 ? 0x1p23 : 0x1p52);
  const V e = (V)(shifted | (B)unit) - splat<V>(unit[0] + exponent_bias<V> + 1);
  return {(V)((B)x - (exponent << shift)), e};
}

template <class V>
TS_INLINE V quiet_nan() {
  return splat<V>(__builtin_nanf(""));
}
template <class V>
TS_INLINE V infinity() {
  return splat<V>(__builtin_inff());
}

// f on float lanes by way of double lanes: two halves, so that each is one native vector.
template <class V, class F, class... More>
TS_INLINE V by_doubles(F f, V x, More... more) {
  if constexpr (lanes<V> == 1) {
    using D = VecN<double, 1>;
    return convert<V>(f(convert<D>(x), convert<D>(more)...));
  } else {
    using D = VecN<double, lanes<V> / 2>;
    using H = Half<V>;
    const D low = f(convert<D>(low_half(x)), convert<D>(low_half(more))...);
    const D high = f(convert<D>(high_half(x)), convert<D>(high_half(more))...);
    return join(convert<H>(low), convert<H>(high));
  }
}

// Wraps a function template as an argument of by_doubles.
#define TS_LAMBDA(call) [](auto... x) __attribute__((always_inline)) { return call(x...); }

}  // namespace tessella::TS_ISA
