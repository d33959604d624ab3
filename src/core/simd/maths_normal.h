// The normal distribution in double lanes: its function ndtr, the logarithm of that, its inverse
// ndtri, and the inverse of the error function. Tails are those of erfc (maths_erf.h), with the
// argument and its square as pairs; the inverses are first guesses with one step of Newton.
#pragma once
#include "maths_erf.h"
#include "maths_log.h"

namespace tessella::TS_ISA {

// ndtr(-b) for b >= sqrt(1/2), as a pair times 2^k.
template <class V>
TS_INLINE ExpParts<V> ndtr_tail(V b) {
  b = lesser(splat<V>(53.2), b);  // exp(-b*b/2) vanishes there
  const Pair<V> half = two_product(b * splat<V>(0.5), b);
  const ExpParts<V> e = exp_pair(-half.hi, -half.lo);
  const Pair<V> factor = erfc_factor(multiply(pair_of<V>(kRootHalf), b));
  return {e.k - 1, multiply(e.p, factor)};
}

// ndtr(x) = 1/2 + erf(x / sqrt(2)) / 2 for |x| < sqrt(1/2).
template <class V>
TS_INLINE Pair<V> ndtr_near(V x) {
  const Pair<V> z = multiply(pair_of<V>(kRootHalf), x);
  const V more = z.hi * polynomial(kErf, z.hi * z.hi);
  const V half = splat<V>(0.5);
  const Pair<V> lead = fast_two_sum(half, half * z.hi);
  return {lead.hi, fma(half, z.lo + more, lead.lo)};
}

template <class V>
TS_INLINE V ndtr_f64(V x) {
  const V b = abs(x);
  const ExpParts<V> tail = ndtr_tail(b);
  const V low = scale(sum(tail.p), tail.k);
  const V value = select(x < 0, low, splat<V>(1) - low);
  return select(b < splat<V>(0.7), sum(ndtr_near(x)), value);
}

// log(ndtr(-b)) for b > 37: -b*b/2 - log(b sqrt(2 pi)) + log(1 - u + 3u^2 - 15u^3 ...), u = 1/b^2.
template <class V>
TS_INLINE V log_ndtr_far(V b) {
  static constexpr double kSeries[] = {-1, 5.0 / 2, -37.0 / 3, 353.0 / 4, -4081.0 / 5};
  const Pair<V> half = two_product(b * splat<V>(0.5), b);
  const V u = splat<V>(0.5) / half.hi;
  const V scaled = log_f64(b) + splat<V>(0x1.d67f1c864beb5p-1);  // log(sqrt(2 pi))
  const V rest = fma(u, polynomial(kSeries, u), -half.lo) - scaled;
  return select(half.hi < infinity<V>(), rest - half.hi, -half.hi);
}

template <class V>
TS_INLINE V log_ndtr_f64(V x) {
  const V b = abs(x);
  const MaskOf<V> is_near = b < splat<V>(0.7);
  // On the left: -b*b/2 + log(exp(b*b/2) ndtr(-b)).
  const V bounded = lesser(splat<V>(53.2), b);
  const Pair<V> half = two_product(bounded * splat<V>(0.5), bounded);
  const Pair<V> share = erfc_factor(multiply(pair_of<V>(kRootHalf), bounded));
  // On the right, and near 0: the logarithm of the value itself.
  const ExpParts<V> tail = ndtr_tail(b);
  const Pair<V> low = {scale(tail.p.hi, tail.k), scale(tail.p.lo, tail.k)};
  const Pair<V> upper = fast_two_sum(splat<V>(1), -low.hi);
  const Pair<V> near = ndtr_near(x);
  const MaskOf<V> is_left = (x < 0) & ~is_near;
  const V hi = select(is_left, splat<V>(0.5) * share.hi, select(is_near, near.hi, upper.hi));
  const V lo =
      select(is_left, splat<V>(0.5) * share.lo, select(is_near, near.lo, upper.lo - low.lo));
  const Pair<V> log = log_pair(fast_two_sum(hi, lo));
  const Pair<V> left = two_sum(-half.hi, log.hi);
  const V value = select(is_left, left.hi + (left.lo + (log.lo - half.lo)), sum(log));
  const V faint = scale(sum(tail.p), tail.k);
  const V right = select((x > 0) & (faint < splat<V>(0x1p-54)) & ~is_near, -faint, value);
  return select(x < splat<V>(-37), log_ndtr_far(b), right);
}

// y with erf(y) = x and erfc(y) = q, where x is in [0, 1) and q = 1 - x. Which of the two is exact
// counts: x up to 0.515, q beyond. The second part is what one step of Newton adds: for small x on
// erf, for others on the logarithm of erfc, which is nearly a parabola.
template <class V>
TS_INLINE Pair<V> erfinv_pair(V x, V q) {
  const V w = -log_f64(q * (splat<V>(2) - q));
  const V s = sqrt(w);
  const V end = polynomial(kErfinvEnd, s - splat<V>(16.85));
  const V far = select(s < splat<V>(6.3), polynomial(kErfinvFar, s - splat<V>(4.4)), end);
  const V y = select(w < splat<V>(6), x * polynomial(kErfinv, w), far);
  const Pair<V> square = two_product(y, y);
  const ExpParts<V> e = exp_pair(-square.hi, -square.lo);
  const V slope = splat<V>(0x1.c5bf891b4ef6bp-1);  // sqrt(pi) / 2
  const V missed = fma(y, polynomial(kErf, square.hi), y - x);
  const V near = -missed * slope / e.p.hi;
  const Pair<V> factor = erfc_factor(Pair<V>{y, V{}});
  const Pair<V> found = multiply(e.p, factor);
  const V wanted = rescale(q, -e.k);
  const V ratio = ((found.hi - wanted) + found.lo) / wanted;
  const V tail = fma(splat<V>(-0.5) * ratio, ratio, ratio) * (factor.hi * slope);
  return {y, select(x < splat<V>(0.515), near, tail)};
}

template <class V>
TS_INLINE V erfinv_f64(V x) {
  const V a = abs(x);
  const V value = copysign(sum(erfinv_pair(a, splat<V>(1) - a)), x);
  const V edge = select(a == splat<V>(1), copysign(infinity<V>(), x), quiet_nan<V>());
  return select(a < splat<V>(1), value, edge);
}

template <class V>
TS_INLINE V ndtri_f64(V p) {
  const V low = lesser(p, splat<V>(1) - p);
  const V q = low + low;
  const Pair<V> y = erfinv_pair(splat<V>(1) - q, q);
  const V size = sum(multiply(y, pair_of<V>(kRootTwo)));
  const V value = select(p < splat<V>(0.5), -size, size);
  const V edge = select(p == splat<V>(1), infinity<V>(), quiet_nan<V>());
  return select((p > 0) & (p < splat<V>(1)), value, select(p == 0, -infinity<V>(), edge));
}

}  // namespace tessella::TS_ISA
