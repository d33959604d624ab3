// Drives elementwise kernels over operands of any strides: broadcasting is stride 0, halves are
// converted tile by tile, large work is shared with the pool.
#pragma once

#include <atomic>

#include "../kernels/elementwise.h"
#include "operand.h"

namespace tessella::launch {

struct ElementwiseTask {
  Opcode opcode;
  DType dtype;  // of the operands (for where: of y and z); each operand also names its own
  int ndim;
  const int64_t* shape;
  Operand out;
  Operand in[3];
  bool interruptible;
  // Looks at results while they are in cache: set to false by one that is not finite. Only where
  // `out` is contiguous and has the dtype that is computed in.
  std::atomic<bool>* is_finite = nullptr;
};

// The output's dtype, or false where the operation has no kernel for the operands' dtype.
bool elementwise_out_dtype(Opcode opcode, DType dtype, DType* out);

// out may share memory with an input only if both have the same layout.
void elementwise(const ElementwiseTask& task);

}  // namespace tessella::launch
