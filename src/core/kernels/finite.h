// Whether numbers are finite, told by their bits: no number is computed with.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

using FiniteFn = bool (*)(int64_t n, const void* x);

struct FiniteKernels {
  FiniteFn are_finite[DTYPE_COUNT];  // of real floats; none for other dtypes
};
TS_KERNELS(FiniteKernels, finite_kernels)

}  // namespace tessella
