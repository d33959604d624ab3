// The driver of the matrix product: chooses a path, cuts c into chunks whose borders depend on the
// shape alone, and runs kernels on them over the pool. It allocates nothing.
//
// The order in which k is summed is a function of (m, n, k, dtype): one chain of multiply-adds in
// increasing k for each element of c; where c is small and k long, a chain for each of some parts
// of k, added up in order; when m or n is 1, fixed lanes joined by a fixed tree. Strides, threads,
// the batch and the path never change it.
#pragma once

#include "../dtype.h"

namespace tessella::launch {

struct MatmulOperand {
  void* data;
  int64_t row_stride, col_stride;  // in elements; of any sign, or 0, for inputs
  const int64_t* batch_strides;    // 0 where the operand is broadcast
};

// What is done with elements of c as soon as they are final and still in a cache: a run of `count`
// of them from number `first` of all of c on, on any of the threads. Only for contiguous c.
struct MatmulTail {
  void (*run)(void* context, int64_t first, int64_t count, int worker);
  void* context;
  bool writes_outside;  // of a program: once begun, the product runs to its end
};

// c (m, n) = a (m, k) @ b (k, n) for each index of the batch. c overlaps neither itself, a nor b.
struct MatmulTask {
  DType dtype;  // any but bool; halves sum in float32, integers wrap around
  int64_t m, n, k;
  int batch_ndim;
  const int64_t* batch_shape;
  MatmulOperand a, b, c;
  bool accumulate;  // c + a @ b, with the bits of the two operations
  bool interruptible;
  const MatmulTail* tail = nullptr;
};

}  // namespace tessella::launch
