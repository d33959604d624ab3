// The type Method: an operation or a method of the core together with the tensor it was asked of,
// as in x.sum. Every `x.sum()` makes one, because Tensor has a hook for unknown attributes and the
// interpreter then binds methods before it calls them; so they are kept and used again.
#pragma once

#include "tensor.h"

namespace tessella {

// A method of `self`; `function` takes it as its first argument. nullptr with a Python error.
PyObject* make_method(PyObject* function, PyObject* self);

bool init_method_type(PyObject* module);

}  // namespace tessella
