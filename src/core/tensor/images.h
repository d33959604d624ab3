// Convolutions and pools of tensors (n, channels, rows, columns); those of one axis fewer have one
// row.
#pragma once

#include "../launch/convolve.h"
#include "tensor.h"

namespace tessella {

// y (n, o, places), x (n, c, places) or w (o, c / groups, taps) from the other two, all of one
// float dtype; bias (channels of the result) or nullptr. Sizes were checked; see launch/convolve.h.
struct Convolution {
  launch::ConvolveResult result;
  Tensor *x, *w, *y, *bias;
  Shape stride, pad, dilation;  // one or two axes
  int64_t groups;
  bool interruptible;
};
void run_convolve(const Convolution& call);

// Where the largest element of each window of x (n, c, rows, columns) is: places, int64 and
// contiguous. Without a window the places share the axes evenly; see launch/pool.h.
struct Pool {
  Tensor *x, *places;
  Shape window, stride, pad, dilation;
  bool interruptible;
};
void run_pool(const Pool& call);
// out = x at the places of each plane; out, contiguous, = y added at them. False: one is outside.
bool run_pick(Tensor* out, Tensor* x, Tensor* places, bool interruptible);
bool run_place(Tensor* out, Tensor* y, Tensor* places, bool interruptible);

// The size of axis 0 or 1 of the two behind the channels.
inline int64_t image_size(const Tensor* x, int axis) {
  int at = x->ndim - 2 + axis;
  return at < 2 ? 1 : x->shape()[at];
}

// A parameter of the axis, or what stands for the row that is not there.
inline int64_t image_value(Shape values, int axis, int64_t absent) {
  size_t missing = 2 - values.size();
  return static_cast<size_t>(axis) < missing ? absent : values[static_cast<size_t>(axis) - missing];
}

inline launch::ConvolveOperand image_operand(const Tensor* x) {
  const int64_t* strides = x->strides();
  int64_t row = x->ndim == 4 ? strides[2] : 0;
  return {x->data(), {strides[0], strides[1], row, strides[x->ndim - 1]}};
}

}  // namespace tessella
