// pow, hypot and cbrt. pow takes the logarithm as a pair, so that the product with the exponent,
// which may reach 745, still has the bits that the result needs. Float lanes are evaluated as
// doubles.
#pragma once
#include "maths_log.h"

namespace tessella::TS_ISA {

// C99's table around a magnitude |x|^y computed for finite, positive |x|.
template <class V>
TS_INLINE V pow_special(V x, V y, V magnitude) {
  const V a = abs(x), half = y * splat<V>(0.5);
  const MaskOf<V> whole = floor(y) == y;  // infinities and large numbers are even
  const MaskOf<V> odd = whole & (floor(half) != half);
  const MaskOf<V> vanishes = (a == 0) ^ (y < 0);
  V value =
      select((a == 0) | (a == infinity<V>()), select(vanishes, V{}, infinity<V>()), magnitude);
  value = select(odd, copysign(value, x), value);
  value = select((x < 0) & (a < infinity<V>()) & ~whole, quiet_nan<V>(), value);
  value = select(is_nan(x) | is_nan(y), quiet_nan<V>(), value);
  return select((x == splat<V>(1)) | (y == 0), splat<V>(1), value);
}

// The table is left out where no lane needs it: 0 < x < inf and y finite.
template <class V>
TS_INLINE V pow_finish(V x, V y, V magnitude) {
  if (all((x > 0) & (x < infinity<V>()) & is_finite(y))) return magnitude;
  return pow_special(x, y, magnitude);
}

template <class V>
TS_OUTLINE void pow_into(V& out, const V& x, const V& y) {
  // Beyond 2^66 every exponent overflows or underflows, because |log(x)| >= 2^-53 unless x is 1.
  const V exponent = clamp(y, -0x1p66, 0x1p66);
  const Pair<V> log = log_pair_of(abs(x));
  const Pair<V> p = multiply(log, exponent);
  const V top = clamp(p.hi, exp_vanishes<V>, 800);
  const ExpParts<V> e = exp_pair(top, select(top == p.hi, p.lo, V{}));
  out = pow_finish(x, y, scale(e.p.hi, e.k));
}

template <class V>
TS_INLINE V pow_f64(V x, V y) {
  V out;
  pow_into(out, x, y);
  return out;
}

// log2 of a positive double that was a float, to 2^-37 of itself.
template <class V>
TS_INLINE V log2_narrow_finite(V x) {
  const Split<V> parts = split_exponent(x);
  const V f = parts.m - 1;
  return fma(f, polynomial(kLog2Narrow, f), parts.e);
}

// 2^x for |x| < 1000, to 2^-32 of itself.
template <class V>
TS_INLINE V exp2_narrow_finite(V x) {
  const V shift = splat<V>(integer_shift<V>);
  const V k = (x + shift) - shift;
  const V r = x - k;
  return fma(r, polynomial(kExp2Narrow, r), splat<V>(1)) * power_of_two(k);
}

template <class V>
TS_INLINE V pow_narrow_finite(V x, V y) {
  const V product = log2_narrow_finite(x) * clamp(y, -0x1p100, 0x1p100);
  return exp2_narrow_finite(clamp(product, -300, 300));
}

template <class V>
TS_INLINE V pow_f32(V x, V y) {
  return pow_finish(x, y, by_doubles(TS_LAMBDA(pow_narrow_finite), abs(x), y));
}

// sqrt(x*x + y*y), the sum as a pair and the root corrected by its residual.
template <class V>
TS_INLINE V hypot_f64(V x, V y) {
  const V a = greater(abs(x), abs(y)), b = lesser(abs(y), abs(x));
  const MaskOf<V> huge = a > splat<V>(0x1p500), tiny = a < splat<V>(0x1p-400);
  const V down = select(huge, splat<V>(0x1p-600), select(tiny, splat<V>(0x1p600), splat<V>(1)));
  const V up = select(huge, splat<V>(0x1p600), select(tiny, splat<V>(0x1p-600), splat<V>(1)));
  const V c = a * down, d = b * down;
  const Pair<V> square = add(two_product(c, c), two_product(d, d));
  const V root = sqrt(square.hi);
  const Pair<V> p = two_product(root, root);
  const V rest = ((square.hi - p.hi) - p.lo) + square.lo;
  const V value = (root + select(root > 0, splat<V>(0.5) * rest / root, V{})) * up;
  const MaskOf<V> infinite = is_inf(x) | is_inf(y);
  return select(infinite, infinity<V>(), select(is_nan(x) | is_nan(y), quiet_nan<V>(), value));
}

// For doubles that were floats the squares are exact and cannot overflow.
template <class V>
TS_INLINE V hypot_narrow(V x, V y) {
  return select(is_inf(x) | is_inf(y), infinity<V>(), sqrt(fma(x, x, y * y)));
}

// r -> r + r (1 - m r^3) / 3: Newton for 1 / cbrt(m), without a division.
template <class V>
TS_INLINE V inverse_root_step(V r, V m) {
  const V third = splat<V>(1.0 / 3.0);
  return fma(r * third, splat<V>(1) - m * r * r * r, r);
}

// a = m 2^(3q) with m in [0.7, 5.7), and m^(-1/3) to 20 bits; a positive and normal.
template <class V>
struct RootSplit {
  V m, q, start;
};
template <class V>
TS_INLINE RootSplit<V> split_for_root(V a) {
  const Split<V> parts = split_exponent(a);
  const V q = rint((parts.e - 1) * splat<V>(1.0 / 3.0));
  const V j = parts.e - splat<V>(3) * q;                                     // 0, 1 or 2
  const V shrink = select(j == splat<V>(1), splat<V>(0x1.965fea53d6e3dp-1),  // 2^(-1/3), 2^(-2/3)
                          select(j == 0, splat<V>(1), splat<V>(0x1.428a2f98d728bp-1)));
  return {parts.m * power_of_two(j), q, polynomial(kRootCube, parts.m) * shrink};
}

// The root of m, corrected by its residual, times 2^q.
template <class V>
TS_INLINE V cbrt_f64(V x) {
  const V a = abs(x);
  const MaskOf<V> tiny = a < splat<V>(0x1p-1022);
  const RootSplit<V> parts = split_for_root(select(tiny, a * splat<V>(0x1p54), a));
  const V m = parts.m;
  const V r = inverse_root_step(inverse_root_step(parts.start, m), m);
  const V y = m * r * r;
  const Pair<V> square = two_product(y, y);
  const Pair<V> cube = two_product(square.hi, y);
  const V rest = (m - cube.hi) - fma(square.lo, y, cube.lo);
  const V root = fma(rest * splat<V>(1.0 / 3.0), r * r, y);
  const V value = root * power_of_two(select(tiny, parts.q - 18, parts.q));
  return select((a > 0) & (a < infinity<V>()), copysign(value, x), x);
}

}  // namespace tessella::TS_ISA
