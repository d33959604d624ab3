// Logarithms, square root, inverse trigonometric and hyperbolic functions and powers of complex
// numbers in double lanes. Inverse functions after Kahan ("Branch cuts for complex elementary
// functions"): sums and products in which nothing cancels, with the sign of a zero choosing the
// side of a cut.
#pragma once
#include "complex_exp.h"

namespace tessella::TS_ISA {

// log|z| as a pair. Squares are taken as pairs, so that it is right also beside the unit circle.
template <class V>
TS_INLINE Pair<V> log_size(Complex<V> z) {
  const V top = largest(z), zero = V{};
  const MaskOf<V> huge = top > splat<V>(0x1p500), tiny = top < splat<V>(0x1p-400);
  const V unit = select(huge, splat<V>(0x1p-600), select(tiny, splat<V>(0x1p600), splat<V>(1)));
  const V shift = select(huge, splat<V>(1200), select(tiny, splat<V>(-1200), zero));
  const V a = max(abs(z.re), abs(z.im)) * unit, b = min(abs(z.re), abs(z.im)) * unit;
  const Pair<V> square = add(two_product(a, a), two_product(b, b));
  const Pair<V> log = log_pair(fast_two_sum(square.hi, square.lo));
  const Pair<V> back = add({shift * splat<V>(kLn2[0]), shift * splat<V>(kLn2[1])}, log);
  return {splat<V>(0.5) * back.hi, splat<V>(0.5) * back.lo};
}

// log|z| times a factor; -inf at 0, and inf if either part is infinite even if the other is NaN.
template <class V>
TS_INLINE V log_size_times(Complex<V> z, Pair<V> factor) {
  const V value = sum(multiply(log_size(z), factor));
  const MaskOf<V> infinite = is_inf(z.re) | is_inf(z.im);
  const V special = select(infinite, infinity<V>(), select(is_nan(value), z.re + z.im, value));
  return select((z.re == 0) & (z.im == 0), -infinity<V>(), special);
}

template <class V>
TS_INLINE Complex<V> log_complex(Complex<V> z) {
  return {log_size_times(z, {splat<V>(1), V{}}), atan2_f64(z.im, z.re)};
}
template <class V>
TS_INLINE Complex<V> log2_complex(Complex<V> z) {
  const Pair<V> factor = pair_of<V>(kInvLn2Pair);
  return {log_size_times(z, factor), atan2_f64(z.im, z.re) * factor.hi};
}
template <class V>
TS_INLINE Complex<V> log10_complex(Complex<V> z) {
  const Pair<V> factor = pair_of<V>(kInvLn10Pair);
  return {log_size_times(z, factor), atan2_f64(z.im, z.re) * factor.hi};
}

// log(1 + z). Near 0 its real part is log1p(2x + x*x + y*y) / 2, with the sum as a pair.
template <class V>
TS_INLINE Complex<V> log1p_complex(Complex<V> z) {
  const Complex<V> moved = {z.re + 1, z.im};
  const MaskOf<V> near = largest(z) < splat<V>(0.17);
  const V x = select(near, z.re, V{}), y = select(near, z.im, V{});
  const Pair<V> squares = add(two_product(greater(abs(x), abs(y)), greater(abs(x), abs(y))),
                              two_product(lesser(abs(x), abs(y)), lesser(abs(x), abs(y))));
  const Pair<V> f = two_sum(x + x, squares.hi);
  const Pair<V> log = log1p_small(fast_two_sum(f.hi, f.lo + squares.lo));
  const V small = splat<V>(0.5) * sum(log);
  const V re = select(near, small, log_size_times(moved, {splat<V>(1), V{}}));
  const MaskOf<V> real = (z.im == 0) & (z.re > splat<V>(-1));
  return {select(real, log1p_f64(z.re), re), atan2_f64(z.im, moved.re)};
}

// With t = sqrt((|x| + |z|) / 2): t + i y/2t right of the imaginary axis, |y|/2t + i t left of it.
template <class V>
TS_INLINE Complex<V> sqrt_complex(Complex<V> z) {
  const V top = largest(z);
  const MaskOf<V> huge = top > splat<V>(0x1p1000), tiny = top < splat<V>(0x1p-900);
  const V down = select(huge, splat<V>(0x1p-100), select(tiny, splat<V>(0x1p200), splat<V>(1)));
  const V up = select(huge, splat<V>(0x1p50), select(tiny, splat<V>(0x1p-100), splat<V>(1)));
  const V x = abs(z.re) * down, y = z.im * down;
  const V t = sqrt((x + hypot_f64(x, y)) * splat<V>(0.5));
  const V other = abs(y) / (t + t);
  const MaskOf<V> left = signbit(z.re);
  V re = select(left, other, t) * up, im = copysign(select(left, t, other) * up, z.im);
  const MaskOf<V> zero = (z.re == 0) & (z.im == 0), infinite = is_inf(z.re);
  re = select(zero, V{}, re);
  im = select(zero, z.im, im);
  // x infinite and y finite: inf on the axis of x's sign, 0 on the other; a NaN y stays beside it.
  const V quiet = select(is_nan(z.im), z.im, V{});
  re = select(infinite, select(left, quiet, infinity<V>()), re);
  im = select(infinite, copysign(select(left, infinity<V>(), quiet), z.im), im);
  const MaskOf<V> vertical = is_inf(z.im);
  return {select(vertical, infinity<V>(), re), select(vertical, z.im, im)};
}

// Beyond 2^60 the inverse functions are logarithms of 2z to the last bit.
template <class V>
TS_INLINE MaskOf<V> is_far(Complex<V> z) {
  return (abs(z.re) > splat<V>(0x1p60)) | (abs(z.im) > splat<V>(0x1p60));
}
template <class V>
TS_INLINE V log_size_doubled(Complex<V> z) {
  return log_size_times(z, {splat<V>(1), V{}}) + splat<V>(kLn2Pair[0]);
}

template <class V>
TS_INLINE Complex<V> asin_complex(Complex<V> z) {
  const Complex<V> below = sqrt_complex(Complex<V>{splat<V>(1) - z.re, -z.im});
  const Complex<V> above = sqrt_complex(Complex<V>{splat<V>(1) + z.re, z.im});
  const V re = atan2_f64(z.re, below.re * above.re - below.im * above.im);
  const V im = asinh_f64(below.re * above.im - below.im * above.re);
  const Complex<V> far = {atan2_f64(z.re, abs(z.im)), log_size_doubled(z)};
  const Complex<V> w = select(is_far(z), far, Complex<V>{re, im});
  return {select(z.re == 0, z.re, w.re), copysign(w.im, z.im)};
}

template <class V>
TS_INLINE Complex<V> acos_complex(Complex<V> z) {
  const Complex<V> below = sqrt_complex(Complex<V>{splat<V>(1) - z.re, -z.im});
  const Complex<V> above = sqrt_complex(Complex<V>{splat<V>(1) + z.re, z.im});
  const V re = splat<V>(2) * atan2_f64(below.re, above.re);
  const V im = asinh_f64(above.re * below.im - above.im * below.re);
  const Complex<V> far = {atan2_f64(abs(z.im), z.re), log_size_doubled(z)};
  const Complex<V> w = select(is_far(z), far, Complex<V>{re, im});
  const V turned = select((z.re == 0) & is_nan(z.im), splat<V>(kHalfPiPair[0]), w.re);
  return {turned, copysign(w.im, -z.im)};
}

template <class V>
TS_INLINE Complex<V> acosh_complex(Complex<V> z) {
  const Complex<V> below = sqrt_complex(Complex<V>{z.re - 1, z.im});
  const Complex<V> above = sqrt_complex(Complex<V>{z.re + 1, z.im});
  const V re = asinh_f64(below.re * above.re + below.im * above.im);
  const V im = splat<V>(2) * atan2_f64(below.im, above.re);
  const Complex<V> far = {log_size_doubled(z), atan2_f64(z.im, z.re)};
  const Complex<V> w = select(is_far(z), far, Complex<V>{re, im});
  const V turned = select((z.re == 0) & is_nan(z.im), splat<V>(kHalfPiPair[0]), w.im);
  return {w.re, turned};
}

// Re = log1p(4a / ((1 - a)^2 + y*y)) / 4 for a = |x|, Im = atan2(2y, (1 - a)(1 + a) - y*y) / 2.
template <class V>
TS_INLINE Complex<V> atanh_complex(Complex<V> z) {
  const V one = splat<V>(1), a = abs(z.re), y = abs(z.im);
  const V gap = one - a, square = y * y;
  const V ratio = splat<V>(4) * a / fma(gap, gap, square);
  const V beside = splat<V>(0.5) * (log_f64(hypot_f64(splat<V>(2), y)) - log_f64(y));
  const MaskOf<V> vanishes = (a == one) & (y > 0) & (y < splat<V>(0x1p-500));  // y*y does
  V re = select(vanishes, beside, splat<V>(0.25) * log1p_f64(ratio));
  V im = splat<V>(0.5) * atan2_f64(y + y, gap * (one + a) - square);
  const V top = largest(z), turn = splat<V>(kHalfPiPair[0]);
  const V b = a / top, c = y / top;
  const MaskOf<V> infinite = is_inf(z.re) | is_inf(z.im);
  const V far = select(infinite, V{}, b / (fma(b, b, c * c) * top));  // Re(1 / z)
  re = select(is_far(z), far, re);
  im = select(is_far(z) & ~is_nan(z.re) & ~is_nan(z.im), turn, im);
  im = select(is_inf(z.im), turn, select((z.im == 0) & (a < one), V{}, im));
  re = select((z.re == 0) & is_nan(z.im), V{}, re);
  return {copysign(re, z.re), copysign(im, z.im)};
}

// z^n for whole n, 0 <= n < 128, by squaring.
template <class V>
TS_INLINE Complex<V> pow_whole(Complex<V> z, V n) {
  Complex<V> result = {splat<V>(1), V{}};
  for (int bit = 0; bit < 7; ++bit) {
    const V half = floor(n * splat<V>(0.5));
    result = select(half + half != n, result * z, result);
    z = z * z;
    n = half;
  }
  return result;
}

// e^(w log z); by multiplication for a whole real w below 128, as NumPy does. 0^0 = 1.
template <class V>
TS_INLINE Complex<V> pow_complex(Complex<V> z, Complex<V> w) {
  Complex<V> value = exp_complex(w * log_complex(z));
  const V n = abs(w.re), one = splat<V>(1);
  const MaskOf<V> whole = (w.im == 0) & (floor(n) == n) & (n < splat<V>(128));
  if (any(whole)) {
    const Complex<V> direct = pow_whole(z, select(whole, n, V{}));
    const Complex<V> inverse = Complex<V>{one, V{}} / direct;
    value = select(whole, select(w.re < 0, inverse, direct), value);
  }
  const MaskOf<V> zero = (z.re == 0) & (z.im == 0) & ~((w.re == 0) & (w.im == 0));
  const V power = select(w.re > 0, V{}, quiet_nan<V>());
  return select(zero, Complex<V>{power, power}, value);
}

}  // namespace tessella::TS_ISA
