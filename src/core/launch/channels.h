// The drivers of batch norm over a contiguous tensor (N, C, L): mean and variance of each channel,
// the normalised tensor, and its gradient. Sums of parts are added up in float64, in an order that
// is a function of the shape.
#pragma once

#include "../kernels/channels.h"

namespace tessella::launch {

struct ChannelTask {
  DType dtype;  // float32 or float64, of all operands
  int64_t n, channels, length;
  const char* x;
  const char *mean, *variance, *weight, *bias;  // of each channel; weight and bias may be null
  double eps;
  bool is_batch;  // mean and variance are those of x, and gradients flow through them
  bool interruptible;
};

int64_t channel_scratch_bytes(const ChannelTask& task);  // of each function below

// out: the means, then the variances (of the elements there are: not corrected).
void channel_moments(const ChannelTask& task, char* out, void* scratch);

void channel_norm(const ChannelTask& task, char* out, void* scratch);

// out: dx, then the gradients of weight and bias.
void channel_norm_back(const ChannelTask& task, char* out, const char* dout, void* scratch);

}  // namespace tessella::launch
