// The buffer protocol: memoryview, NumPy and others read and write a tensor's memory in place.
#include "exchange.h"

#include "guard.h"
#include "tensor.h"

namespace tessella {

namespace {

constexpr const char* FORMATS[DTYPE_COUNT] = {"?", "b", "h",     "i", "l", "B",  "H", "I",
                                              "L", "e", nullptr, "f", "d", "Zf", "Zd"};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Tensor* x = as_tensor(self);
  const char* format = FORMATS[static_cast<int>(x->dtype)];
  PyObject* checked = guarded([&]() -> PyObject* {
    if (!format) fail_export("bfloat16 has no format in the buffer protocol");
    if (x->is_virtual()) fail_export("a virtual tensor has no memory");
    if ((flags & PyBUF_WRITABLE) && x->buffer->is_readonly) fail_export("the tensor is read-only");
    if (!(flags & PyBUF_STRIDES) && !x->is_contiguous) fail_export("the tensor is not contiguous");
    return Py_None;
  });
  view->obj = nullptr;
  if (!checked) return -1;
  // shape, then strides in bytes, for as long as the view lives
  auto* dims = static_cast<Py_ssize_t*>(PyMem_Malloc(sizeof(Py_ssize_t) * 2 * (x->ndim + 1u)));
  if (!dims) return PyErr_NoMemory(), -1;
  for (int i = 0; i < x->ndim; ++i) {
    dims[i] = x->shape()[i];
    dims[x->ndim + i] = x->strides()[i] * itemsize(x->dtype);
  }
  view->obj = Py_NewRef(self);
  view->buf = x->data();
  view->len = x->size * itemsize(x->dtype);
  view->readonly = x->buffer->is_readonly;
  view->itemsize = itemsize(x->dtype);
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->ndim = x->ndim;
  view->shape = flags & PyBUF_ND ? dims : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims + x->ndim : nullptr;
  view->suboffsets = nullptr;
  view->internal = dims;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

}  // namespace

void add_exchange_slots(PyType_Slot* slots, int* used) {
  slots[(*used)++] = {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)};
  slots[(*used)++] = {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)};
}

}  // namespace tessella
