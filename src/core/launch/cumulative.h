// The driver of cumulative sums and products along one axis: strictly in order, halves in float32
// and rounded where they are stored.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct CumulativeTask {
  bool is_product;
  DType dtype;
  int ndim;
  const int64_t* shape;
  const int64_t* strides;  // in elements
  const char* data;
  int axis;     // ignored for a tensor of rank 0
  Operand out;  // same shape; dtype as reduce_out_dtype says for sum; does not overlap data
  bool interruptible;
};

void cumulate(const CumulativeTask& task);

}  // namespace tessella::launch
