// Tensor's memory for others: the slots of the buffer protocol.
#pragma once

#include <Python.h>

namespace tessella {

void add_exchange_slots(PyType_Slot* slots, int* used);

}  // namespace tessella
