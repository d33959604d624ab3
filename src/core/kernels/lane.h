// Values of one lane that take more than an operator or a function of simd/: signs, rounding of
// integers, division and remainders, powers, shifts. What C leaves undefined is defined here:
// integer division and remainder by zero give 0, the lowest integer divided by -1 gives itself,
// shifts by a negative count or by the width or more push every bit out, integer powers wrap, and
// an integer to a negative power is 1/x truncated (0 for x = 0).
#pragma once

#include "lanes.h"

namespace tessella::TS_ISA::lane {

template <class V>
constexpr bool is_complex = false;
template <class V>
constexpr bool is_complex<Complex<V>> = true;
template <class V>
constexpr bool is_bool = false;
template <int N>
constexpr bool is_bool<Bool<N>> = true;
template <class V>
constexpr bool is_float = static_cast<Lane<V>>(0.5) != 0;
template <class V>
constexpr bool is_signed = static_cast<Lane<V>>(-1) < 0;

template <class V>
TS_INLINE V one() {
  return splat<V>(static_cast<Lane<V>>(1));
}

template <class V>
TS_INLINE V sign(V x) {
  if constexpr (is_complex<V>) {
    return simd::sign(x);
  } else if constexpr (is_float<V>) {
    V zero{};
    V unit = simd::copysign(one<V>(), x), none = x == x ? zero : x;  // NaN stays NaN
    return x > zero || x < zero ? unit : none;
  } else {
    V zero{};
    V high = x > zero ? one<V>() : zero;
    return x < zero ? zero - one<V>() : high;
  }
}

template <class V>
TS_INLINE V reciprocal(V x) {
  if constexpr (is_complex<V>)
    return simd::reciprocal(x);
  else
    return one<V>() / x;
}

template <class V>
TS_INLINE V relu(V x) {
  return x < V{} ? V{} : x;
}  // NaN stays NaN

// x / (1 + exp(-u)). Where u is negative, x w w / (1 + w w) of w = exp(u / 2): multiplied in that
// order, no factor underflows before the product does.
template <class V>
TS_INLINE V times_sigmoid(V x, V u) {
  V half = simd::exp(simd::abs(u) * splat<V>(static_cast<Lane<V>>(-0.5)));
  V below = one<V>() + half * half;
  return u < V{} ? x * half * half / below : x / below;
}

template <class V>
TS_INLINE V silu(V x) {
  return times_sigmoid(x, x);
}

template <class V>
TS_INLINE V gelu(V x) {
  constexpr double root = -0.70710678118654752440;  // -sqrt(1/2)
  if constexpr (same_type<Lane<V>, float>)
    return gelu_f32(x);
  else
    return x * splat<V>(0.5) * simd::erfc(x * splat<V>(root));
}

template <class V>
TS_INLINE V gelu_slope(V x) {
  constexpr double root = -0.70710678118654752440, share = 0.39894228040143267794;  // 1/sqrt(2 pi)
  if constexpr (same_type<Lane<V>, float>)
    return gelu_slope_f32(x);
  else
    return -(-x * simd::exp(x * x * splat<V>(-0.5)) * splat<V>(share) -
             splat<V>(0.5) * simd::erfc(x * splat<V>(root)));
}

// x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x**3): PyTorch's and the original's approximation.
template <class V>
TS_INLINE V gelu_tanh(V x) {
  constexpr Lane<V> scale = static_cast<Lane<V>>(2 * 0.79788456080286535588);
  V u = splat<V>(scale) * (x + splat<V>(static_cast<Lane<V>>(0.044715)) * x * x * x);
  return times_sigmoid(x, u);
}

// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), e = exp(x); 1 in every digit above x = 40.
template <class V>
TS_INLINE V mish(V x) {
  constexpr Lane<V> most = static_cast<Lane<V>>(40);
  V half =
      simd::exp((x > splat<V>(most) ? splat<V>(most) : x) * splat<V>(static_cast<Lane<V>>(0.5)));
  V more = half * half + splat<V>(static_cast<Lane<V>>(2));
  V below = half * half * more + splat<V>(static_cast<Lane<V>>(2));
  return x < V{} ? x * half * (half * more / below) : x * (half * half * more / below);
}

#define TS_ROUNDING(name, function) \
  template <class V>                \
  TS_INLINE V name(V x) {           \
    if constexpr (is_float<V>)      \
      return function(x);           \
    else                            \
      return x;                     \
  }
TS_ROUNDING(floor, simd::floor)
TS_ROUNDING(ceil, simd::ceil)
TS_ROUNDING(trunc, simd::trunc)
#undef TS_ROUNDING

template <class V>
TS_INLINE V round(V x) {
  if constexpr (is_complex<V>)
    return {simd::rint(x.re), simd::rint(x.im)};
  else if constexpr (is_float<V>)
    return simd::rint(x);
  else
    return x;
}

template <class V>
TS_INLINE V conj(V x) {
  if constexpr (is_complex<V>)
    return {x.re, -x.im};
  else
    return x;
}

template <class V>
TS_INLINE auto real(V x) {
  if constexpr (is_complex<V>)
    return x.re;
  else
    return x;
}

template <class V>
TS_INLINE auto is_zero(V x) {
  if constexpr (is_complex<V>)
    return (x.re == decltype(x.re){}) & (x.im == decltype(x.im){});
  else if constexpr (is_bool<V>)
    return ~x;
  else
    return x == V{};
}

template <class V>
TS_INLINE auto is_not_zero(V x) {
  if constexpr (is_complex<V>)
    return (x.re != decltype(x.re){}) | (x.im != decltype(x.im){});
  else if constexpr (is_bool<V>)
    return x;
  else
    return x != V{};
}

template <class V>
TS_INLINE auto is_nan(V x) {
  if constexpr (is_complex<V>)
    return (x.re != x.re) | (x.im != x.im);
  else
    return x != x;
}

template <class V>
TS_INLINE auto is_inf(V x) {
  if constexpr (is_complex<V>)
    return is_inf(x.re) | is_inf(x.im);
  else if constexpr (is_float<V>)
    return simd::abs(x) == splat<V>(static_cast<Lane<V>>(__builtin_inf()));
  else
    return MaskOf<V>{};
}

template <class V>
TS_INLINE auto is_finite(V x) {
  if constexpr (is_complex<V>)
    return is_finite(x.re) & is_finite(x.im);
  else if constexpr (is_float<V>)
    return simd::abs(x) < splat<V>(static_cast<Lane<V>>(__builtin_inf()));
  else
    return x == x;
}

template <class V>
TS_INLINE V maximum(V x, V y) {
  if constexpr (is_bool<V>)
    return x | y;
  else
    return simd::max(x, y);
}
template <class V>
TS_INLINE V minimum(V x, V y) {
  if constexpr (is_bool<V>)
    return x & y;
  else
    return simd::min(x, y);
}

// One lane at a time, for what has no vector form.
template <class V, class F>
TS_INLINE V each(V x, V y, F f) {
  V out;
  for (int i = 0; i < lanes<V>; ++i) out[i] = f(x[i], y[i]);
  return out;
}

TS_INLINE float fmod_one(float x, float y) { return __builtin_fmodf(x, y); }
TS_INLINE double fmod_one(double x, double y) { return __builtin_fmod(x, y); }
TS_INLINE float floor_one(float x) { return __builtin_floorf(x); }
TS_INLINE double floor_one(double x) { return __builtin_floor(x); }

TS_INLINE float copysign_one(float x, float y) { return __builtin_copysignf(x, y); }
TS_INLINE double copysign_one(double x, double y) { return __builtin_copysign(x, y); }

// The quotient rounded towards zero.
template <class T>
TS_INLINE T quotient_one(T x, T y) {
  if (y == 0) return 0;
  if constexpr (static_cast<T>(-1) < 0)
    if (y == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<uint64_t>(x));
  return static_cast<T>(x / y);
}

template <class T>
TS_INLINE T remainder_of_quotient(T x, T y, T quotient) {
  if (y == 0) return 0;
  uint64_t product = static_cast<uint64_t>(quotient) * static_cast<uint64_t>(y);
  return static_cast<T>(static_cast<uint64_t>(x) - product);
}

// C's remainder: the sign of x.
template <class V>
TS_INLINE V fmod(V x, V y) {
  using T = Lane<V>;
  return each(x, y, [](T a, T b) -> T {
    if constexpr (is_float<V>)
      return fmod_one(a, b);
    else
      return remainder_of_quotient(a, b, quotient_one(a, b));
  });
}

template <class T>
TS_INLINE T remainder_one(T a, T b) {
  if constexpr (static_cast<T>(0.5) != 0) {
    T r = fmod_one(a, b);
    if (r == 0) return b < 0 ? static_cast<T>(-0.0) : static_cast<T>(0.0);
    return (r < 0) != (b < 0) ? r + b : r;
  } else {
    T r = remainder_of_quotient(a, b, quotient_one(a, b));
    if constexpr (static_cast<T>(-1) < 0)
      if (r != 0 && (r < 0) != (b < 0)) return static_cast<T>(r + b);
    return r;
  }
}

// Python's remainder: the sign of y.
template <class V>
TS_INLINE V remainder(V x, V y) {
  return each(x, y, [](Lane<V> a, Lane<V> b) { return remainder_one(a, b); });
}

// floor(x / y), exact where the quotient is representable: (x - remainder) / y, rounded.
template <class T>
TS_INLINE T floor_divide_one(T a, T b) {
  if constexpr (static_cast<T>(0.5) != 0) {
    // Where a zero divides, or a part is infinite or NaN, the quotient needs no rounding; a number
    // over infinity is a zero, where Python has -1 for numbers of different signs.
    bool is_ordinary = a - a == 0 && b - b == 0;
    if (b == 0 || !is_ordinary) return a / b;
    T quotient = (a - remainder_one(a, b)) / b;
    if (quotient == 0) return copysign_one(static_cast<T>(0), a / b);
    T down = floor_one(quotient);
    return quotient - down > static_cast<T>(0.5) ? down + 1 : down;
  } else {
    T quotient = quotient_one(a, b);
    if constexpr (static_cast<T>(-1) < 0) {
      T r = remainder_of_quotient(a, b, quotient);
      if (r != 0 && (r < 0) != (b < 0)) return static_cast<T>(quotient - 1);
    }
    return quotient;
  }
}

template <class V>
TS_INLINE V floor_divide(V x, V y) {
  return each(x, y, [](Lane<V> a, Lane<V> b) { return floor_divide_one(a, b); });
}

template <class T>
inline T power_one(T base, T exponent) {
  if constexpr (static_cast<T>(-1) < 0)
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == static_cast<T>(-1)) return exponent & 1 ? static_cast<T>(-1) : static_cast<T>(1);
      return 0;
    }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left; left >>= 1, square *= square)
    if (left & 1) result *= square;
  return static_cast<T>(result);
}

