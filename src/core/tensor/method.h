// The type Method: an operation or a method of the core together with the tensor it was asked of,
// as in x.sum. Every `x.sum()` makes one, because Tensor has a hook for unknown attributes and the
// interpreter then binds methods before it calls them; so they are kept and used again.
#pragma once

#include "tensor.h"

namespace tessella {

// A method of `self`; `function` takes it as its first argument. nullptr with a Python error.
PyObject* make_method(PyObject* function, PyObject* self);

// What `function` is as an attribute of `object`, for types that are methods too: itself on the
// type, else Python's bound method.
PyObject* bind_function(PyObject* function, PyObject* object, PyObject* type);

// An attribute of `object`, or where it has none of that name the one of `other`.
PyObject* own_attribute_or(PyObject* object, PyObject* name, PyObject* other);

bool init_method_type(PyObject* module);

}  // namespace tessella
