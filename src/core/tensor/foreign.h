// Memory of another library as a tensor over it. What the buffer protocol and DLPack say of memory
// is brought into one description here, checked once, and shared or copied.
#pragma once

#include "tensor.h"

namespace tessella {

// An array as its exporter describes it; nothing about it is to be trusted.
struct Foreign {
  char* data;  // the first element
  DType dtype;
  Shape shape;
  Shape byte_strides;
  bool is_readonly;
  bool is_swapped;  // bytes in the order of the other kind of machine
};

// Keeps the exporter's memory alive. let_go is called once, with the interpreter's lock held, and
// frees the keeper.
struct Keeper {
  void (*let_go)(Keeper* keeper);
  Keeper* next;  // among those that wait to let go
};

// A tensor over the memory, which takes over `keeper`; or a copy, where it may be one and the
// memory cannot be used as it lies, after which the keeper let go. If it throws, the keeper is
// still the caller's.
Tensor* adopt(const Foreign& array, Keeper* keeper, bool may_copy);

// The byte strides of a row-major array; the shape is checked.
void fill_byte_strides(Shape shape, DType dtype, int64_t* byte_strides);

}  // namespace tessella