template <class V>
TS_INLINE V pow(V x, V y) {
  if constexpr (is_complex<V>)
    return simd::pow(x, y);
  else if constexpr (is_float<V>)
    return simd::pow(x, y);
  else
    return each(x, y, [](Lane<V> a, Lane<V> b) { return power_one(a, b); });
}

// Shift counts are unsigned lanes: a negative count is a huge one.
template <class V>
TS_INLINE V shift_left(V x, V y) {
  using U = BitsOf<V>;
  U count = bitcast<U>(y), width = splat<U>(sizeof(Lane<V>) * 8);
  U shifted = bitcast<U>(x) << (count < width ? count : U{});
  return bitcast<V>(count < width ? shifted : U{});
}

template <class V>
TS_INLINE V shift_right(V x, V y) {
  using U = BitsOf<V>;
  U count = bitcast<U>(y), last = splat<U>(sizeof(Lane<V>) * 8 - 1);
  U bounded = count > last ? last : count;
  if constexpr (is_signed<V>)
    return x >> bitcast<V>(bounded);
  else
    return count > last ? V{} : x >> bitcast<V>(bounded);
}

// |x| as unsigned lanes, which hold that of the lowest integer too.
template <class V>
TS_INLINE BitsOf<V> magnitude(V x) {
  using U = BitsOf<V>;
  if constexpr (is_signed<V>)
    return x < V{} ? U{} - bitcast<U>(x) : bitcast<U>(x);
  else
    return bitcast<U>(x);
}

