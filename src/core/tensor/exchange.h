// Tensors and the buffer protocol: Tensor's slots for it, and tensors over others' buffers.
#pragma once

#include "tensor.h"

namespace tessella {

void add_exchange_slots(PyType_Slot* slots, int* used);

// A tensor over the memory of an object with the buffer protocol, or a copy of its elements where
// it may be one and the memory cannot be used as it lies.
Tensor* from_buffer(PyObject* object, bool may_copy);

}  // namespace tessella
