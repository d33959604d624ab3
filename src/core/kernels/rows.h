// The elementwise parts of softmax and log_softmax. The maximum and the sum between them are the
// kernels of reduce.h, so that the sum has the bits of `sum`.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// `count` runs of n elements, out_step and step elements apart. `shift` and `sum` are a number for
// each run, or, of `each`, a number for each element of a single run. out may be x.
struct RowsRuns {
  int64_t count, n;
  void* out;
  int64_t out_step;
  const void* x;
  int64_t step;
  bool each;
};

struct RowsKernel {
  // out[i] = exp(x[i] - shift)
  void (*exponentials)(const RowsRuns& runs, const void* shift);
  // out[i] = out[i] / sum
  void (*quotients)(const RowsRuns& runs, const void* sum);
  // out[i] = (x[i] - shift) - log_sum
  void (*differences)(const RowsRuns& runs, const void* shift, const void* log_sum);
  // out[i] = log(out[i])
  void (*logarithms)(int64_t n, void* out);
};

struct RowsKernels {
  RowsKernel float32, float64;
};
TS_KERNELS(RowsKernels, rows_kernels)

}  // namespace tessella
