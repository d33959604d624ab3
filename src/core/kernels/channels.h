// Kernels of batch norm: sums over the elements of a channel, and what is done to each of them.
// A tensor is (N, C, L): where L is 1 the channels lie side by side, and a row holds one element of
// each; else a run of L elements belongs to one channel.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// Numbers of a channel, or of each channel of a row, in the dtype that is computed in.
struct ChannelNumbers {
  const void *mean, *scale, *shift, *level;
};

struct ChannelKernel {
  // Over a run of n > 0 elements, in the order of `sum`: x[i]; (x[i] - mean)²; g[i], and
  // g[i] (x[i] - mean).
  double (*sum)(int64_t n, const void* x);
  double (*squares)(int64_t n, const void* x, double mean);
  void (*pulls)(int64_t n, const void* g, const void* x, double mean, double* sums);
  // The same over rows of n channels, added to sums[channel], row after row; of pulls, the second
  // sums stand behind the first.
  void (*sum_rows)(int64_t rows, int64_t n, void* sums, const void* x);
  void (*square_rows)(int64_t rows, int64_t n, void* sums, const void* x, const void* mean);
  void (*pull_rows)(int64_t rows, int64_t n, void* sums, const void* g, const void* x,
                    const void* mean);
  // out[i] = (x[i] - mean) * scale + shift, with numbers for all i, or of `each` for each.
  void (*apply)(int64_t n, void* out, const void* x, const ChannelNumbers& of, bool each);
  // out[i] = (g[i] - level - (x[i] - mean) * shift) * scale
  void (*pull)(int64_t n, void* out, const void* g, const void* x, const ChannelNumbers& of,
               bool each);
};

struct ChannelKernels {
  ChannelKernel float32, float64;
};
TS_KERNELS(ChannelKernels, channel_kernels)

}  // namespace tessella
