// Making, freeing and inspecting tensors.
#include "tensor.h"

#include <structmember.h>

#include "caller.h"
#include "exchange.h"
#include "function.h"
#include "gradients.h"
#include "guard.h"
#include "lines.h"
#include "method.h"
#include "node.h"
#include "operators.h"
#include "tape.h"
#include "view.h"

namespace tessella {

PyTypeObject* tensor_type;
int tensors_in_making;

Layout Tensor::layout() const {
  Layout out;  // checked when the tensor was made
  out.ndim = ndim;
  out.offset = offset;
  for (int i = 0; i < ndim; ++i) {
    out.shape[i] = shape()[i];
    out.strides[i] = strides()[i];
  }
  return out;
}

namespace {

// For a tensor over `buffer`, which is let go of if there is no memory for the object. Making an
// object may run the collector, and so any Python code: an arena is not reset meanwhile.
Tensor* allocate_object(Buffer* buffer) {
  ++tensors_in_making;
  Tensor* tensor = PyObject_GC_New(Tensor, tensor_type);
  --tensors_in_making;
  if (tensor) return tensor;
  release(buffer);
  throw PythonError{};
}

// Fills everything but the dims, for a tensor that takes over one reference to `buffer`.
void initialise(Tensor* tensor, Buffer* buffer, DType dtype, int ndim, int64_t offset, int64_t size,
                bool is_contiguous) {
  tensor->buffer = buffer;
  tensor->offset = offset;
  tensor->size = size;
  tensor->ndim = static_cast<uint8_t>(ndim);
  tensor->dtype = dtype;
  tensor->requires_grad = false;
  tensor->is_contiguous = is_contiguous;
  tensor->output = 0;
  tensor->is_blind = false;
  tensor->node = tensor->grad = tensor->base = tensor->hooks = tensor->weakrefs = nullptr;
}

Buffer* buffer_for(DType dtype, Shape shape, int64_t size) {
  try {
    return make_buffer(static_cast<size_t>(size * itemsize(dtype)));
  } catch (const MemoryEnds& ends) {
    int64_t rows = shape.empty() ? 0 : shape[0];
    fail_out_of_memory(ends, std::string(info(dtype).name) + " " + to_text(shape), rows);
  }
}

// Contiguous with a buffer of its own, described by `dims`, of which it takes a copy.
Tensor* make_fresh(DType dtype, const Dims& dims, int ndim, int64_t size) {
  Buffer* buffer = buffer_for(dtype, {dims.data(), static_cast<size_t>(ndim)}, size);
  Tensor* tensor = allocate_object(buffer);
  if (!tensor->dims.set(dims)) {
    release(buffer);
    PyObject_GC_Del(tensor);
    PyErr_NoMemory();
    throw PythonError{};
  }
  initialise(tensor, buffer, dtype, ndim, 0, size, true);
  PyObject_GC_Track(tensor);
  return tensor;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Tensor* tensor = as_tensor(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(tensor->node);
  Py_VISIT(tensor->grad);
  Py_VISIT(tensor->base);
  Py_VISIT(tensor->hooks);
  return 0;
}

int clear(PyObject* self) {
  Tensor* tensor = as_tensor(self);
  Py_CLEAR(tensor->node);
  if (tensor->grad) drop_gradients(tensor);
  Py_CLEAR(tensor->base);
  Py_CLEAR(tensor->hooks);
  return 0;
}

void deallocate(PyObject* self) {
  Tensor* tensor = as_tensor(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (tensor->weakrefs) PyObject_ClearWeakRefs(self);
  if (tensor->node || tensor->grad || tensor->base || tensor->hooks) clear(self);
  if (tensor->buffer) release(tensor->buffer);
  tensor->dims.release();
  type->tp_free(self);
  Py_DECREF(type);
}

// Tensor.__new__(cls, x): an instance of cls that shares x's memory. For subclasses; users make
// tensors with ts.tensor and its kin.
PyObject* make_instance(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) != 1) fail_tensor_arguments(PyTuple_GET_SIZE(args));
    PyObject* source = PyTuple_GET_ITEM(args, 0);
    if (!is_tensor(source)) fail_not_tensor(Py_TYPE(source)->tp_name);
    Tensor* x = as_tensor(source);
    Tensor* tensor = as_tensor(type->tp_alloc(type, 0));
    if (!tensor) throw PythonError{};
    if (!tensor->dims.set(x->dims)) {
      type->tp_free(as_object(tensor));
      throw PythonError{};
    }
    initialise(tensor, retain(x->buffer), x->dtype, x->ndim, x->offset, x->size, x->is_contiguous);
    return as_object(tensor);
  });
}

