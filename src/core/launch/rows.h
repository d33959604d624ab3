// The driver of softmax and log_softmax along one axis. Halves are computed in float32 and rounded
// once. The sum of the exponentials has the order of `sum` (kernels/reduce.h).
#pragma once

#include "operand.h"

namespace tessella::launch {

struct RowsTask {
  bool is_log;
  DType dtype;  // a float
  int ndim;
  const int64_t* shape;
  const int64_t* strides;  // in elements
  const char* data;
  int axis;     // ignored for a tensor of rank 0
  Operand out;  // same shape and dtype; does not overlap data
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()
};

int64_t rows_scratch_bytes(const RowsTask& task);
void rows(const RowsTask& task, void* scratch);

}  // namespace tessella::launch
