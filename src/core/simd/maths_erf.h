// The error function and its complement in double lanes: a polynomial near zero, and beyond it
// erfc(a) = exp(-a*a) (1 + P(t)) / (1 + 2a) with t = (a - 3.75) / (a + 3.75), which maps the half
// line to an interval on which one polynomial is enough. Float lanes: erf is in maths_float.h.
#pragma once
#include "maths_exp.h"

namespace tessella::TS_ISA {

// exp(a*a) erfc(a) for a >= 1/2.
template <class V>
TS_INLINE Pair<V> erfc_factor(Pair<V> a) {
  const V t = (a.hi - splat<V>(3.75)) / (a.hi + splat<V>(3.75));
  const Pair<V> factor = fast_two_sum(splat<V>(1), polynomial(kErfc, t));
  const Pair<V> below = two_sum(splat<V>(1), a.hi + a.hi);
  return divide(factor, {below.hi, below.lo + (a.lo + a.lo)});
}

// erfc(a) for a >= 1/2, at most 0.6 ulp off: every factor is a pair.
template <class V>
TS_INLINE V erfc_tail(V a) {
  a = lesser(splat<V>(37.65), a);  // exp(-a*a) vanishes there, see exp_vanishes
  const Pair<V> square = two_product(a, a);
  const ExpParts<V> e = exp_pair(-square.hi, -square.lo);
  return scale(sum(multiply(e.p, erfc_factor(Pair<V>{a, V{}}))), e.k);
}

template <class V>
TS_INLINE V erf_f64(V x) {
  const V a = abs(x);
  const V z = x * x;
  const V near = fma(x, polynomial(kErf, z), x);
  const V far = copysign(splat<V>(1) - erfc_tail(a), x);
  return select(a < splat<V>(0.5), near, far);
}

template <class V>
TS_INLINE V erfc_f64(V x) {
  const V a = abs(x);
  const Pair<V> lead = fast_two_sum(splat<V>(1), -x);
  const V near = lead.hi + (lead.lo - x * polynomial(kErf, x * x));
  const V tail = erfc_tail(a);
  return select(a < splat<V>(0.5), near, select(x < 0, splat<V>(2) - tail, tail));
}

}  // namespace tessella::TS_ISA
