// Which element of each window is the largest: the comparing loops of pools.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

struct PoolKernel {
  // taps[i] = the t whose row, at image + offsets[t], has the largest element i: the first of equal
  // ones, the last NaN; -1 if none is over minus infinity. Vectors behind a row's end are read.
  void (*largest)(int32_t* taps, const void* image, const int64_t* offsets, int64_t count,
                  int64_t n);
};

struct PoolKernels {
  PoolKernel float32, float64;
};
TS_KERNELS(PoolKernels, pool_kernels)

}  // namespace tessella
