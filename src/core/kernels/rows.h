// The elementwise parts of softmax and log_softmax. The maximum and the sum between them are the
// kernels of reduce.h, so that the sum has the bits of `sum`.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// Runs of n elements. `shift` and `sum` are one number for the whole run (step 0) or one for each
// element (step 1). out may be x.
struct RowsKernel {
  // out[i] = exp(x[i] - shift)
  void (*exponentials)(int64_t n, void* out, const void* x, const void* shift, int step);
  // out[i] = out[i] / sum
  void (*quotients)(int64_t n, void* out, const void* sum, int step);
  // out[i] = (x[i] - shift) - log_sum
  void (*differences)(int64_t n, void* out, const void* x, const void* shift, const void* log_sum,
                      int step);
  // out[i] = log(out[i])
  void (*logarithms)(int64_t n, void* out);
};

struct RowsKernels {
  RowsKernel float32, float64;
};
TS_KERNELS(RowsKernels, rows_kernels)

}  // namespace tessella
