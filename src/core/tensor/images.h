// Tensors as the drivers of convolutions and pools see them: (n, channels, rows, columns); those of
// one axis fewer have one row.
#pragma once

#include "../launch/convolve.h"
#include "tensor.h"

namespace tessella {

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
