// Sorting along one axis: the sorted values, the indices that sort, or both, of all or of the first
// few. Stable in either direction. A NaN is greater than every number: last when ascending, first
// when descending. -0.0 equals 0.0. Complex numbers have no order and are the caller's to refuse.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct SortTask {
  DType dtype;
  int ndim;  // at least 1
  const int64_t* shape;
  int axis;
  int64_t wanted;  // how many of the first along the axis: the size that the results have there
  const char* x;
  const int64_t* strides_x;
  char* values;  // of x's dtype; nullptr if not wanted. Shares no memory with x.
  const int64_t* strides_values;
  int64_t* indices;  // along the axis; nullptr if not wanted
  const int64_t* strides_indices;
  bool descending;
  bool interruptible;
};

// `workers` is the thread count that the scratch is for: num_threads(), asked once.
int64_t sort_scratch_bytes(const SortTask& task, int workers);
void sort(const SortTask& task, int workers, void* scratch);

}  // namespace tessella::launch
