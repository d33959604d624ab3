// The views that have a fast path, by opcode, and the transposes that are properties of Tensor.
#pragma once

#include <Python.h>
#include <stdint.h>

namespace tessella {

enum class ViewOp : uint8_t {
  permute,
  transpose,
  reshape,
  squeeze,
  unsqueeze,
  flip,
  broadcast_to,
  view,
};
constexpr const char* VIEW_NAMES[] = {"permute",   "transpose", "reshape",      "squeeze",
                                      "unsqueeze", "flip",      "broadcast_to", "view"};

// x.T: the two axes of a matrix exchanged; other ranks are refused with an Error.
PyObject* matrix_transpose(PyObject* x);
// x.mT: the last two axes exchanged.
PyObject* last_axes_transpose(PyObject* x);

}  // namespace tessella
