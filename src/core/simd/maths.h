// The vector maths that kernels use: simd::exp(x) and the rest, for float and double vectors of any
// number of lanes. Results are within 2 ulp (most within 1; logaddexp and logaddexp2 where they do
// not cancel to about 0), special values follow C99 and the array API, and a lane's bits do not
// depend on its neighbours. This file only chooses, by lane type, among the families of maths_*.h.
// Complex numbers are in complex.h.
#pragma once
#include "maths_bessel.h"
#include "maths_erf.h"
#include "maths_exp.h"
#include "maths_float.h"
#include "maths_inverse.h"
#include "maths_log.h"
#include "maths_narrow.h"
#include "maths_normal.h"
#include "maths_power.h"
#include "maths_trig.h"

namespace tessella::TS_ISA::simd {

using TS_ISA::abs;
using TS_ISA::ceil;
using TS_ISA::copysign;
using TS_ISA::floor;
using TS_ISA::fma;
using TS_ISA::is_finite;
using TS_ISA::is_inf;
using TS_ISA::is_nan;
using TS_ISA::max;
using TS_ISA::maximum;
using TS_ISA::min;
using TS_ISA::minimum;
using TS_ISA::rint;
using TS_ISA::select;
using TS_ISA::signbit;
using TS_ISA::sqrt;
using TS_ISA::trunc;

// name(x): native(x) in float lanes, wide(x) in double lanes.
#define TS_MATHS_NATIVE(name, native, wide)  \
  template <class V>                         \
  TS_INLINE V name(V x) {                    \
    if constexpr (same_type<Lane<V>, float>) \
      return native(x);                      \
    else                                     \
      return wide(x);                        \
  }
// The same with floats evaluated as doubles by `narrow`, and for functions of two arguments.
#define TS_MATHS(name, narrow, wide)           \
  template <class V>                           \
  TS_INLINE V name(V x) {                      \
    if constexpr (same_type<Lane<V>, float>)   \
      return by_doubles(TS_LAMBDA(narrow), x); \
    else                                       \
      return wide(x);                          \
  }
#define TS_MATHS2(name, narrow, wide)             \
  template <class V>                              \
  TS_INLINE V name(V x, V y) {                    \
    if constexpr (same_type<Lane<V>, float>)      \
      return by_doubles(TS_LAMBDA(narrow), x, y); \
    else                                          \
      return wide(x, y);                          \
  }

TS_MATHS_NATIVE(exp, exp_f32, exp_f64)
TS_MATHS_NATIVE(log, log_f32, log_f64)
TS_MATHS_NATIVE(tanh, tanh_f32, tanh_f64)
TS_MATHS_NATIVE(sigmoid, sigmoid_f32, sigmoid_f64)
TS_MATHS_NATIVE(erf, erf_f32, erf_f64)
TS_MATHS(exp2, exp2_narrow, exp2_f64)
TS_MATHS(expm1, expm1_narrow, expm1_f64)
TS_MATHS(log2, log2_narrow, log2_f64)
TS_MATHS(log10, log10_narrow, log10_f64)
TS_MATHS(log1p, log1p_narrow, log1p_f64)
TS_MATHS(sin, sin_narrow, sin_f64)
TS_MATHS(cos, cos_narrow, cos_f64)
TS_MATHS(tan, tan_narrow, tan_f64)
TS_MATHS(asin, asin_narrow, asin_f64)
TS_MATHS(acos, acos_narrow, acos_f64)
TS_MATHS(atan, atan_narrow, atan_f64)
TS_MATHS(sinh, sinh_narrow, sinh_f64)
TS_MATHS(cosh, cosh_narrow, cosh_f64)
TS_MATHS(asinh, asinh_narrow, asinh_f64)
TS_MATHS(acosh, acosh_narrow, acosh_f64)
TS_MATHS(atanh, atanh_narrow, atanh_f64)
TS_MATHS(erfc, erfc_narrow, erfc_f64)
TS_MATHS(ndtr, ndtr_f64, ndtr_f64)
TS_MATHS(log_ndtr, log_ndtr_f64, log_ndtr_f64)
TS_MATHS(erfinv, erfinv_f64, erfinv_f64)
TS_MATHS(ndtri, ndtri_f64, ndtri_f64)
TS_MATHS(i0, i0_f64, i0_f64)
TS_MATHS(i1, i1_f64, i1_f64)
TS_MATHS(cbrt, cbrt_narrow, cbrt_f64)
TS_MATHS2(atan2, atan2_narrow, atan2_f64)
TS_MATHS2(hypot, hypot_narrow, hypot_f64)
TS_MATHS2(logaddexp, logaddexp_f64, logaddexp_f64)
TS_MATHS2(logaddexp2, logaddexp2_f64, logaddexp2_f64)

template <class V>
TS_INLINE V pow(V x, V y) {
  if constexpr (same_type<Lane<V>, float>)
    return pow_f32(x, y);
  else
    return pow_f64(x, y);
}

template <class V>
TS_INLINE V softplus_f64(V x) {
  return logaddexp_f64(x, V{});
}
TS_MATHS(softplus, softplus_narrow, softplus_f64)

#undef TS_MATHS
#undef TS_MATHS2
#undef TS_MATHS_NATIVE

}  // namespace tessella::TS_ISA::simd
