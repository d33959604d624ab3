// The driver of the gradients of softmax and log_softmax along one axis. Halves are computed in
// float32 and rounded once; sums have the order of `sum`.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct RowsBackTask {
  bool is_log;
  DType dtype;  // a float, of all three
  int ndim;     // at least 1
  const int64_t* shape;
  int axis;
  Operand y, dy;  // the result, and its gradient
  char* out;      // contiguous
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()
};

int64_t rows_back_scratch_bytes(const RowsBackTask& task);
void rows_back(const RowsBackTask& task, void* scratch);

}  // namespace tessella::launch
