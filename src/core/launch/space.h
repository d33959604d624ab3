// The iteration space that the operands of one elementwise call share: axes of size 1 dropped,
// neighbouring axes merged where every operand allows it, element strides for each operand.
#pragma once

#include "operand.h"

namespace tessella::launch {

constexpr int MAX_OPERANDS = 4;  // one output and up to three inputs

struct Space {
  int ndim;
  int operands;
  int64_t size;
  int64_t shape[MAX_NDIM];
  int64_t strides[MAX_OPERANDS][MAX_NDIM];

  // Strides of operand i over the axes of `shape`.
  Space(int ndim, const int64_t* shape, int operands, const int64_t* const* strides);

  bool is_linear(int operand) const {  // one axis, stride 1
    return ndim == 0 || (ndim == 1 && strides[operand][0] == 1);
  }
  bool is_constant(int operand) const {  // every element is the same one
    for (int i = 0; i < ndim; ++i)
      if (strides[operand][i] != 0) return false;
    return true;
  }
};

// A position in the space as an index for each axis, from a flat row-major number.
struct Position {
  int64_t index[MAX_NDIM];
  Position(const Space& space, int64_t flat) {
    for (int i = space.ndim - 1; i >= 0; --i) {
      index[i] = flat % space.shape[i];
      flat /= space.shape[i];
    }
  }
  int64_t offset(const Space& space, int operand) const {
    int64_t sum = 0;
    for (int i = 0; i < space.ndim; ++i) sum += index[i] * space.strides[operand][i];
    return sum;
  }
};

}  // namespace tessella::launch
