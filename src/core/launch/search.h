// Where elements would have to stand in a sorted run, so that it stays sorted.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct SearchTask {
  DType dtype;         // of both, not complex
  int64_t n;           // sorted elements,
  const char* sorted;  // a run, in the order that sorting has
  int ndim;
  const int64_t* shape;  // of x
  const int64_t* strides;
  const char* x;
  int64_t* out;   // contiguous, of x's shape
  bool is_right;  // behind its equals, not before them
  bool interruptible;
};

// Whatever `sorted` holds, nothing is read out of bounds, and out is in 0 … n.
void search(const SearchTask& task);

}  // namespace tessella::launch
