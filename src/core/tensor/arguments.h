// Reading the arguments of a call on the fast path: ints, tuples and lists of them, and the
// few keywords that everyday calls use. Nothing here raises or explains: false means decline.
#pragma once

#include "../layout.h"
#include "tensor.h"

namespace tessella {

// Parameters by their names in the records; PyTorch's spellings are accepted where records do.
enum class Param : uint8_t { axis, keepdims, dtype, shape, axes, a, b, key, copy, count };

// Whether a keyword is one of these names, and not PyTorch's spelling of one.
bool is_own_keyword(PyObject* keyword);

// The interned name, borrowed.
PyObject* name_of(Param param);

struct Ints {
  int count = 0;
  int64_t values[MAX_NDIM];

  Shape span() const { return {values, static_cast<size_t>(count)}; }
};

bool parse_int(PyObject* value, int64_t* out);  // an int, not a bool, of 64 bits
bool parse_ints(PyObject* value, Ints* out);    // one int, or a tuple or list of them
// The same, or several ints as separate arguments.
bool parse_ints(PyObject* const* args, Py_ssize_t count, Ints* out);

// 0 … ndim-1 from an axis that may count from the end.
bool parse_axis(PyObject* value, int ndim, int64_t* out);

// Sorts what follows the operand into `values`, which the caller has filled with defaults: the
// first `positional` of `params` may come by place, all of them by keyword.
bool bind_params(PyObject* const* args, Py_ssize_t count, PyObject* keywords, const Param* params,
                 int total, int positional, PyObject** values);

// New references; nullptr with a Python error set.
PyObject* tuple_of(Shape numbers);
PyObject* dict_of(Param name, PyObject* value);  // takes over `value`, which may be nullptr
bool add_to(PyObject* dict, Param name, PyObject* value);  // likewise

}  // namespace tessella
