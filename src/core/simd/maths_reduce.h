// Reduction of angles: x = n pi/2 + r with |r| <= pi/4. Ordinary angles by subtracting n times pi/2
// in parts (Cody and Waite), huge ones lane by lane by multiplying with as many digits of 2/pi as
// the exponent asks for (Payne and Hanek). The functions that use r are in maths_trig.h.
#pragma once
#include "maths_pair.h"

namespace tessella::TS_ISA {

// The quadrant n in the lowest two bits of the lanes, and the rest of the angle.
template <class V>
struct Angle {
  BitsOf<V> quadrant;
  Pair<V> r;
};

struct ScalarAngle {
  uint64_t quadrant;
  double hi, lo;
};

// 64 binary digits of 2/pi from position `first` of the table, which begins with 64 zeros.
static inline uint64_t two_over_pi_digits(int first) {
  const int word = first / 64, bit = first % 64;
  const uint64_t high = kTwoOverPi[word] << bit;
  return bit == 0 ? high : high | kTwoOverPi[word + 1] >> (64 - bit);
}

// |x| in [2^9, inf). With x = m 2^e, digits of 2/pi worth 4 or more after the product with x do not
// matter to the quadrant; 192 digits from there on leave an error below 2^-128 of a quadrant.
TS_OUTLINE ScalarAngle reduce_huge(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
  const uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
  const int first = exponent - 2 + 64;
  typedef unsigned __int128 Wide;
  const Wide low = (Wide)m * two_over_pi_digits(first + 128);
  const Wide middle = (Wide)m * two_over_pi_digits(first + 64) + (uint64_t)(low >> 64);
  const uint64_t high = m * two_over_pi_digits(first) + (uint64_t)(middle >> 64);
  const Wide turns = (Wide)high << 64 | (uint64_t)middle;  // units of 2^-126 quadrants, modulo 4
  const Wide fraction = turns << 2 | (uint64_t)low >> 62;  // units of 2^-128 quadrants, modulo 1
  const bool upper = (fraction >> 127) != 0;               // nearer to the next quadrant
  const Wide size = upper ? -fraction : fraction;
  uint64_t n = (uint64_t)(turns >> 126) + upper;
  const double hi = (double)(uint64_t)(size >> 75) * 0x1p-53;
  const double lo = (double)(uint64_t)(size >> 11 & 0xffffffffffffffff) * 0x1p-117;
  const bool negative = upper != ((bits >> 63) != 0);
  if (bits >> 63) n = 0 - n;
  using D = VecN<double, 1>;
  const Pair<D> r = multiply(pair_of<D>(kHalfPiPair), fast_two_sum(splat<D>(hi), splat<D>(lo)));
  const double sign = negative ? -1 : 1;
  return {n, sign * r.hi[0], sign * r.lo[0]};
}

// The same for a double that was a float, |x| in [2^22, inf). No float is nearer to a multiple of
// pi/2 than 2^-30, so that an error of 2^-64 of a quadrant leaves r right to 2^-33 of itself.
TS_INLINE ScalarAngle reduce_huge_narrow(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff) - (1075 - 29);
  const uint64_t m = ((bits & 0xfffffffffffff) | 0x10000000000000) >> 29;
  const int first = exponent - 2 + 64;
  typedef unsigned __int128 Wide;
  const Wide turns = ((Wide)(m * two_over_pi_digits(first)) << 64) +
                     (Wide)m * two_over_pi_digits(first + 64);  // units of 2^-126 quadrants
  const uint64_t n = (uint64_t)(turns >> 126) + (uint64_t)(turns >> 125 & 1);
  const int64_t fraction = (int64_t)(turns >> 62);  // of 2^-64 quadrants, to the nearer one
  const double r = (double)fraction * (0x1p-64 * kHalfPiPair[0]);
  return bits >> 63 ? ScalarAngle{0 - n, -r, 0} : ScalarAngle{n, r, 0};
}

// Replaces the lanes with |x| >= limit; infinities and NaN become NaN.
template <class V, class F>
TS_OUTLINE void reduce_huge_lanes(const V& x, double limit, F reduce_one, Angle<V>& angle) {
  for (int i = 0; i < lanes<V>; ++i) {
    const double size = x[i] < 0 ? -x[i] : x[i];
    if (size < limit) continue;
    const bool finite = size < __builtin_inf();
    const ScalarAngle one = finite ? reduce_one(x[i]) : ScalarAngle{0, __builtin_nan(""), 0};
    angle.quadrant[i] = one.quadrant;
    angle.r.hi[i] = one.hi;
    angle.r.lo[i] = one.lo;
  }
}

// n = x / (pi/2) rounded, as a double and, in the lowest bits, as an integer.
template <class V>
TS_INLINE V nearest_quadrant(V x, BitsOf<V>& bits) {
  const V shift = splat<V>(integer_shift<V>);
  const V shifted = fma(x, splat<V>(0x1.45f306dc9c883p-1), shift);  // 2 / pi
  bits = (BitsOf<V>)shifted;
  return shifted - shift;
}

// n times one of the first parts is exact, and so are the differences until little is left of x:
// r is right to 2^-58 of itself also beside the multiples of pi/2.
template <class V>
TS_INLINE Angle<V> reduce(V x) {
  constexpr double limit = 0x1p20;
  Angle<V> angle;
  const V n = nearest_quadrant(x, angle.quadrant);
  const V coarse = fma(n, splat<V>(-kHalfPi[0]), x);
  const Pair<V> middle = two_sum(coarse, -(n * splat<V>(kHalfPi[1])));
  const Pair<V> fine = two_sum(middle.hi, -(n * splat<V>(kHalfPi[2])));
  angle.r = fast_two_sum(fine.hi, fma(n, splat<V>(-kHalfPi[3]), middle.lo + fine.lo));
  if (!all(abs(x) < splat<V>(limit))) reduce_huge_lanes(x, limit, TS_LAMBDA(reduce_huge), angle);
  return angle;
}

// For doubles that were floats: r.lo is 0, and r.hi right to 2^-32 of itself.
template <class V>
TS_INLINE Angle<V> reduce_narrow(V x) {
  constexpr double limit = 0x1p22;
  Angle<V> angle;
  const V n = nearest_quadrant(x, angle.quadrant);
  const V coarse = fma(n, splat<V>(-kHalfPiNarrow[0]), x);
  angle.r = {fma(n, splat<V>(-kHalfPiNarrow[1]), coarse), V{}};
  if (!all(abs(x) < splat<V>(limit)))
    reduce_huge_lanes(x, limit, TS_LAMBDA(reduce_huge_narrow), angle);
  return angle;
}

}  // namespace tessella::TS_ISA
