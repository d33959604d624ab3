// The driver of cumulative operations along one axis: strictly in order, halves in float32 and
// rounded where they are stored.
#pragma once

#include "../kernels/reduce_scan.h"
#include "operand.h"

namespace tessella::launch {

struct CumulativeTask {
  ScanOp op;
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

// Where the greatest or smallest so far is: out is int64. Halves have no kernel.
void cumulate_places(const CumulativeTask& task, bool is_greatest);

}  // namespace tessella::launch
