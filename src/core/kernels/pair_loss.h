// Kernels of losses of pairs of numbers, over contiguous runs.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class PairLoss : uint8_t {
#define PAIR(name, value, slope) name,
#include "pair_loss.def"
};
constexpr const char* PAIR_LOSS_NAMES[] = {
#define PAIR(name, value, slope) #name,
#include "pair_loss.def"
};
constexpr int PAIR_LOSSES = sizeof PAIR_LOSS_NAMES / sizeof PAIR_LOSS_NAMES[0];

struct PairLossKernel {
  // out[i] = the loss of x[i] and y[i]
  void (*losses)(int64_t n, void* out, const void* x, const void* y, double p);
  // dx[i] = the slope at x[i] times dout[i], or, for a null dout, times `all`
  void (*slopes)(int64_t n, void* dx, const void* dout, double all, const void* x, const void* y,
                 double p);
};

struct PairLossKernels {
  PairLossKernel float32[PAIR_LOSSES], float64[PAIR_LOSSES];
};
TS_KERNELS(PairLossKernels, pair_loss_kernels)

}  // namespace tessella
