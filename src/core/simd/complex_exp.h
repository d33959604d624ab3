// exp, expm1, sinh, cosh and tanh of complex numbers in double lanes; sine, cosine and tangent are
// the same functions of i z, see complex.h. Exponentials keep their power of two apart until the
// product with a sine or cosine is known, so that only a result that is too large overflows.
#pragma once
#include "complex_type.h"

namespace tessella::TS_ISA {

// cos y + i sin y. An infinite y gives NaN.
template <class V>
TS_INLINE Complex<V> unit_circle(V y) {
  const Angle<V> angle = reduce(y);
  const V s = sum(sin_pair(angle.r)), c = sum(cos_pair(angle.r));
  const MaskOf<V> odd = is_odd<V>(angle.quadrant);
  const V sine = signed_by(select(odd, c, s), angle.quadrant);
  return {signed_by(select(odd, s, c), angle.quadrant + 1), select(y == 0, y, sine)};
}

// 2^shift e^x (cos y + i sin y) with the rules of annex G: a zero y leaves a zero, an infinite x
// its size.
template <class V>
TS_INLINE Complex<V> exp_circle(Complex<V> z, Complex<V> circle, Lane<V> shift) {
  // e^1455 times the least sine overflows. The factor comes first, lest a small sine lose bits.
  const ExpParts<V> parts = exp_pair(clamp(z.re, -1400, 1500), V{});
  const V k = parts.k + splat<V>(shift), first = clamp(k, 0, 1000), factor = power_of_two(first);
  V re = rescale(circle.re * factor * parts.p.hi, k - first);
  V im = rescale(circle.im * factor * parts.p.hi, k - first);
  im = select(z.im == 0, z.im, im);
  const MaskOf<V> wild = ~is_finite(z.im);
  const V inf = infinity<V>();
  re = select(wild & (z.re == inf), inf, select(wild & (z.re == -inf), V{}, re));
  return {re, select(wild & (z.re == -inf), copysign(V{}, z.im), im)};
}

template <class V>
TS_INLINE Complex<V> exp_complex(Complex<V> z) {
  return exp_circle(z, unit_circle(z.im), 0);
}

// e^x cos y - 1 = (e^x - 1) cos y - 2 sin(y/2)^2.
template <class V>
TS_INLINE Complex<V> expm1_complex(Complex<V> z) {
  const Complex<V> circle = unit_circle(z.im);
  const Complex<V> large = exp_circle(z, circle, 0);
  const V half = sin_f64(z.im * splat<V>(0.5));
  const V near = expm1_f64(z.re) * circle.re - splat<V>(2) * half * half;
  const V re = select(z.im == 0, expm1_f64(z.re), select(large.re == 0, splat<V>(-1), near));
  return {select(z.re > splat<V>(40), large.re, re), large.im};
}

// cosh(x) + i sinh(x) are given; the signs of zeros follow from products. Beyond 40 both are e^|x|
// / 2.
template <class V>
TS_INLINE Complex<V> hyperbolic(Complex<V> z, V by_cos, V by_sin, bool odd) {
  const Complex<V> circle = unit_circle(z.im);
  const V sign = copysign(splat<V>(1), z.re);
  const Complex<V> far = exp_circle(Complex<V>{abs(z.re), z.im}, circle, -1);
  const V far_re = odd ? far.re * sign : far.re, far_im = odd ? far.im : far.im * sign;
  const MaskOf<V> large = abs(z.re) > splat<V>(40);
  V re = select(large, far_re, by_cos * circle.re);
  V im = select(large, far_im, by_sin * circle.im);
  const V zero_sign = odd ? z.im : z.im * sign;  // of the imaginary part when y is 0
  im = select(z.im == 0, copysign(V{}, zero_sign), im);
  if (odd)
    re = select(z.re == 0, z.re, re);
  else
    im = select((z.re == 0) & ~(z.im == 0), copysign(V{}, z.re * circle.im), im);
  return {re, im};
}

template <class V>
TS_INLINE Complex<V> sinh_complex(Complex<V> z) {
  return hyperbolic(z, sinh_f64(z.re), cosh_f64(z.re), true);
}
template <class V>
TS_INLINE Complex<V> cosh_complex(Complex<V> z) {
  return hyperbolic(z, cosh_f64(z.re), sinh_f64(z.re), false);
}

// Near the imaginary axis Kahan's form: with t = tan y, s = sinh x, r = cosh x, b = 1 + t*t,
// tanh z = (b r s + i t) / (1 + b s*s). Elsewhere with u = e^-2x, which is small:
// ((1 - u)(1 + u) + 2i u sin 2y) / (1 + u (2 cos 2y + u)).
template <class V>
TS_INLINE Complex<V> tanh_complex(Complex<V> z) {
  const V a = abs(z.re), one = splat<V>(1), two = splat<V>(2);
  const V t = tan_f64(z.im), b = fma(t, t, one);
  const V s = sinh_f64(lesser(one, a)), r = sqrt(fma(s, s, one));
  const V below = fma(b * s, s, one);
  const Complex<V> circle = unit_circle(z.im);
  const V u = exp_f64(-two * a), sine = two * circle.re * circle.im;
  const V cosine = (circle.re - circle.im) * (circle.re + circle.im);
  const V far_below = fma(u, fma(two, cosine, u), one);
  const MaskOf<V> far = a > one;
  V re = select(far, (one - u) * (one + u) / far_below, b * r * s / below);
  V im = select(far, two * u * sine / far_below, t / below);
  const MaskOf<V> infinite = a == infinity<V>();
  const V zero = copysign(V{}, select(is_finite(z.im), circle.re * circle.im, z.im));
  im = select(z.im == 0, z.im, select(infinite, zero, im));
  re = select(is_nan(z.re), z.re, copysign(select(infinite, one, re), z.re));
  const MaskOf<V> wild = ~is_finite(z.im) & ~infinite;
  return {select(wild, select(z.re == 0, z.re, quiet_nan<V>()), re), im};
}

}  // namespace tessella::TS_ISA
