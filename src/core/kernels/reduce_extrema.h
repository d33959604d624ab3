// The joins of max and min: NaN if either is NaN, and -0.0 < 0.0.
#pragma once

#include "reduce_fold.h"

namespace tessella::TS_ISA {

template <class T>
constexpr T lowest =
    static_cast<T>(-1) < 0 ? static_cast<T>(uint64_t{1} << (sizeof(T) * 8 - 1)) : 0;
template <class T>
constexpr T highest = static_cast<T>(~lowest<T>);
template <>
constexpr float lowest<float> = -__builtin_inff();
template <>
constexpr double lowest<double> = -__builtin_inf();
template <>
constexpr float highest<float> = __builtin_inff();
template <>
constexpr double highest<double> = __builtin_inf();

// For floats the negated minimum of negated elements, since `minimum` takes fewer instructions.
struct Max {
  template <class T>
  static constexpr bool changes = is_floating<T>;
  template <class T>
  static constexpr T identity = changes<T> ? highest<T> : lowest<T>;
  template <class V>
  TS_INLINE V enter(V x) {
    if constexpr (is_float_vec<V>) return -x;
    return x;
  }
  template <class V>
  TS_INLINE V leave(V x) {
    return enter(x);
  }
  template <class V>
  TS_INLINE V join(V a, V b) {
    if constexpr (is_float_vec<V>) return minimum(a, b);
    return maximum(a, b);
  }
  // Lanes in which a replaces b as the extremum when it comes later; a NaN is one.
  template <class V>
  TS_INLINE MaskOf<V> is_better(V a, V b) {
    return a > b || (a != a && b == b);
  }
};

struct Min : Unchanged {
  template <class T>
  static constexpr T identity = highest<T>;
  template <class V>
  TS_INLINE V join(V a, V b) {
    return minimum(a, b);
  }
  template <class V>
  TS_INLINE MaskOf<V> is_better(V a, V b) {
    return a < b || (a != a && b == b);
  }
};

// Every real dtype but the halves, which are compared in float32; bool as bytes.
template <template <class> class Kernel>
constexpr ReduceFamily real_family() {
  ReduceFamily f{};
  f.kernel[static_cast<int>(DType::boolean)] = Kernel<uint8_t>::value;
  f.kernel[static_cast<int>(DType::int8)] = Kernel<int8_t>::value;
  f.kernel[static_cast<int>(DType::int16)] = Kernel<int16_t>::value;
  f.kernel[static_cast<int>(DType::int32)] = Kernel<int32_t>::value;
  f.kernel[static_cast<int>(DType::int64)] = Kernel<int64_t>::value;
  f.kernel[static_cast<int>(DType::uint8)] = Kernel<uint8_t>::value;
  f.kernel[static_cast<int>(DType::uint16)] = Kernel<uint16_t>::value;
  f.kernel[static_cast<int>(DType::uint32)] = Kernel<uint32_t>::value;
  f.kernel[static_cast<int>(DType::uint64)] = Kernel<uint64_t>::value;
  f.kernel[static_cast<int>(DType::float32)] = Kernel<float>::value;
  f.kernel[static_cast<int>(DType::float64)] = Kernel<double>::value;
  return f;
}

}  // namespace tessella::TS_ISA
