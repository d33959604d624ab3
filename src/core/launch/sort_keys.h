// Keys for sorting: unsigned integers in the order of the elements they stand for.
// Every NaN is above all numbers, -0.0 and 0.0 have one key. A key can be turned back into its
// element, but for the sign of zero and the payload of a NaN.
#pragma once

#include <stdint.h>
#include <string.h>

#include "../dtype.h"

namespace tessella::launch {

// Signed integers, bool and unsigned ones: flipping the sign bit puts negative numbers first.
template <class Key, Key flip>
struct IntegerKeys {
  using K = Key;
  static constexpr bool has_negative_zero = false;
  static K key(K bits) { return bits ^ flip; }
  static K bits(K key) { return key ^ flip; }
  static bool is_negative_zero(K) { return false; }
};

struct BoolKeys : IntegerKeys<uint8_t, 0> {
  static K key(K bits) { return bits != 0; }
};

// Floats are sign and magnitude. `infinity` has all bits of the exponent.
template <class Key, Key infinity>
struct FloatKeys {
  using K = Key;
  static constexpr bool has_negative_zero = true;
  static constexpr K sign = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
  static constexpr K nan = static_cast<K>(~K{0});

  static K key(K bits) {
    K magnitude = bits & static_cast<K>(~sign);
    K negative = static_cast<K>(sign - magnitude);  // that of -0.0 is `sign` too
    K number = bits & sign ? negative : static_cast<K>(sign + magnitude);
    return magnitude > infinity ? nan : number;
  }
  static K bits(K key) {
    K negative = static_cast<K>(sign | (sign - key));
    K number = key < sign ? negative : static_cast<K>(key - sign);
    return key == nan ? static_cast<K>(infinity | (infinity >> 1)) : number;
  }
  static bool is_negative_zero(K bits) { return bits == sign; }
};

using Float16Keys = FloatKeys<uint16_t, 0x7c00>;
using BFloat16Keys = FloatKeys<uint16_t, 0x7f80>;
using Float32Keys = FloatKeys<uint32_t, 0x7f800000>;
using Float64Keys = FloatKeys<uint64_t, 0x7ff0000000000000>;

// Calls body with the keys of a dtype that has an order. The complex ones have none.
template <class F>
void with_keys(DType dtype, F&& body) {
  switch (dtype) {
    case DType::boolean:
      return body(BoolKeys{});
    case DType::int8:
      return body(IntegerKeys<uint8_t, 0x80>{});
    case DType::int16:
      return body(IntegerKeys<uint16_t, 0x8000>{});
    case DType::int32:
      return body(IntegerKeys<uint32_t, 0x80000000>{});
    case DType::int64:
      return body(IntegerKeys<uint64_t, 0x8000000000000000>{});
    case DType::uint8:
      return body(IntegerKeys<uint8_t, 0>{});
    case DType::uint16:
      return body(IntegerKeys<uint16_t, 0>{});
    case DType::uint32:
      return body(IntegerKeys<uint32_t, 0>{});
    case DType::uint64:
      return body(IntegerKeys<uint64_t, 0>{});
    case DType::float16:
      return body(Float16Keys{});
    case DType::bfloat16:
      return body(BFloat16Keys{});
    case DType::float32:
      return body(Float32Keys{});
    case DType::float64:
      return body(Float64Keys{});
    case DType::complex64:
    case DType::complex128:
      return;
  }
}

}  // namespace tessella::launch
