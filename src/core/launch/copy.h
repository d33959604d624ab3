// Copies between tensors of one shape and any strides, converted where their dtypes differ.
#pragma once

#include "operand.h"

namespace tessella::launch {

// out = x; out and x do not overlap. x may repeat elements (stride 0), out may not.
void copy(int ndim, const int64_t* shape, const Operand& out, const Operand& x, bool interruptible);

}  // namespace tessella::launch
