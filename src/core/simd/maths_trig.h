// sin, cos and tan of double lanes, and of float lanes evaluated as doubles, from the reduced angle
// of maths_reduce.h. Inverse functions are in maths_inverse.h; dispatch by lane type is in maths.h.
#pragma once
#include "maths_reduce.h"

namespace tessella::TS_ISA {

// sin(r) as a pair, |r| <= pi/4.
template <class V>
TS_INLINE Pair<V> sin_pair(Pair<V> r) {
  const V z = r.hi * r.hi;
  const V tail = fma(r.hi * z, polynomial(kSin, z), r.lo - splat<V>(0.5) * z * r.lo);
  return {r.hi, tail};
}

// cos(r) as a pair, |r| <= pi/4: 1 - z/2 is exact as a pair.
template <class V>
TS_INLINE Pair<V> cos_pair(Pair<V> r) {
  const Pair<V> z = two_product(r.hi, r.hi);
  const Pair<V> lead = fast_two_sum(splat<V>(1), splat<V>(-0.5) * z.hi);
  const V small = fma(splat<V>(-0.5), z.lo, -(r.hi * r.lo));
  return {lead.hi, lead.lo + fma(z.hi * z.hi, polynomial(kCos, z.hi), small)};
}

template <class V>
TS_INLINE Pair<V> select(MaskOf<V> mask, Pair<V> a, Pair<V> b) {
  return {select(mask, a.hi, b.hi), select(mask, a.lo, b.lo)};
}

// Flips the sign where bit 1 of the quadrant is set.
template <class V>
TS_INLINE V signed_by(V x, BitsOf<V> quadrant) {
  return (V)((BitsOf<V>)x ^ ((quadrant >> 1) << 63));
}

template <class V>
TS_INLINE MaskOf<V> is_odd(BitsOf<V> quadrant) {
  return (quadrant & 1) != 0;
}

template <class V>
TS_INLINE V sin_f64(V x) {
  const Angle<V> angle = reduce(x);
  const MaskOf<V> odd = is_odd<V>(angle.quadrant);
  const V value = sum(select<V>(odd, cos_pair(angle.r), sin_pair(angle.r)));
  return select(x == 0, x, signed_by(value, angle.quadrant));
}

template <class V>
TS_INLINE V cos_f64(V x) {
  const Angle<V> angle = reduce(x);
  const MaskOf<V> odd = is_odd<V>(angle.quadrant);
  const V value = sum(select<V>(odd, sin_pair(angle.r), cos_pair(angle.r)));
  return signed_by(value, angle.quadrant + 1);
}

// sin / cos, or -cos / sin in odd quadrants.
template <class V>
TS_INLINE V tan_f64(V x) {
  const Angle<V> angle = reduce(x);
  const Pair<V> s = sin_pair(angle.r), c = cos_pair(angle.r);
  const MaskOf<V> odd = is_odd<V>(angle.quadrant);
  const Pair<V> above = select<V>(odd, c, s), below = select<V>(odd, s, c);
  const Pair<V> a = fast_two_sum(above.hi, above.lo), b = fast_two_sum(below.hi, below.lo);
  const V value = signed_by(sum(divide(a, b)), (angle.quadrant & 1) << 1);
  return select(abs(x) < splat<V>(0x1p-30), x, value);
}

// The same three for doubles that were floats: polynomials of half the degree and no pairs.
template <class V>
struct SinCos {
  BitsOf<V> quadrant;
  V sin, cos;
};
template <class V>
TS_INLINE SinCos<V> sincos_narrow(V x) {
  const Angle<V> angle = reduce_narrow(x);
  const V r = angle.r.hi, z = r * r;
  const V sine = r * fma(z, polynomial(kSinNarrow, z), splat<V>(1));  // a product keeps -0
  const V lead = fma(splat<V>(-0.5), z, splat<V>(1));
  return {angle.quadrant, sine, fma(z * z, polynomial(kCosNarrow, z), lead)};
}

template <class V>
TS_INLINE V sin_narrow(V x) {
  const SinCos<V> t = sincos_narrow(x);
  return signed_by(select(is_odd<V>(t.quadrant), t.cos, t.sin), t.quadrant);
}

template <class V>
TS_INLINE V cos_narrow(V x) {
  const SinCos<V> t = sincos_narrow(x);
  return signed_by(select(is_odd<V>(t.quadrant), t.sin, t.cos), t.quadrant + 1);
}

template <class V>
TS_INLINE V tan_narrow(V x) {
  const SinCos<V> t = sincos_narrow(x);
  const MaskOf<V> odd = is_odd<V>(t.quadrant);
  return select(odd, -t.cos, t.sin) / select(odd, t.sin, t.cos);
}

}  // namespace tessella::TS_ISA
