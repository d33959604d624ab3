// The kernel of dropout: which elements stay is a function of a key, a counter and their places in
// the stream of Philox, so that nothing has to be kept for the gradient.
#pragma once

#include "isa.h"
#include "random.h"

namespace tessella {

struct DropoutKernels {
  // out[i] = x[i] * scale where word i of the stream is below source.range, else 0. One word for
  // each element, of either dtype.
  void (*float32)(const RandomSource& source, int64_t n, void* out, const void* x, double scale);
  void (*float64)(const RandomSource& source, int64_t n, void* out, const void* x, double scale);
};
TS_KERNELS(DropoutKernels, dropout_kernels)

}  // namespace tessella