template <class U>
TS_INLINE U gcd_one(U a, U b) {
  while (b != 0) {
    U rest = static_cast<U>(a % b);
    a = b;
    b = rest;
  }
  return a;
}

// The greatest common divisor, 0 for two zeros. That of the lowest integer and 0 or itself is one
// more than the largest integer, and wraps.
template <class V>
TS_INLINE V gcd(V x, V y) {
  using U = BitsOf<V>;
  return bitcast<V>(each(magnitude(x), magnitude(y),
                         [](Lane<U> a, Lane<U> b) -> Lane<U> { return gcd_one(a, b); }));
}

// The least common multiple, 0 beside a zero; one that is too large wraps.
template <class V>
TS_INLINE V lcm(V x, V y) {
  using U = BitsOf<V>;
  return bitcast<V>(each(magnitude(x), magnitude(y), [](Lane<U> a, Lane<U> b) -> Lane<U> {
    if (a == 0 || b == 0) return 0;
    return static_cast<Lane<U>>(static_cast<uint64_t>(a / gcd_one(a, b)) * b);
  }));
}

// How many bits of |x| are set: sums of 2, 4 and 8 bits, then of bytes.
template <class V>
TS_INLINE V bit_count(V x) {
  using U = BitsOf<V>;
  using T = Lane<U>;
  constexpr int width = 8 * sizeof(T);
  const U twos = splat<U>(static_cast<T>(0x5555555555555555));
  const U fours = splat<U>(static_cast<T>(0x3333333333333333));
  const U bytes = splat<U>(static_cast<T>(0x0f0f0f0f0f0f0f0f));
  U bits = magnitude(x);
  bits = bits - ((bits >> 1) & twos);
  bits = (bits & fours) + ((bits >> 2) & fours);
  bits = (bits + (bits >> 4)) & bytes;
  if constexpr (width > 8) bits += bits >> 8;
  if constexpr (width > 16) bits += bits >> 16;
  if constexpr (width > 32) bits += bits >> 32;
  return bitcast<V>(bits & splat<U>(static_cast<T>(0x7f)));
}

