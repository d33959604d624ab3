// The drivers of losses of pairs of numbers, and of their gradients, over contiguous operands.
// Halves compute in float32 and round once; sums have the order of `sum` over the losses.
#pragma once

#include "../kernels/pair_loss.h"
#include "class_loss.h"

namespace tessella::launch {

struct PairLossTask {
  PairLoss loss;
  DType dtype;  // a float, of all operands
  int64_t n;
  const char *x, *y;
  double p;
  Reduction reduction;
  bool interruptible;
};

// out: the loss of each pair, or one number.
int64_t pair_loss_scratch_bytes(const PairLossTask& task);
void pair_loss(const PairLossTask& task, char* out, void* scratch);

// dx from the gradient `dout` of the result.
void pair_loss_back(const PairLossTask& task, char* dx, const char* dout);

}  // namespace tessella::launch
