// The operators of Tensor as C slots: arithmetic, comparison, indexing, conversion.
#pragma once

#include <Python.h>

namespace tessella {

// Python functions that slots fall back to, given at import by name.
enum class Hook : unsigned char {
  getitem,
  setitem,
  inplace,
  repr,
  foreign,
  iterate,
  contains,
  size,  // the types of x.size, x.data_ptr and x.is_contiguous
  address,
  flag,
  unknown,      // an attribute that does not exist
  refresh,      // a view whose base was written into
  overwritten,  // the error of a saved tensor that was written into
  anomaly,      // a result that is not finite
  context,      // an error in a rule of gradients
  conform,      // a gradient of another shape or dtype than what it is of
  count
};
bool set_hook(const char* name, PyObject* callable);
PyObject* hook(Hook which);

// Appends the slots at slots[*used]; there must be room.
void add_operator_slots(PyType_Slot* slots, int* used);

}  // namespace tessella
