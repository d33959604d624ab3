// The type Tensor: a buffer seen through a layout, with its place in the graph of gradients.
// Written against CPython's C API so that an operation costs no more than its arithmetic.
#pragma once

#include <Python.h>

#include "../buffer.h"
#include "../dtype.h"
#include "../layout.h"
#include "dims.h"

namespace tessella {

struct Tensor {
  PyObject_HEAD Buffer* buffer;
  int64_t offset;  // elements
  int64_t size;
  Dims dims;  // shape, then strides in elements
  uint8_t ndim;
  DType dtype;
  bool requires_grad;  // see `asks_gradient` in node.h
  bool is_contiguous;
  uint8_t output;  // which result of the node
  bool is_blind;   // a view of another dtype, or made inside no_grad: no write to it is recorded
  PyObject* node;  // the Node that made it, or nullptr for a leaf
  PyObject* grad;
  PyObject* base;   // whose memory a view shares, if gradients are to follow writes to either
  PyObject* hooks;  // of a leaf: called with its gradient, gives it; or nullptr
  PyObject* weakrefs;

  const int64_t* shape() const { return dims.data(); }
  const int64_t* strides() const { return dims.data() + ndim; }
  Shape sizes() const { return {shape(), ndim}; }
  Layout layout() const;
  char* data() const { return buffer->host_ptr() + offset * itemsize(dtype); }
  bool is_virtual() const { return buffer->device == Device::none; }
  bool has_memory() const { return buffer->has_memory(); }
};

extern PyTypeObject* tensor_type;
extern int tensors_in_making;  // while it is not 0, memory of operands is not taken back

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
inline Tensor* as_tensor(PyObject* object) { return reinterpret_cast<Tensor*>(object); }
inline PyObject* as_object(Tensor* tensor) { return reinterpret_cast<PyObject*>(tensor); }

// New references. These throw Error (out of memory) and never return nullptr.
Tensor* make_tensor(DType dtype, Shape shape);             // contiguous, not initialised
Tensor* make_like(DType dtype, const Tensor* x);           // contiguous, of x's shape
Tensor* make_view(const Tensor* x, const Layout& layout);  // shares the buffer; no node
Tensor* make_over(Buffer* buffer, DType dtype, const Layout& layout);  // takes over one reference

// Throws the Error of a tensor without values: a virtual one, or one whose memory is gone.
[[noreturn]] void fail_no_values(const Tensor* x, const char* what);
inline void check_values(const Tensor* x) {
  if (!x->has_memory()) fail_no_values(x, "this operation");
}
// Throws if the memory of x is gone.
inline void check_alive(const Tensor* x) {
  if (x->buffer->device == Device::freed) fail_no_values(x, "");
}

// Names the interpreter's error in place of a C++ one: thrown where a Python call failed.
struct PythonError {};

bool init_tensor_type(PyObject* module);

}  // namespace tessella
