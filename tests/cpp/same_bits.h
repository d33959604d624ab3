// What the tests of kernels share: whether two elements are the same result (NaN equals NaN,
// everything else by bits), and whether the chosen instruction set rounds products by themselves.
#pragma once

#include <string.h>

#include <cmath>

#include "../../src/core/kernels/cast.h"
#include "../../src/core/kernels/isa.h"

namespace tessella {

inline bool is_same(DType dtype, const char* a, const char* b) {
  size_t bytes = static_cast<size_t>(itemsize(dtype));
  if (kind(dtype) == DKind::complex) {
    DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
    return is_same(part, a, b) && is_same(part, a + bytes / 2, b + bytes / 2);
  }
  if (memcmp(a, b, bytes) == 0) return true;
  double x, y;
  cast_kernel(dtype, DType::float64)(1, &x, a);
  cast_kernel(dtype, DType::float64)(1, &y, b);
  return kind(dtype) == DKind::floating && std::isnan(x) && std::isnan(y);
}

// The baseline has no fma on x86-64; every other instruction set has it.
inline bool is_unfused() {
#if defined(__x86_64__)
  return isa == Isa::baseline;
#else
  return false;
#endif
}

}  // namespace tessella
