// The functions of complex vectors that kernels use: simd::exp(z) and the rest, with special values
// and branch cuts after C99's annex G. Double lanes are computed in complex_exp.h and
// complex_log.h; float lanes as halves of doubles, which leaves one rounding. This file only
// chooses by lane type.
#pragma once
#include "complex_exp.h"
#include "complex_log.h"
#include "complex_type.h"

namespace tessella::TS_ISA {

template <class D, class V>
TS_INLINE Complex<D> convert_complex(Complex<V> z) {
  return {convert<D>(z.re), convert<D>(z.im)};
}

// f on complex floats by way of doubles, see by_doubles.
template <class V, class F, class... More>
TS_INLINE Complex<V> complex_by_doubles(F f, Complex<V> z, More... more) {
  if constexpr (lanes<V> == 1) {
    using D = VecN<double, 1>;
    return convert_complex<V>(f(convert_complex<D>(z), convert_complex<D>(more)...));
  } else {
    using D = VecN<double, lanes<V> / 2>;
    using H = Half<V>;
    const auto low = [](Complex<V> w) {
      return Complex<D>{convert<D>(low_half(w.re)), convert<D>(low_half(w.im))};
    };
    const auto high = [](Complex<V> w) {
      return Complex<D>{convert<D>(high_half(w.re)), convert<D>(high_half(w.im))};
    };
    const Complex<H> first = convert_complex<H>(f(low(z), low(more)...));
    const Complex<H> second = convert_complex<H>(f(high(z), high(more)...));
    return {join(first.re, second.re), join(first.im, second.im)};
  }
}

// The trigonometric functions are the hyperbolic ones of i z, and their inverses likewise.
template <class V>
TS_INLINE Complex<V> sin_complex(Complex<V> z) {
  return over_i(sinh_complex(times_i(z)));
}
template <class V>
TS_INLINE Complex<V> cos_complex(Complex<V> z) {
  return cosh_complex(times_i(z));
}
template <class V>
TS_INLINE Complex<V> tan_complex(Complex<V> z) {
  return over_i(tanh_complex(times_i(z)));
}
template <class V>
TS_INLINE Complex<V> asinh_complex(Complex<V> z) {
  return over_i(asin_complex(times_i(z)));
}
template <class V>
TS_INLINE Complex<V> atan_complex(Complex<V> z) {
  return over_i(atanh_complex(times_i(z)));
}

namespace simd {

// Out of line: each is large, and none is called for speed.
#define TS_COMPLEX(name)                                                     \
  template <class V>                                                         \
  TS_OUTLINE void name##_into(Complex<V>& out, const Complex<V>& z) {        \
    if constexpr (same_type<Lane<V>, float>)                                 \
      out = complex_by_doubles([](auto x) { return name##_complex(x); }, z); \
    else                                                                     \
      out = name##_complex(z);                                               \
  }                                                                          \
  template <class V>                                                         \
  TS_INLINE Complex<V> name(Complex<V> z) {                                  \
    Complex<V> out;                                                          \
    name##_into(out, z);                                                     \
    return out;                                                              \
  }

TS_COMPLEX(exp)
TS_COMPLEX(expm1)
TS_COMPLEX(log)
TS_COMPLEX(log2)
TS_COMPLEX(log10)
TS_COMPLEX(log1p)
TS_COMPLEX(sqrt)
TS_COMPLEX(sin)
TS_COMPLEX(cos)
TS_COMPLEX(tan)
TS_COMPLEX(sinh)
TS_COMPLEX(cosh)
TS_COMPLEX(tanh)
TS_COMPLEX(asin)
TS_COMPLEX(acos)
TS_COMPLEX(atan)
TS_COMPLEX(asinh)
TS_COMPLEX(acosh)
TS_COMPLEX(atanh)
#undef TS_COMPLEX

template <class V>
TS_OUTLINE void pow_into(Complex<V>& out, const Complex<V>& z, const Complex<V>& w) {
  if constexpr (same_type<Lane<V>, float>)
    out = complex_by_doubles([](auto x, auto y) { return pow_complex(x, y); }, z, w);
  else
    out = pow_complex(z, w);
}
template <class V>
TS_INLINE Complex<V> pow(Complex<V> z, Complex<V> w) {
  Complex<V> out;
  pow_into(out, z, w);
  return out;
}

template <class V>
TS_INLINE V abs(Complex<V> z) {
  return hypot(z.re, z.im);
}
template <class V>
TS_INLINE Complex<V> square(Complex<V> z) {
  return {(z.re - z.im) * (z.re + z.im), (z.re + z.re) * z.im};
}
template <class V>
TS_INLINE Complex<V> reciprocal(Complex<V> z) {
  return Complex<V>{splat<V>(1), V{}} / z;
}

// z / |z|, and 0 at 0; an infinite part beside a finite one gives the direction of its axis.
template <class V>
TS_INLINE Complex<V> sign(Complex<V> z) {
  const V k = -binary_order(z), one = splat<V>(1);
  const MaskOf<V> right = is_inf(z.re) & is_finite(z.im), up = is_inf(z.im) & is_finite(z.re);
  const Complex<V> boxed = {copysign(select(right, one, V{}), z.re),
                            copysign(select(up, one, V{}), z.im)};
  const Complex<V> near = select(right | up, boxed, z * power_of_two(k));
  const V size = hypot(near.re, near.im);
  const MaskOf<V> zero = (z.re == 0) & (z.im == 0);
  return select(zero, Complex<V>{V{}, V{}}, Complex<V>{near.re / size, near.im / size});
}

}  // namespace simd
}  // namespace tessella::TS_ISA
