// The driver of reductions: any axes of any layout. The order in which elements are joined is a
// function of the shape, the reduced axes and the dtype alone (kernels/reduce.h says which).
#pragma once

#include "../kernels/reduce.h"
#include "operand.h"

namespace tessella::launch {

using tessella::ReduceOp;

// The dtype of the result; *ok is false where the reduction has no meaning for `in`.
DType reduce_out_dtype(ReduceOp op, DType in, bool* ok);

struct ReduceTask {
  ReduceOp op;
  DType dtype;
  int ndim;
  const int64_t* shape;
  const int64_t* strides;  // in elements
  const char* data;
  uint64_t reduced_axes;  // bit i: axis i
  char* out;              // contiguous over the kept axes, in their order
  bool interruptible;
};

// Of an empty set: sum 0, prod 1, mean NaN, any False, all True; the rest is refused by the caller.
int64_t reduce_scratch_bytes(const ReduceTask& task);
void reduce(const ReduceTask& task, void* scratch);

}  // namespace tessella::launch
