// The element types: an enum, their sizes, names and kinds.
// Promotion is a rule of meaning and lives in dtypes.py; here is only what arithmetic needs. Users
// register dtypes of their own, with the numbers that follow the enum's: these have a name and a
// size, and are moved as bytes. No table of kernels has a place for them: see is_user.
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
constexpr int DTYPE_COUNT = 15;  // without those of users
constexpr int USER_DTYPES = 64;  // that can be registered
constexpr int64_t MOST_ITEM_BYTES = 4096;

enum class DKind : uint8_t { boolean, signed_int, unsigned_int, floating, complex, user };

struct DTypeInfo {
  const char* name;
  uint16_t itemsize;
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

// The same rows, and behind them those of users; a row is written before its number is known.
struct DTypeTable {
  DTypeInfo rows[DTYPE_COUNT + USER_DTYPES];
};
extern DTypeTable dtype_table;

// The number of a new dtype, or -1 if there is no place left. Called under the interpreter's lock.
int register_dtype(const char* name, int64_t itemsize);
int free_dtypes();

constexpr bool is_user(DType dtype) { return static_cast<int>(dtype) >= DTYPE_COUNT; }

constexpr const DTypeInfo& info(DType dtype) {
  const DTypeInfo* rows = __builtin_is_constant_evaluated() ? DTYPES : dtype_table.rows;
  return rows[static_cast<int>(dtype)];
}
constexpr int64_t itemsize(DType dtype) { return info(dtype).itemsize; }
constexpr DKind kind(DType dtype) { return info(dtype).kind; }

// What the address of an element is a multiple of: the size of a number, or of a complex one's
// part. Items of users are only ever read as bytes.
constexpr int64_t alignment(DType dtype) {
  if (is_user(dtype)) return 1;
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
