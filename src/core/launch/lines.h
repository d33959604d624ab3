// One axis of two tensors of the same shape, and the other axes merged: the tensors seen as lines
// along the axis. Neighbouring lines are those that lie closest together in the input.
#pragma once

#include "runs.h"

namespace tessella::launch {

// The axes but one of K operands that share a shape: neighbouring lines are those that lie closest
// together in operand 0.
template <int K>
Runs<K> without_axis(int axis, int ndim, const int64_t* shape, const int64_t* const (&strides)[K]) {
  int64_t sizes[MAX_NDIM], steps[K][MAX_NDIM];
  int count = 0, closest = -1;
  for (int i = 0; i < ndim; ++i)
    if (i != axis && shape[i] != 1 && strides[0][i] == 1) closest = i;
  for (int i = 0; i <= ndim; ++i) {
    int from = i < ndim ? i : closest;
    if (from < 0 || from == axis || (i < ndim && i == closest)) continue;
    sizes[count] = shape[from];
    for (int k = 0; k < K; ++k) steps[k][count] = strides[k][from];
    ++count;
  }
  const int64_t* of[K];
  for (int k = 0; k < K; ++k) of[k] = steps[k];
  return Runs<K>(count, sizes, of);
}

struct Lines {
  int64_t length, stride, out_stride;  // along the axis
  Runs<2> others;                      // operand 0 is the input, 1 the output

  Lines(int ndim, const int64_t* shape, const int64_t* strides, const int64_t* out_strides,
        int axis)
      : length(ndim == 0 ? 1 : shape[axis]),
        stride(ndim == 0 ? 1 : strides[axis]),
        out_stride(ndim == 0 ? 1 : out_strides[axis]),
        others(without_axis<2>(axis, ndim, shape, {strides, out_strides})) {}

  int64_t step() const { return others.inner_stride(0); }  // from line to line
  int64_t out_step() const { return others.inner_stride(1); }
};

}  // namespace tessella::launch