PyObject* tuple_of(const int64_t* numbers, int count, int64_t scale = 1) {
  PyObject* tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject* number = PyLong_FromLongLong(numbers[i] * scale);
    if (!number)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, number);
  }
  return tuple;
}

PyObject* get_shape(PyObject* self, void*) {
  return tuple_of(as_tensor(self)->shape(), as_tensor(self)->ndim);
}
PyObject* get_strides(PyObject* self, void*) {
  return tuple_of(as_tensor(self)->strides(), as_tensor(self)->ndim);
}
PyObject* get_byte_strides(PyObject* self, void*) {
  Tensor* x = as_tensor(self);
  return tuple_of(x->strides(), x->ndim, itemsize(x->dtype));
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(as_tensor(self)->ndim); }
// Numbers that PyTorch gives from methods: calling one gives it, or raises an error that says so.
PyObject* make_number(Hook type, PyObject* number) {
  if (!number || !hook(type)) return number;
  PyObject* out = PyObject_CallOneArg(hook(type), number);
  Py_DECREF(number);
  return out;
}
PyObject* get_size(PyObject* self, void*) {
  return make_number(Hook::size, PyLong_FromLongLong(as_tensor(self)->size));
}
PyObject* get_offset(PyObject* self, void*) {
  if (is_taping()) tape->note_offset(as_tensor(self));
  return PyLong_FromLongLong(as_tensor(self)->offset);
}
PyObject* get_itemsize(PyObject* self, void*) {
  return PyLong_FromLongLong(itemsize(as_tensor(self)->dtype));
}
PyObject* get_nbytes(PyObject* self, void*) {
  return PyLong_FromLongLong(as_tensor(self)->size * itemsize(as_tensor(self)->dtype));
}
PyObject* get_data_ptr(PyObject* self, void*) {
  Tensor* x = as_tensor(self);
  return guarded([&]() -> PyObject* {
    check_alive(x);
    void* address = x->is_virtual() ? nullptr : x->data();
    return make_number(Hook::address, PyLong_FromVoidPtr(address));
  });
}
PyObject* get_version(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(as_tensor(self)->buffer->version);
}
PyObject* get_is_contiguous(PyObject* self, void*) {
  return make_number(Hook::flag, PyBool_FromLong(as_tensor(self)->is_contiguous));
}
PyObject* get_is_virtual(PyObject* self, void*) {
  return PyBool_FromLong(as_tensor(self)->is_virtual());
}
PyObject* get_is_freed(PyObject* self, void*) {
  return PyBool_FromLong(as_tensor(self)->buffer->device == Device::freed);
}
PyObject* get_is_readonly(PyObject* self, void*) {
  return PyBool_FromLong(as_tensor(self)->buffer->is_readonly);
}
PyObject* get_dtype(PyObject* self, void*) {
  return Py_NewRef(dtype_object(as_tensor(self)->dtype));
}
PyObject* get_grad(PyObject* self, void*) {
  if (is_taping()) tape->touch_leaf(as_tensor(self));
  PyObject* grad = as_tensor(self)->grad;
  return Py_NewRef(grad ? grad : Py_None);
}
// A gradient is given by the user: another tensor, of the same shape and dtype.
int set_grad(PyObject* self, PyObject* value, void*) {
  Tensor* x = as_tensor(self);
  PyObject* done = guarded([&]() -> PyObject* {
    if (value && value != Py_None) {
      if (!is_tensor(value)) fail_not_tensor(Py_TYPE(value)->tp_name);
      Tensor* g = as_tensor(value);
      if (value == self) fail_gradient_of_itself();
      if (g->dtype != x->dtype || to_text(g->sizes()) != to_text(x->sizes()))
        fail_gradient(g->sizes(), info(g->dtype).name, x->sizes(), info(x->dtype).name);
    }
    if (is_taping()) tape->touch_leaf(x);
    set_gradient(x, value == Py_None ? nullptr : value);
    return Py_None;
  });
  return done ? 0 : -1;
}
PyObject* get_node(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    asks_gradient(as_tensor(self));
    PyObject* node = as_tensor(self)->node;
    return Py_NewRef(node ? node : Py_None);
  });
}
PyObject* get_requires_grad(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(asks_gradient(as_tensor(self))); });
}
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  if (!value) value = Py_None;  // `del` is no boolean
  PyObject* done = PyObject_CallMethod(self, "requires_grad_", "O", value);
  Py_XDECREF(done);
  return done ? 0 : -1;
}
PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] {
    asks_gradient(as_tensor(self));
    return PyBool_FromLong(!as_tensor(self)->node);
  });
}

PyObject* get_transposed(PyObject* self, void*) { return matrix_transpose(self); }
PyObject* get_last_transposed(PyObject* self, void*) { return last_axes_transpose(self); }

