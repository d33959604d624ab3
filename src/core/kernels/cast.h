// Conversion of contiguous runs from any dtype to any other.
// Integers to narrower integers wrap; floats to integers truncate and saturate, NaN becomes 0;
// to bool, what is not zero is true (NaN too); complex to real drops the imaginary part; every
// float result is rounded once, to nearest even.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// out and x do not overlap, or are the same block with elements of equal size.
using CastFn = void (*)(int64_t n, void* out, const void* x);

struct CastKernels {
  CastFn cast[DTYPE_COUNT][DTYPE_COUNT];  // [from][to]
};
TS_KERNELS(CastKernels, cast_kernels)

inline CastFn cast_kernel(DType from, DType to) {
  return TS_CHOSEN(cast_kernels).cast[static_cast<int>(from)][static_cast<int>(to)];
}

}  // namespace tessella
