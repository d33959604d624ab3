// Complex numbers as two vectors, real and imaginary parts apart: arithmetic, comparison, and loads
// and stores that take interleaved memory apart and put it together again. Products are the plain
// formula, as in NumPy; quotients are scaled, so that they neither overflow nor underflow on the
// way. Elementary functions are in complex.h.
#pragma once
#include "maths.h"
#include "shuffle.h"

namespace tessella::TS_ISA {

template <class V>
struct Complex {
  V re, im;
};

template <class V>
TS_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
TS_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
TS_INLINE Complex<V> operator-(Complex<V> a) {
  return {-a.re, -a.im};
}
template <class V>
TS_INLINE Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class V>
TS_INLINE Complex<V> operator*(Complex<V> a, V b) {
  return {a.re * b, a.im * b};
}
template <class V>
TS_INLINE MaskOf<V> operator==(Complex<V> a, Complex<V> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class V>
TS_INLINE MaskOf<V> operator!=(Complex<V> a, Complex<V> b) {
  return (a.re != b.re) | (a.im != b.im);
}

template <class V>
TS_INLINE Complex<V> conj(Complex<V> a) {
  return {a.re, -a.im};
}
template <class M, class V>
TS_INLINE Complex<V> select(M mask, Complex<V> a, Complex<V> b) {
  return {select(mask, a.re, b.re), select(mask, a.im, b.im)};
}
template <class V>
TS_INLINE Complex<V> times_i(Complex<V> a) {
  return {-a.im, a.re};
}
template <class V>
TS_INLINE Complex<V> over_i(Complex<V> a) {
  return {a.im, -a.re};
}

// The larger of |re| and |im|; NaN if either is.
template <class V>
TS_INLINE V largest(Complex<V> a) {
  return max(abs(a.re), abs(a.im));
}

// k with 2^k near the larger part; 0, subnormals and infinities as the nearest normal number.
template <class V>
TS_INLINE V binary_order(Complex<V> a) {
  const bool narrow = sizeof(Lane<V>) == 4;
  const Lane<V> low = narrow ? (Lane<V>)0x1p-126 : (Lane<V>)0x1p-1022;
  const Lane<V> high = narrow ? (Lane<V>)0x1p126 : (Lane<V>)0x1p1022;
  const V order = split_exponent(lesser(splat<V>(high), greater(splat<V>(low), largest(a)))).e;
  return lesser(splat<V>(exponent_bias<V> - 1), order);
}

// What a quotient is that came out as NaN in both parts, after C99's annex G: a number over zero is
// infinite, infinity over a number too, and a number over infinity is zero.
template <class V>
TS_INLINE Complex<V> divide_special(Complex<V> a, Complex<V> b, Complex<V> q) {
  const auto boxed = [](Complex<V> z) {
    const V one = splat<V>(1);
    const V re = select(is_inf(z.re), one, V{}), im = select(is_inf(z.im), one, V{});
    return Complex<V>{copysign(re, z.re), copysign(im, z.im)};
  };
  const MaskOf<V> lost = is_nan(q.re) & is_nan(q.im);
  const MaskOf<V> a_infinite = is_inf(a.re) | is_inf(a.im), a_finite = is_finite(largest(a));
  const MaskOf<V> b_infinite = is_inf(b.re) | is_inf(b.im), b_finite = is_finite(largest(b));
  const MaskOf<V> zero = (b.re == 0) & (b.im == 0) & ~(is_nan(a.re) & is_nan(a.im));
  q = select(lost & zero, a * copysign(infinity<V>(), b.re), q);
  q = select(lost & ~zero & a_infinite & b_finite, boxed(a) * conj(b) * infinity<V>(), q);
  return select(lost & a_finite & b_infinite, a * conj(boxed(b)) * V{}, q);
}

// Both operands are brought to size 1, and the quotient back.
template <class V>
TS_INLINE Complex<V> operator/(Complex<V> a, Complex<V> b) {
  const V a_order = binary_order(a), b_order = binary_order(b);
  const Complex<V> c = a * power_of_two(-a_order), d = b * power_of_two(-b_order);
  const Complex<V> product = c * conj(d);
  const V norm = d.re * d.re + d.im * d.im, order = a_order - b_order;
  const Complex<V> q = {rescale(product.re / norm, order), rescale(product.im / norm, order)};
  if (!any(is_nan(q.re) & is_nan(q.im))) return q;
  return divide_special(a, b, q);
}

// Every second lane of two vectors, from lane `first` on.
template <class V>
TS_INLINE V unweave(V a, V b, int first) {
  BitsOf<V> from{};
  for (int i = 0; i < lanes<V>; ++i) from[i] = 2 * i + first;
  return shuffle(a, b, from);
}

// a0 b0 a1 b1 …, from a's lane `first` on.
template <class V>
TS_INLINE V weave(V a, V b, int first) {
  BitsOf<V> from{};
  for (int i = 0; i < lanes<V>; ++i) from[i] = first + i / 2 + i % 2 * lanes<V>;
  return shuffle(a, b, from);
}

// Reads lanes<V> complex numbers: re, im, re, im, ...
template <class V>
TS_INLINE Complex<V> load_complex(const Lane<V>* p) {
  const V a = load<V>(p), b = load<V>(p + lanes<V>);
  if constexpr (lanes<V> == 1)
    return {a, b};
  else
    return {unweave(a, b, 0), unweave(a, b, 1)};
}

template <class V>
TS_INLINE void store_complex(Lane<V>* p, Complex<V> z) {
  if constexpr (lanes<V> == 1) {
    store(p, z.re);
    store(p + 1, z.im);
  } else {
    store(p, weave(z.re, z.im, 0));
    store(p + lanes<V>, weave(z.re, z.im, lanes<V> / 2));
  }
}

// Reads n complex numbers, 1 <= n < lanes<V>; the other lanes repeat the first.
template <class V>
TS_INLINE Complex<V> load_complex_partial(const Lane<V>* p, int n) {
  Complex<V> z = {splat<V>(p[0]), splat<V>(p[1])};
  for (int i = 1; i < n; ++i) {
    z.re[i] = p[2 * i];
    z.im[i] = p[2 * i + 1];
  }
  return z;
}

template <class V>
TS_INLINE void store_complex_partial(Lane<V>* p, Complex<V> z, int n) {
  for (int i = 0; i < n; ++i) {
    p[2 * i] = z.re[i];
    p[2 * i + 1] = z.im[i];
  }
}

}  // namespace tessella::TS_ISA
