// The logarithmic family in double lanes: log, log2, log10, log1p, the inverse hyperbolic functions
// and log(e^a + e^b). log has a fast form; the others take the logarithm as a pair of doubles,
// which pow (maths_power.h) needs too. Dispatch by lane type is in maths.h.
#pragma once
#include "maths_exp.h"

namespace tessella::TS_ISA {

// What a logarithm is outside (0, inf): -inf at 0, NaN below, inf and NaN as they are.
template <class V>
TS_INLINE V log_special(V x, V finite) {
  const V other = select(x == 0, -infinity<V>(), select(x < 0, quiet_nan<V>(), x));
  return select((x > 0) & (x < infinity<V>()), finite, other);
}

// log(1 + f) = f - (h - s (h + R)), with h = f*f/2, s = f / (2 + f), R = s*s*P(s*s).
template <class V>
TS_INLINE V log_f64(V x) {
  const MaskOf<V> tiny = x < splat<V>(0x1p-1022);
  const Split<V> parts = split_exponent(select(tiny, x * splat<V>(0x1p54), x));
  const V e = select(tiny, parts.e - 54, parts.e);
  const V f = parts.m - 1;
  const V s = f / (f + 2);
  const V z = s * s;
  const V h = splat<V>(0.5) * f * f;
  const V inner = fma(s, fma(z, polynomial(kLog, z), h), e * splat<V>(kLn2[1]));
  return log_special(x, fma(e, splat<V>(kLn2[0]), f - (h - inner)));
}

// log(1 + f) to about 66 bits for a normalised f in [sqrt(1/2) - 1, sqrt(2) - 1], as 2 atanh(s)
// with s = f / (2 + f); the two leading terms of the series are taken in pairs.
template <class V>
TS_INLINE Pair<V> log1p_small(Pair<V> f) {
  const Pair<V> below = fast_two_sum(splat<V>(2), f.hi);
  const Pair<V> s = divide(f, {below.hi, below.lo + f.lo});
  const Pair<V> z = multiply(s, s);
  const V tail = z.hi * polynomial(kLogTail, z.hi);
  Pair<V> series = add(pair_of<V>(kTwoFifths), {tail, V{}});
  series = add(pair_of<V>(kTwoThirds), multiply(z, series));
  series = multiply(multiply(s, z), series);
  return add({s.hi + s.hi, s.lo + s.lo}, series);
}

// log(x.hi + x.lo) to about 66 bits, of a normalised pair with x.hi positive and normal.
template <class V>
TS_INLINE Pair<V> log_pair(Pair<V> x) {
  const Split<V> parts = split_exponent(x.hi);
  const V down = power_of_two(greater(splat<V>(-1022), -parts.e));  // x.lo is lost there anyway
  const Pair<V> f = fast_two_sum(parts.m - 1, x.lo * down);
  const Pair<V> log_m = log1p_small(f);
  return add({parts.e * splat<V>(kLn2[0]), parts.e * splat<V>(kLn2[1])}, log_m);
}

template <class V>
TS_INLINE Pair<V> log_pair_of(V x) {
  const MaskOf<V> tiny = x < splat<V>(0x1p-1022);
  const Pair<V> log = log_pair(Pair<V>{select(tiny, x * splat<V>(0x1p54), x), V{}});
  const V shift = select(tiny, splat<V>(-54), V{});
  return add({shift * splat<V>(kLn2[0]), shift * splat<V>(kLn2[1])}, log);
}

// log2 of the powers of two is exact: the exponent is added after the conversion.
template <class V>
TS_INLINE V log2_f64(V x) {
  const MaskOf<V> tiny = x < splat<V>(0x1p-1022);
  const V normal = select(tiny, x * splat<V>(0x1p54), x);
  const Split<V> parts = split_exponent(normal);
  const Pair<V> log = log_pair(Pair<V>{parts.m, V{}});
  const Pair<V> log2_m = multiply(log, pair_of<V>(kInvLn2Pair));
  const V e = select(tiny, parts.e - 54, parts.e);
  return log_special(x, sum(add({e, V{}}, log2_m)));
}

template <class V>
TS_INLINE V log10_f64(V x) {
  return log_special(x, sum(multiply(log_pair_of(x), pair_of<V>(kInvLn10Pair))));
}

template <class V>
TS_INLINE V log1p_f64(V x) {
  const Pair<V> y = two_sum(splat<V>(1), x);
  const V log = log_special(y.hi, sum(log_pair(y)));
  return select(abs(x) < splat<V>(0x1p-54), x, log);
}

// log(a + sqrt(a*a + 1)) = log1p(a + a*a / (1 + sqrt(a*a + 1))); from 2^30 on it is log(2a).
template <class V>
TS_INLINE V asinh_f64(V x) {
  const V a = abs(x);
  const MaskOf<V> large = a > splat<V>(0x1p30);
  const V b = select(large, splat<V>(1), a);
  const V square = b * b;
  const V above = square / (splat<V>(1) + sqrt(square + 1));
  const Pair<V> y = two_sum(b, above);
  const Pair<V> z = two_sum(splat<V>(1), y.hi);
  const Pair<V> near = fast_two_sum(z.hi, z.lo + y.lo);
  const Pair<V> log = log_pair(Pair<V>{select(large, a, near.hi), select(large, V{}, near.lo)});
  const V doubled = log.hi + (log.lo + splat<V>(kLn2Pair[0]));
  const V value = select(a == infinity<V>(), a, select(large, doubled, sum(log)));
  return select(a < splat<V>(0x1p-30), x, copysign(value, x));
}

// log1p(t + sqrt(t (t + 2))) with t = x - 1, the root as a pair; from 2^30 on it is log(2x).
template <class V>
TS_INLINE V acosh_f64(V x) {
  const MaskOf<V> large = x > splat<V>(0x1p30);
  const V y = select(large, splat<V>(2), x);
  const V t = y - 1;
  const Pair<V> other = two_sum(t, splat<V>(2));
  const Pair<V> square = multiply(other, t);
  const V root = sqrt(square.hi);
  const Pair<V> p = two_product(root, root);
  const V rest = (((square.hi - p.hi) - p.lo) + square.lo) * splat<V>(0.5) / root;
  const Pair<V> s = two_sum(t, root);
  const Pair<V> z = two_sum(splat<V>(1), s.hi);
  const V low = z.lo + (s.lo + select(root > 0, rest, V{}));
  const Pair<V> near = fast_two_sum(z.hi, low);
  const Pair<V> log = log_pair(Pair<V>{select(large, x, near.hi), select(large, V{}, near.lo)});
  const V doubled = log.hi + (log.lo + splat<V>(kLn2Pair[0]));
  const V value = select(large, select(x == infinity<V>(), x, doubled), sum(log));
  return select(x >= splat<V>(1), select(x == splat<V>(1), V{}, value), quiet_nan<V>());
}

// log((1 + a) / (1 - a)) / 2; both sums are exact as pairs.
template <class V>
TS_INLINE V atanh_f64(V x) {
  const V a = abs(x);
  const Pair<V> above = fast_two_sum(splat<V>(1), a);
  const Pair<V> below = fast_two_sum(splat<V>(1), -a);
  const Pair<V> q = divide(above, below);
  const V near = splat<V>(0.5) * sum(log_pair(fast_two_sum(q.hi, q.lo)));
  const V edge = select(a == splat<V>(1), infinity<V>(), quiet_nan<V>());
  const V value = copysign(select(a < splat<V>(1), near, edge), x);
  return select(a < splat<V>(0x1p-30), x, value);
}

// log(1 + e^(d + low)) as a pair, for d from exp_vanishes to 0.
template <class V>
TS_INLINE Pair<V> log1p_exp(V d, V low) {
  const ExpParts<V> parts = exp_pair(d, low);
  const Pair<V> e = {scale(parts.p.hi, parts.k), scale(parts.p.lo, parts.k)};
  const Pair<V> one = fast_two_sum(splat<V>(1), e.hi);
  const Pair<V> log = log_pair(fast_two_sum(one.hi, one.lo + e.lo));
  const MaskOf<V> faint = d < splat<V>(-25);  // where 1 + e would need a third part
  const V faint_lo = fma(splat<V>(-0.5) * e.hi, e.hi, e.lo);
  return {select(faint, e.hi, log.hi), select(faint, faint_lo, log.lo)};
}

// How far the smaller of a and b is below the greater, as a pair, and no further than `least`.
template <class V>
struct Gap {
  V top, raw;
  Pair<V> size;
};
template <class V>
TS_INLINE Gap<V> gap_below(V a, V b, V least) {
  const V top = max(a, b);
  const Pair<V> gap = two_sum(lesser(a, b), -top);
  const V d = select(a == b, V{}, greater(least, gap.hi));
  const V low = select((gap.hi > least) & (a != b), gap.lo, V{});
  return {top, gap.hi, {d, low}};
}

// top + more where that is a number; the greater operand where the other one does not count.
template <class V>
TS_INLINE V add_to_top(Gap<V> gap, Pair<V> more, V least) {
  const Pair<V> s = two_sum(gap.top, more.hi);
  const V value = s.hi + (s.lo + more.lo);
  return select(is_finite(gap.top) & (gap.raw >= least), value, gap.top + V{});
}

// max + log1p(e^(min - max)), with the difference, the power and the logarithm as pairs. Where the
// two terms cancel the error is that of the second one, about 2^-57 of it, and not of their sum.
template <class V>
TS_INLINE V logaddexp_f64(V a, V b) {
  const V least = splat<V>(exp_vanishes<V>);
  const Gap<V> gap = gap_below(a, b, least);
  return add_to_top(gap, log1p_exp(gap.size.hi, gap.size.lo), least);
}

// The same to base 2.
template <class V>
TS_INLINE V logaddexp2_f64(V a, V b) {
  const V least = splat<V>(-2045);
  const Gap<V> gap = gap_below(a, b, least);
  const Pair<V> d = multiply(gap.size, pair_of<V>(kLn2Pair));
  const Pair<V> more = multiply(log1p_exp(d.hi, d.lo), pair_of<V>(kInvLn2Pair));
  return add_to_top(gap, more, least);
}

}  // namespace tessella::TS_ISA
