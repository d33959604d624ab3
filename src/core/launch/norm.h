// The drivers of layer norm and RMS norm over contiguous rows, and of their gradients. Halves
// compute in float32 and round once. The cut into blocks of rows is a function of the shape.
#pragma once

#include "../kernels/norm.h"

namespace tessella::launch {

struct NormTask {
  DType dtype;  // a float, of all operands
  int64_t rows, n;
  const char *x, *weight, *bias;  // weight and bias may be null
  double eps;
  bool is_centred;
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()
};

int64_t norm_scratch_bytes(const NormTask& task);
void norm(const NormTask& task, char* out, void* scratch);

// out: dx, and behind it, if there is a weight, its gradient and that of the bias.
int64_t norm_back_scratch_bytes(const NormTask& task);
void norm_back(const NormTask& task, char* out, const char* dout, void* scratch);

}  // namespace tessella::launch
