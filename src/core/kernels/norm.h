// Kernels of layer norm and RMS norm over contiguous rows: with r = 1 / sqrt(mean((x - m)²) + eps)
// the result is (x - m) r weight + bias, where m is the mean of the row, or 0 for RMS norm. Sums
// along a row have the order of `sum`.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// `rows` rows of n > 0 elements one after the other. A null weight is 1, a null bias 0.
struct NormRows {
  int64_t rows, n;
  const void *x, *weight, *bias;
  double eps;
  bool is_centred;   // the mean is subtracted
  bool is_streamed;  // results are larger than caches
};

struct NormKernel {
  void (*forward)(const NormRows& of, void* out);
  // dx from dout. dweight and dbias, which are null where weight is, are the sums over these rows.
  void (*backward)(const NormRows& of, const void* dout, void* dx, void* dweight, void* dbias);
};

struct NormKernels {
  NormKernel float32, float64;
};
TS_KERNELS(NormKernels, norm_kernels)

}  // namespace tessella
