// The modified Bessel functions I0 and I1 in double lanes: up to 6 a polynomial in x*x/4, all of
// whose coefficients are positive, and beyond exp(x) / sqrt(x) times one in x - 9 or in 1/x.
#pragma once
#include "maths_exp.h"

namespace tessella::TS_ISA {

// 1 + z P(z). The first terms are the largest, so they are added in pairs.
template <class V, int N>
TS_INLINE Pair<V> bessel_near(const double (&c)[N], Pair<V> z) {
  constexpr int few = 6;
  V rest = splat<V>(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= few; --i) rest = fma(rest, z.hi, splat<V>(c[i]));
  Pair<V> value = {rest, V{}};
#pragma GCC unroll 16
  for (int i = few - 1; i >= -1; --i) {
    const Pair<V> product = multiply(value, z);
    const Pair<V> next = two_sum(splat<V>(i < 0 ? 1.0 : c[i]), product.hi);
    value = {next.hi, next.lo + product.lo};
  }
  return value;
}

// exp(a) / sqrt(a) (1 / sqrt(2 pi) + more), where more is mid(a - 9) up to 12 and far(1 / a) / a
// beyond; infinite from 714 on.
template <class V, int M, int N>
TS_INLINE V bessel_far(const double (&mid)[M], const double (&far)[N], V a) {
  a = clamp(a, 1, 800);
  const V v = splat<V>(1) / a;
  const V t = lesser(splat<V>(3), a - splat<V>(9));
  const V more = select(a < splat<V>(12), polynomial(mid, t), v * polynomial(far, v));
  const Pair<V> lead = fast_two_sum(splat<V>(kBesselShare[0]), more);
  const Pair<V> share = {lead.hi, lead.lo + splat<V>(kBesselShare[1])};
  const V root = sqrt(a);
  const Pair<V> square = two_product(root, root);
  const V rest = ((a - square.hi) - square.lo) * splat<V>(0.5) / root;
  const ExpParts<V> e = exp_pair(a, V{});
  return scale(sum(divide(multiply(e.p, share), {root, rest})), e.k);
}

// A quarter of the square of a, which counts up to 6.
template <class V>
TS_INLINE Pair<V> bessel_square(V a) {
  const V half = lesser(splat<V>(6), a) * splat<V>(0.5);
  return two_product(half, half);
}

template <class V>
TS_INLINE V i0_f64(V x) {
  const V a = abs(x);
  const V near = sum(bessel_near(kBessel0, bessel_square(a)));
  return select(a > splat<V>(6), bessel_far(kBessel0Mid, kBessel0Far, a), near);
}

template <class V>
TS_INLINE V i1_f64(V x) {
  const V a = abs(x);
  const V near = sum(multiply(bessel_near(kBessel1, bessel_square(a)), a * splat<V>(0.5)));
  return copysign(select(a > splat<V>(6), bessel_far(kBessel1Mid, kBessel1Far, a), near), x);
}

}  // namespace tessella::TS_ISA
