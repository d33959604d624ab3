// The element types: an enum, their sizes, names and kinds.
// Promotion is a rule of meaning and lives in dtypes.py; here is only what arithmetic needs.
#pragma once

#include <stdint.h>

namespace tessella {

enum class DType : uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};
constexpr int DTYPE_COUNT = 15;

enum class DKind : uint8_t { boolean, signed_int, unsigned_int, floating, complex };

struct DTypeInfo {
  const char* name;
  uint8_t itemsize;
  DKind kind;
};

constexpr DTypeInfo DTYPES[DTYPE_COUNT] = {
    {"bool", 1, DKind::boolean},        {"int8", 1, DKind::signed_int},
    {"int16", 2, DKind::signed_int},    {"int32", 4, DKind::signed_int},
    {"int64", 8, DKind::signed_int},    {"uint8", 1, DKind::unsigned_int},
    {"uint16", 2, DKind::unsigned_int}, {"uint32", 4, DKind::unsigned_int},
    {"uint64", 8, DKind::unsigned_int}, {"float16", 2, DKind::floating},
    {"bfloat16", 2, DKind::floating},   {"float32", 4, DKind::floating},
    {"float64", 8, DKind::floating},    {"complex64", 8, DKind::complex},
    {"complex128", 16, DKind::complex},
};

constexpr const DTypeInfo& info(DType dtype) { return DTYPES[static_cast<int>(dtype)]; }
constexpr int64_t itemsize(DType dtype) { return info(dtype).itemsize; }
constexpr DKind kind(DType dtype) { return info(dtype).kind; }

// What the address of an element is a multiple of: the size of a number, or of a complex one's
// part.
constexpr int64_t alignment(DType dtype) {
  return kind(dtype) == DKind::complex ? itemsize(dtype) / 2 : itemsize(dtype);
}

constexpr bool has_gradients(DType dtype) {
  return kind(dtype) == DKind::floating || kind(dtype) == DKind::complex;
}

// Halves compute in float32 and round once: arithmetic is done in this dtype.
constexpr DType compute_dtype(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

}  // namespace tessella