// log(x / (1 - x)); between 1/4 and 3/4, where the quotient is near 1, by the difference from it.
template <class V>
TS_INLINE V logit(V x) {
  const V unit = one<V>(), rest = unit - x;
  const V near = simd::log1p((x + x - unit) / rest), far = simd::log(x / rest);
  const V half = splat<V>(static_cast<Lane<V>>(0.5)), quarter = half * half;
  return simd::abs(x - half) < quarter ? near : far;
}

// x log(y), and 0 for x = 0 unless y is NaN.
template <class V>
TS_INLINE V xlogy(V x, V y) {
  const V product = x * simd::log(y);
  return ((x == V{}) & (y == y)) ? V{} : product;
}

// x + w (y - x), from whichever end is nearer, so that rounding misses neither of them.
template <class V>
TS_INLINE V lerp(V x, V y, V w) {
  const V way = y - x;
  if constexpr (is_complex<V>) {
    using R = decltype(x.re);
    const V near = x + way * w, far = y - way * V{splat<R>(1) - w.re, -w.im};
    const auto is_near = simd::abs(w) < splat<R>(static_cast<Lane<R>>(0.5));
    return {is_near ? near.re : far.re, is_near ? near.im : far.im};
  } else {
    const V near = x + way * w, far = y - way * (one<V>() - w);
    return simd::abs(w) < splat<V>(static_cast<Lane<V>>(0.5)) ? near : far;
  }
}

// The neighbour of x towards y: floats of one sign are ordered like their bits. Numbers of a
// narrower format with the same exponents leave the last bits 0.
template <int unused, class V>
TS_INLINE V nextafter_bits(V x, V y) {
  using M = MaskOf<V>;
  M bits = bitcast<M>(x), step = (M{} + 1) << unused;
  M away = (x > V{}) == (y > x) ? step : -step;
  V tiny = simd::copysign(bitcast<V>(step), y);
  V moved = x == V{} ? tiny : bitcast<V>(bits + away);
  V result = x == y ? y : moved;
  return x != x || y != y ? x + y : result;
}
template <class V>
TS_INLINE V nextafter(V x, V y) {
  return nextafter_bits<0>(x, y);
}

// float16 as float32: from 2^-14 on 13 bits are unused, below it are multiples of 2^-24, and above
// 65504 is infinity.
template <class V>
TS_INLINE V nextafter_float16(V x, V y) {
  const V size = simd::abs(x), least = splat<V>(0x1p-14f), quantum = splat<V>(0x1p-24f);
  const MaskOf<V> up = y > x, shrinks = (x > V{}) != up;
  const MaskOf<V> low = (size < least) | ((size == least) & shrinks);
  const V stepped = x + (up ? quantum : -quantum);
  const V near = stepped == V{} ? simd::copysign(V{}, x) : stepped;
  V moved = low ? near : nextafter_bits<13>(x, y);
  moved = is_inf(x) ? simd::copysign(splat<V>(65504), x) : moved;
  V result = x == y ? y : moved;
  return x != x || y != y ? x + y : result;
}

}  // namespace tessella::TS_ISA::lane