// What an attribute of the type is for a tensor.
PyObject* bind_to(PyObject* of_type, PyObject* self) {
  PyTypeObject* kind = Py_TYPE(of_type);
  if (kind == function_type || kind == caller_type || kind == &PyMethodDescr_Type)
    return make_method(of_type, self);
  if (!kind->tp_descr_get) return Py_NewRef(of_type);
  Py_INCREF(of_type);
  PyObject* found = kind->tp_descr_get(of_type, self, reinterpret_cast<PyObject*>(tensor_type));
  Py_DECREF(of_type);
  return found;
}

// What Python finds, else an UnknownName that suggests ours. Names that begin with an underscore
// are asked for by protocols (copying, pickling, NumPy), which go by the plain AttributeError; a
// property of a subclass that fails keeps its own error.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  // A plain tensor has what its type has; a subclass may have attributes of its own.
  PyObject* of_type = Py_TYPE(self) == tensor_type ? _PyType_Lookup(tensor_type, name) : nullptr;
  PyObject* found = of_type ? bind_to(of_type, self) : PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  if (!hook(Hook::unknown) || !PyUnicode_GET_LENGTH(name) || PyUnicode_READ_CHAR(name, 0) == '_')
    return nullptr;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name)) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return PyObject_CallFunctionObjArgs(hook(Hook::unknown), self, name, nullptr);
}

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "Sizes of the axes.", nullptr},
    {"strides", get_strides, nullptr, "Elements from one index to the next, for each axis.",
     nullptr},
    {"byte_strides", get_byte_strides, nullptr, "Strides in bytes, as NumPy counts them.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"offset", get_offset, nullptr, "Where the first element lies in the buffer.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"data_ptr", get_data_ptr, nullptr, "Address of the first element.", nullptr},
    {"dtype", get_dtype, nullptr, "The element type.", nullptr},
    {"version", get_version, nullptr, "Counts in-place writes to the buffer.", nullptr},
    {"is_contiguous", get_is_contiguous, nullptr,
     "Whether the elements lie in row-major order without gaps.", nullptr},
    {"is_virtual", get_is_virtual, nullptr, "Whether it has a shape but no memory.", nullptr},
    {"is_freed", get_is_freed, nullptr, "Whether an arena took its memory back.", nullptr},
    {"is_readonly", get_is_readonly, nullptr, "Whether writing is refused.", nullptr},
    {"grad", get_grad, set_grad, "The accumulated gradient, or None.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operation made it.", nullptr},
    {"grad_fn", get_node, nullptr, "The recorded operation that made it, or None.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients flow to it.",
     nullptr},
    {"T", get_transposed, nullptr, "A matrix with its two axes exchanged: a view.", nullptr},
    {"mT", get_last_transposed, nullptr, "The last two axes exchanged: a view.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

Tensor* make_tensor(DType dtype, Shape shape) {
  Layout layout = Layout::contiguous(shape);
  return make_over(buffer_for(dtype, shape, layout.size()), dtype, layout);
}

Tensor* make_like(DType dtype, const Tensor* x) {
  if (x->is_contiguous && x->size > 0) return make_fresh(dtype, x->dims, x->ndim, x->size);
  return make_tensor(dtype, x->sizes());
}

Tensor* make_over(Buffer* buffer, DType dtype, const Layout& layout) {
  Tensor* tensor = allocate_object(buffer);
  if (!tensor->dims.set(layout.shape, layout.ndim, layout.strides, layout.ndim)) {
    release(buffer);
    PyObject_GC_Del(tensor);
    PyErr_NoMemory();
    throw PythonError{};
  }
  initialise(tensor, buffer, dtype, layout.ndim, layout.offset, layout.size(),
             layout.is_contiguous());
  PyObject_GC_Track(tensor);
  return tensor;
}

void fail_no_values(const Tensor* x, const char* what) {
  if (x->is_virtual()) fail_virtual_value(what);
  std::string text = std::string(info(x->dtype).name) + " " + to_text(x->sizes());
  std::string line = line_of(x->buffer);
  fail_use_after_free(line.empty() ? text : text + ", made at " + line + ",",
                      *x->buffer->allocator);
}

Tensor* make_view(const Tensor* x, const Layout& layout) {
  check_alive(x);
  return make_over(retain(x->buffer), x->dtype, layout);
}

bool init_tensor_type(PyObject* module) {
  PyType_Slot slots[64] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_new, reinterpret_cast<void*>(make_instance)},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_doc, const_cast<char*>("An n-dimensional array over a shared buffer.")},
  };
  int used = 8;
  add_operator_slots(slots, &used);
  add_exchange_slots(slots, &used);
  slots[used] = {0, nullptr};
  PyType_Spec spec = {"tessella.Tensor", sizeof(Tensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return tensor_type &&
         PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)) == 0;
}

}  // namespace tessella
