// The driver of dropout over a contiguous tensor. Halves compute in float32 and round once.
#pragma once

#include "../kernels/dropout.h"

namespace tessella::launch {

struct DropoutTask {
  DType dtype;  // a float
  int64_t n;
  const char* x;
  uint64_t key, counter;
  double p;  // of an element to become 0
  bool interruptible;
};

uint64_t dropout_counters(int64_t n);  // that n elements use up
void dropout(const DropoutTask& task, char* out);

}  // namespace tessella::launch
