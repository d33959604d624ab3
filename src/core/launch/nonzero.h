// Where a bool tensor is true: how many elements, and their coordinates in row-major order.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct MaskTask {
  int ndim;
  const int64_t* shape;
  const int64_t* strides;
  const char* mask;  // bytes; any that is not zero is true
  bool interruptible;
};

// Where each chunk's coordinates begin, which count_nonzero leaves for nonzero.
int64_t nonzero_scratch_bytes(const MaskTask& task);

int64_t count_nonzero(const MaskTask& task, void* scratch);

// out has ndim rows of `count` coordinates: row d holds those along axis d. `count` and `scratch`
// are those of count_nonzero. If another thread changes the mask in between, some coordinates are
// missing or 0, and nothing is written out of bounds.
void nonzero(const MaskTask& task, const void* scratch, int64_t count, int64_t* out);

}  // namespace tessella::launch
