// The parts of softmax, log_softmax, cross entropy and their gradients, over runs of elements. The
// maximum is the kernel of reduce.h, and sums have its order: their bits are those of `sum`.
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
  // The same, and a sum for each run. out may be null: then the sums alone. Not of `each`.
  void (*exponential_sums)(const RowsRuns& runs, const void* shift, void* sums);
  // The sum of (x[i] - shift) * weight[i] for each run; a null weight is 1. Not of `each`.
  void (*weighted_sums)(const RowsRuns& runs, const void* shift, const void* weight, void* sums);
  // out[i] = out[i] * factor - share * weight[i]; a null weight is 1, and a null share 0. Not of
  // `each`.
  void (*scaled)(const RowsRuns& runs, const void* factor, const void* share, const void* weight);
  // out[i] = out[i] * factor
  void (*products)(const RowsRuns& runs, const void* factor);
  // out[i] = (x[i] - shift) - log_sum
  void (*differences)(const RowsRuns& runs, const void* shift, const void* log_sum);
  // out[i] = log(out[i])
  void (*logarithms)(int64_t n, void* out);
  // out[i] = 1 / out[i]
  void (*reciprocals)(int64_t n, void* out);
  // Gradients: x is that of the result y, whose runs are y_step apart. Not of `each`.
  // out[i] = (x[i] - sum(x * y)) * y[i], for y = softmax
  void (*softmax_back)(const RowsRuns& runs, const void* y, int64_t y_step);
  // out[i] = x[i] - exp(y[i]) * sum(x), for y = log_softmax
  void (*log_softmax_back)(const RowsRuns& runs, const void* y, int64_t y_step);
};

struct RowsKernels {
  RowsKernel float32, float64;
};
TS_KERNELS(RowsKernels, rows_kernels)

}  // namespace tessella
