// How a driver in launch/ sees a tensor: a pointer to its first element, a dtype, and strides in
// elements over axes that all operands of one call share. Drivers choose a path, cut the work into
// chunks whose borders depend on the shape alone, and call kernels; they know nothing of Python.
#pragma once

#include "../dtype.h"
#include "../layout.h"

namespace tessella::launch {

struct Operand {
  char* data;
  DType dtype;
  const int64_t* strides;
};

}  // namespace tessella::launch
