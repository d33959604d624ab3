// The drivers of cross entropy and of the negative log likelihood with a class for each line, and
// of their gradients. The classes lie along one axis of x; `target` has the other axes. Halves are
// computed in float32 and rounded once.
#pragma once

#include "operand.h"

namespace tessella::launch {

enum class Reduction : uint8_t { none, mean, sum };

struct ClassLossTask {
  bool is_log;  // x holds logarithms of probabilities, which nothing is done to
  DType dtype;  // a float
  int ndim;
  const int64_t* shape;
  const int64_t* strides;  // in elements
  const char* data;
  int axis;
  const int64_t* target;  // contiguous
  const char* weight;     // one for each class, of `dtype`, contiguous; or nullptr
  int64_t ignore_index;
  double smoothing;  // the share of the target that all classes have together
  Reduction reduction;
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()
};

constexpr int64_t ALL_CLASSES_GOOD = -1;

// out: the loss of each line, contiguous, or one number. Gives the first place in `target` whose
// class is none of x and not to be ignored either; out is then of no use.
int64_t class_loss_scratch_bytes(const ClassLossTask& task);
int64_t class_loss(const ClassLossTask& task, char* out, void* scratch);

// dx, of the shape of x and contiguous, from the gradient `dout` of the result.
int64_t class_loss_back_scratch_bytes(const ClassLossTask& task);
void class_loss_back(const ClassLossTask& task, char* dx, const char* dout, void* scratch);

}  // namespace tessella::launch
