// Functions of float lanes that are evaluated as doubles: short polynomials, no compensation, and
// results that are nearly always the correctly rounded float. Arguments are doubles that were
// floats, so they are never subnormal and their squares never overflow. sin, cos and tan are in
// maths_trig.h.
#pragma once
#include "maths_erf.h"
#include "maths_log.h"
#include "maths_power.h"

namespace tessella::TS_ISA {

template <class V>
TS_INLINE V exp2_narrow(V x) {
  return exp2_narrow_finite(clamp(x, -160, 130));
}

template <class V>
TS_INLINE V log2_narrow(V x) {
  return log_special(x, log2_narrow_finite(x));
}

template <class V>
TS_INLINE V log10_narrow(V x) {
  return log_special(x, log2_narrow_finite(x) * splat<V>(0x1.34413509f79ffp-2));  // log10(2)
}

// Below 2^-13 the bits that 1 + x loses would be missed: two terms of the series are enough.
template <class V>
TS_INLINE V log1p_narrow(V x) {
  const V y = x + 1;
  const V near = fma(x * x, fma(x, splat<V>(1.0 / 3.0), splat<V>(-0.5)), x);
  const V far = log_special(y, log2_narrow_finite(y) * splat<V>(kLn2Pair[0]));
  return select(abs(x) < splat<V>(0x1p-13), near, far);
}

// 2^k - 1 + 2^k (e^r - 1), with e^r - 1 to 2^-32 of itself.
template <class V>
TS_INLINE V expm1_narrow_finite(V x) {
  const V shift = splat<V>(integer_shift<V>);
  const V y = x * splat<V>(kInvLn2Pair[0]);
  const V k = (y + shift) - shift;
  const V r = y - k;
  const V power = power_of_two(k);
  return fma(power, r * polynomial(kExp2Narrow, r), power - 1);
}

template <class V>
TS_INLINE V expm1_narrow(V x) {
  return copysign(expm1_narrow_finite(clamp(x, -60, 90)), x);
}

template <class V>
TS_INLINE V sinh_narrow(V x) {
  const V e = expm1_narrow_finite(lesser(splat<V>(91), abs(x)));
  return copysign(splat<V>(0.5) * (e + e / (e + 1)), x);
}

template <class V>
TS_INLINE V cosh_narrow(V x) {
  const V e = exp2_narrow_finite(lesser(splat<V>(91), abs(x)) * splat<V>(kInvLn2Pair[0]));
  return splat<V>(0.5) * (e + splat<V>(1) / e);
}

// max(x, 0) + log1p(e^-|x|).
template <class V>
TS_INLINE V softplus_narrow(V x) {
  const V scaled = -abs(x) * splat<V>(kInvLn2Pair[0]);
  const V e = exp2_narrow_finite(greater(splat<V>(-200), scaled));
  return greater(V{}, x) + log1p_narrow(e);
}

template <class V>
TS_INLINE V asinh_narrow(V x) {
  const V a = abs(x), square = a * a;
  const V y = select(a < splat<V>(0x1p60), a + square / (splat<V>(1) + sqrt(square + 1)), a + a);
  return copysign(log1p_narrow(y), x);
}

template <class V>
TS_INLINE V acosh_narrow(V x) {
  const V t = x - 1;
  const V value = log1p_narrow(t + sqrt(t * (t + 2)));
  return select(x < splat<V>(1), quiet_nan<V>(), value);
}

template <class V>
TS_INLINE V atanh_narrow(V x) {
  const V a = abs(x);
  return copysign(splat<V>(0.5) * log1p_narrow((a + a) / (splat<V>(1) - a)), x);
}

// asin(u) for u = |x| up to 1/2, and for u = sqrt((1 - |x|) / 2) above it.
template <class V>
TS_INLINE V arc_sine_narrow(V a, MaskOf<V> near_one) {
  const V z = select(near_one, (splat<V>(1) - a) * splat<V>(0.5), a * a);
  const V u = select(near_one, sqrt(z), a);
  return u * fma(z, polynomial(kAsinNarrow, z), splat<V>(1));
}

template <class V>
TS_INLINE V asin_narrow(V x) {
  const V a = abs(x);
  const MaskOf<V> near_one = a > splat<V>(0.5);
  const V t = arc_sine_narrow(a, near_one);
  const V value = select(near_one, splat<V>(kHalfPiPair[0]) - (t + t), t);
  return copysign(select(a > splat<V>(1), quiet_nan<V>(), value), x);
}

template <class V>
TS_INLINE V acos_narrow(V x) {
  const V a = abs(x), half_pi = splat<V>(kHalfPiPair[0]);
  const MaskOf<V> near_one = a > splat<V>(0.5), negative = x < 0;
  const V t = arc_sine_narrow(a, near_one);
  const V outer = select(negative, half_pi + half_pi - (t + t), t + t);
  const V value = select(near_one, outer, half_pi - select(negative, -t, t));
  return select(a > splat<V>(1), quiet_nan<V>(), value);
}

// The angle of the point (x, y), x and y >= 0: see first_quadrant in maths_inverse.h.
template <class V>
TS_INLINE V first_quadrant_narrow(V y, V x) {
  const MaskOf<V> steep = y > x * splat<V>(0x1.3504f333f9de6p+1);    // tan(3 pi / 8)
  const MaskOf<V> slanted = y > x * splat<V>(0x1.a827999fcef32p-2);  // tan(pi / 8)
  const V above = select(steep, -x, select(slanted, y - x, y));
  const V below = select(steep, y, select(slanted, y + x, x));
  const V turn = splat<V>(kHalfPiPair[0]);
  const V base = select(steep, turn, select(slanted, turn * splat<V>(0.5), V{}));
  const V u = above / below, z = u * u;
  return base + u * fma(z, polynomial(kAtanNarrow, z), splat<V>(1));
}

template <class V>
TS_INLINE V atan_narrow(V x) {
  return copysign(first_quadrant_narrow(lesser(splat<V>(0x1p60), abs(x)), splat<V>(1)), x);
}

// Infinities become 2^500, beyond every float; two zeros become the angle 0.
template <class V>
TS_INLINE V atan2_narrow(V y, V x) {
  const V top = splat<V>(0x1p500);
  const V ay = lesser(top, abs(y));
  const V ax = select((x == 0) & (y == 0), splat<V>(1), lesser(top, abs(x)));
  const V angle = first_quadrant_narrow(ay, ax);
  return copysign(select(signbit(x), splat<V>(2 * kHalfPiPair[0]) - angle, angle), y);
}

template <class V>
TS_INLINE V erfc_narrow(V x) {
  const V a = abs(x), b = lesser(splat<V>(12), a);
  const V t = (b - splat<V>(3.75)) / (b + splat<V>(3.75));
  const V e = exp2_narrow_finite(b * b * splat<V>(-kInvLn2Pair[0]));
  const V tail = e * (splat<V>(1) + polynomial(kErfcNarrow, t)) / (b + b + 1);
  const V near = splat<V>(1) - fma(x, polynomial(kErf, x * x), x);
  return select(a < splat<V>(0.5), near, select(x < 0, splat<V>(2) - tail, tail));
}

template <class V>
TS_INLINE V cbrt_narrow(V x) {
  const V a = abs(x);
  const RootSplit<V> parts = split_for_root(a);
  const V r = inverse_root_step(parts.start, parts.m);
  const V value = copysign(parts.m * r * r * power_of_two(parts.q), x);
  return select((a > 0) & (a < infinity<V>()), value, x);
}

}  // namespace tessella::TS_ISA
