// The type Caller: a composite as Python sees it, the same object as ts.roll and Tensor.roll.
// Where every argument is plainly what its annotation asks for, it calls the body at once; all else
// goes to the composite's `call` in Python, which sorts, converts and explains.
#pragma once

#include "tensor.h"

namespace tessella {

extern PyTypeObject* caller_type;

bool init_caller_type(PyObject* module);

}  // namespace tessella
