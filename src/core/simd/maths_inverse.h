// asin, acos, atan and atan2 in double lanes. Float lanes use them as they are, evaluated as
// doubles. The inverse hyperbolic functions are logarithms, see maths_log.h.
#pragma once
#include "maths_pair.h"

namespace tessella::TS_ISA {

// What asin and acos share: asin(u) = u + tail for u = |x| up to 1/2, and above that for
// u = sqrt((1 - |x|) / 2), whose error is in `low`; asin(|x|) = pi/2 - 2 asin(u) there.
template <class V>
struct ArcSine {
  MaskOf<V> near_one;
  V u, low, tail;
};
template <class V>
TS_INLINE ArcSine<V> arc_sine(V a) {
  const MaskOf<V> near_one = a > splat<V>(0.5);
  const V z = select(near_one, (splat<V>(1) - a) * splat<V>(0.5), a * a);
  const V u = select(near_one, sqrt(z), a);
  const Pair<V> square = two_product(u, u);
  const V rest = ((z - square.hi) - square.lo) * splat<V>(0.5) / u;
  const V low = select(near_one & (u > 0), rest, V{});
  return {near_one, u, low, u * z * polynomial(kAsin, z)};
}

template <class V>
TS_INLINE V asin_f64(V x) {
  const V a = abs(x);
  const ArcSine<V> t = arc_sine(a);
  const V twice = t.tail + t.low;
  const Pair<V> lead = fast_two_sum(splat<V>(kHalfPiPair[0]), splat<V>(-2) * t.u);
  const V far = lead.hi + (lead.lo + (splat<V>(kHalfPiPair[1]) - (twice + twice)));
  const V value = copysign(select(t.near_one, far, t.u + t.tail), x);
  return select(a <= splat<V>(1), value, quiet_nan<V>());
}

// pi/2 - asin(x) up to 1/2; 2 asin(u) near 1 and pi - 2 asin(u) near -1.
template <class V>
TS_INLINE V acos_f64(V x) {
  const V a = abs(x);
  const ArcSine<V> t = arc_sine(a);
  const MaskOf<V> negative = x < 0;
  const V sign = select(negative, splat<V>(-1), splat<V>(1));
  const V turns = select(t.near_one, select(negative, splat<V>(2), V{}), splat<V>(1));
  const V factor = select(t.near_one, splat<V>(2), splat<V>(-1)) * sign;
  const Pair<V> lead = two_sum(turns * splat<V>(kHalfPiPair[0]), factor * t.u);
  const V low = fma(factor, t.tail + t.low, turns * splat<V>(kHalfPiPair[1]));
  return select(a <= splat<V>(1), lead.hi + (lead.lo + low), quiet_nan<V>());
}

// The angle of the point (x, y) with x, y >= 0, not both 0 and both below 2^900. A turn by pi/4 or
// pi/2 brings the quotient below tan(pi/8); it is taken as a pair.
template <class V>
TS_INLINE Pair<V> first_quadrant(V y, V x) {
  const MaskOf<V> steep = y > x * splat<V>(0x1.3504f333f9de6p+1);    // tan(3 pi / 8)
  const MaskOf<V> slanted = y > x * splat<V>(0x1.a827999fcef32p-2);  // tan(pi / 8)
  const Pair<V> difference = two_sum(y, -x), total = two_sum(y, x);
  const V zero = V{};
  const Pair<V> above = {select(steep, -x, select(slanted, difference.hi, y)),
                         select(slanted & ~steep, difference.lo, zero)};
  const Pair<V> below = {select(steep, y, select(slanted, total.hi, x)),
                         select(slanted & ~steep, total.lo, zero)};
  const V u = above.hi / below.hi;
  const Pair<V> p = two_product(u, below.hi);
  const V rest = (((above.hi - p.hi) - p.lo) + (above.lo - u * below.lo)) / below.hi;
  const V low =
      select(abs(above.hi) > splat<V>(0x1p-900), rest, zero);  // else p.lo may be subnormal
  const V eighths = select(steep, splat<V>(1), select(slanted, splat<V>(0.5), zero));
  const V z = u * u;
  const V tail = fma(u * z, polynomial(kAtan, z), low + eighths * splat<V>(kHalfPiPair[1]));
  const Pair<V> lead = fast_two_sum(eighths * splat<V>(kHalfPiPair[0]), u);
  return {lead.hi, lead.lo + tail};
}

template <class V>
TS_INLINE V atan_f64(V x) {
  const V a = lesser(splat<V>(0x1p60), abs(x));  // from there on pi/2; NaN stays
  return copysign(sum(first_quadrant(a, splat<V>(1))), x);
}

// After C99: the signs of zeros count, and infinities are met as limits along the diagonal.
template <class V>
TS_INLINE V atan2_f64(V y, V x) {
  V ay = abs(y), ax = abs(x);
  const MaskOf<V> both = (ay == ax) & ((ay == 0) | (ay == infinity<V>()));
  const V one = splat<V>(1);
  const V diagonal = select(ay == 0, V{}, one);
  // Both are scaled alike where their quotient's error terms would overflow or be subnormal.
  const V larger = greater(ay, ax);
  const MaskOf<V> huge = larger > splat<V>(0x1p899), tiny = larger < splat<V>(0x1p-899);
  const V unit = select(huge, splat<V>(0x1p-130), select(tiny, splat<V>(0x1p130), one));
  const MaskOf<V> y_rules = ay == infinity<V>(), x_rules = ax == infinity<V>();
  ay = select(both, diagonal, select(x_rules, V{}, select(y_rules, one, ay * unit)));
  ax = select(both | x_rules, one, select(y_rules, V{}, ax * unit));
  const Pair<V> angle = first_quadrant(ay, ax);
  const Pair<V> turned = two_sum(splat<V>(2 * kHalfPiPair[0]), -angle.hi);
  const V left = turned.hi + (turned.lo + (splat<V>(2 * kHalfPiPair[1]) - angle.lo));
  const V value = copysign(select(signbit(x), left, sum(angle)), y);
  return select(is_nan(x) | is_nan(y), x + y, value);
}

}  // namespace tessella::TS_ISA
