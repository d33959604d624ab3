// What Python sees of dynamic arrays without a Python frame: appending, popping, single items,
// views, iteration, the buffer protocol. What is not handled here goes to the method of the same
// meaning in dynamic.py, which explains.
#include "dynamic.h"

#include <structmember.h>

#include "arguments.h"
#include "guard.h"
#include "lines.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

PyTypeObject* array_type;
Allocator* (*allocator_from)(PyObject* handle);

namespace {

// The methods of dynamic.py that go on where this declines.
#define SLOW_METHODS(F) F(append) F(pop) F(assign) F(remove) F(refuse)
#define SLOW_METHOD(name) name,
enum class Slow : uint8_t { SLOW_METHODS(SLOW_METHOD) count };
#undef SLOW_METHOD
PyObject* slow_names[static_cast<int>(Slow::count)];

PyObject* decline(Slow method, PyObject* self, PyObject* const* args, Py_ssize_t count) {
  PyObject* stack[3] = {self};
  for (Py_ssize_t i = 0; i < count && i < 2; ++i) stack[i + 1] = args[i];
  return PyObject_VectorcallMethod(slow_names[static_cast<int>(method)], stack,
                                   static_cast<size_t>(count + 1), nullptr);
}

// --- items ---------------------------------------------------------------------------------------

template <class T, class Number>
bool put(Number number, char* at) {
  auto value = static_cast<T>(number);
  memcpy(at, &value, sizeof value);
  return true;
}

template <class T>
bool put_exactly(long long number, char* at) {
  return static_cast<T>(number) == number && put<T>(number, at);
}

// Integers in few instructions; false also where store_scalar knows better.
bool store_integer(long long number, DType dtype, char* at) {
  switch (dtype) {
    case DType::int8:
      return put_exactly<int8_t>(number, at);
    case DType::int16:
      return put_exactly<int16_t>(number, at);
    case DType::int32:
      return put_exactly<int32_t>(number, at);
    case DType::int64:
      return put<int64_t>(number, at);
    case DType::uint8:
      return put_exactly<uint8_t>(number, at);
    case DType::uint16:
      return put_exactly<uint16_t>(number, at);
    case DType::uint32:
      return put_exactly<uint32_t>(number, at);
    case DType::float32:
      return put<float>(static_cast<double>(number), at);
    case DType::float64:
      return put<double>(number, at);
    default:
      return false;
  }
}

// Plain numbers as store_scalar does it, the commonest pairs of Python's types and ours first.
bool store_item(PyObject* value, DType dtype, char* at) {
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    if (dtype == DType::float64) return put<double>(number, at);
    if (dtype == DType::float32) return put<float>(number, at);
  } else if (PyLong_CheckExact(value)) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow && store_integer(number, dtype, at)) return true;
  }
  Scalar scalar;
  if (!is_plain_number(value) || !store_scalar(value, dtype, &scalar)) return false;
  memcpy(at, scalar.bytes, static_cast<size_t>(itemsize(dtype)));
  return true;
}

PyObject* load_item(const Array* a, int64_t index) {
  check_alive(a);
  refuse_recording();
  return a->item_ndim ? as_object(view_item(a, index)) : load_scalar(a->dtype, a->at(index));
}

// An index that may be out of bounds or count from the end. May run Python code.
bool parse_index(PyObject* key, int64_t* out) {
  if (parse_int(key, out)) return true;
  bool is_other = PyBool_Check(key) || is_tensor(key) || !PyIndex_Check(key);
  if (is_other) return false;
  *out = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (*out == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
  return true;
}

// Within the length, counted from its start.
bool place_index(int64_t index, const Array* a, int64_t* out) {
  *out = index < 0 ? index + a->length : index;
  return *out >= 0 && *out < a->length;
}

bool find_index(PyObject* key, const Array* a, int64_t* out) {
  return parse_index(key, out) && place_index(*out, a, out);
}

// --- methods -------------------------------------------------------------------------------------

PyObject* append_growing(PyObject* self, PyObject* value) {
  PyObject* done = attempted([&]() -> PyObject* {
    Array* a = as_array(self);
    Scalar scalar;
    bool is_plain = !a->item_ndim && is_plain_number(value) && !is_taping();
    if (!is_plain || !store_scalar(value, a->dtype, &scalar)) return nullptr;
    make_room(a, 1);
    memcpy(a->at(a->length++), scalar.bytes, static_cast<size_t>(a->item_bytes));
    mark_written(a->buffer);
    return Py_None;
  });
  PyErr_Clear();
  return done ? Py_NewRef(done) : decline(Slow::append, self, &value, 1);
}

[[gnu::noinline]] PyObject* append_any(PyObject* self, PyObject* value) {
  Array* a = as_array(self);
  bool is_ready = a->length < a->capacity && !a->item_ndim && !a->is_filled &&
                  a->buffer->has_memory() && !is_taping();
  if (!is_ready || !store_item(value, a->dtype, a->at(a->length)))
    return append_growing(self, value);
  ++a->length;
  mark_written(a->buffer);
  Py_RETURN_NONE;
}

// The commonest of all without a call.
PyObject* append(PyObject* self, PyObject* value) {
  Array* a = as_array(self);
  Buffer* buffer = a->buffer;
  int64_t at = a->length;
  bool is_plain = !(a->item_ndim | a->is_filled | is_taping());  // one branch
  if (!is_plain || at >= a->capacity || !buffer->has_memory()) return append_any(self, value);
  if (a->dtype == DType::float64 && PyFloat_CheckExact(value)) {
    reinterpret_cast<double*>(buffer->data)[at] = PyFloat_AS_DOUBLE(value);
  } else if (a->dtype == DType::int64 && PyLong_CheckExact(value)) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) return append_any(self, value);
    reinterpret_cast<int64_t*>(buffer->data)[at] = number;
  } else {
    return append_any(self, value);
  }
  a->length = at + 1;
  mark_written(buffer);
  Py_RETURN_NONE;
}

PyObject* refuse_arguments(PyObject* self, Py_ssize_t count) {
  PyObject* given = PyLong_FromSsize_t(count);
  PyObject* done = given ? decline(Slow::refuse, self, &given, 1) : nullptr;
  Py_XDECREF(given);
  return done;
}

// To load an item of a user's dtype runs Python code: other threads may come in between. What is
// given is what is removed, and an item that cannot be given stays.
PyObject* pop(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  Array* a = as_array(self);
  int64_t index = -1, place;
  if (count > 1) return refuse_arguments(self, count);
  bool is_index = !count || parse_index(args[0], &index);
  auto is_ready = [a] { return !a->item_ndim && !a->is_filled && a->buffer->has_memory(); };
  PyObject* found = guarded([&]() -> PyObject* {
    while (is_index && is_ready() && place_index(index, a, &place)) {
      check_free(a);
      Buffer* buffer = retain(a->buffer);  // so that no other is taken for it
      int64_t length = a->length;
      uint32_t version = buffer->version;
      PyObject* item = guarded([&] { return load_item(a, place); });
      bool is_same = a->buffer == buffer && a->length == length && buffer->version == version;
      release(buffer);
      if (!item) return nullptr;
      if (is_same && !a->is_filled) {
        remove_items(a, place, 1);
        return item;
      }
      Py_DECREF(item);
    }
    return nullptr;
  });
  if (found || PyErr_Occurred()) return found;
  return decline(Slow::pop, self, args, count);
}

PyObject* pop_back(PyObject* self, PyObject*) { return pop(self, nullptr, 0); }

PyObject* as_tensor_method(PyObject* self, PyObject*) {
  return guarded([&] { return as_object(view_items(as_array(self), 0, as_array(self)->length)); });
}

PyObject* owns(PyObject* self, PyObject* address) {
  const Array* a = as_array(self);
  PyObject* number = PyNumber_Index(address);
  if (!number) return nullptr;
  size_t place = PyLong_AsSize_t(number);
  Py_DECREF(number);
  if (PyErr_Occurred()) PyErr_Clear(), place = 0;  // of no element
  size_t start = reinterpret_cast<uintptr_t>(a->buffer->host_ptr());
  size_t inside = place - start, bytes = static_cast<size_t>(a->length * a->item_bytes);
  bool is_live = a->buffer->has_memory() && place >= start && inside < bytes;
  return PyBool_FromLong(is_live && inside % static_cast<size_t>(itemsize(a->dtype)) == 0);
}

// --- slots ---------------------------------------------------------------------------------------

Py_ssize_t length(PyObject* self) {
  Array* a = as_array(self);
  if (!is_taping()) return a->length;
  return guarded([&] { return refuse_recording(), self; }) ? a->length : -1;
}

// For iterators, which end at the first IndexError.
PyObject* sequence_item(PyObject* self, Py_ssize_t index) {
  Array* a = as_array(self);
  if (index < 0 || index >= a->length) return PyErr_SetNone(PyExc_IndexError), nullptr;
  return guarded([&] { return load_item(a, index); });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  Array* a = as_array(self);
  int64_t index;
  bool is_one = find_index(key, a, &index);
  return guarded([&]() -> PyObject* {
    if (is_one) return load_item(a, index);
    Result items(view_items(a, 0, a->length));
    return PyObject_GetItem(as_object(items.get()), key);
  });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  Array* a = as_array(self);
  int64_t index;
  bool is_one = value && find_index(key, a, &index) && !a->item_ndim && a->buffer->has_memory() &&
                !is_taping();
  if (is_one && store_item(value, a->dtype, a->at(index))) return mark_written(a->buffer), 0;
  PyObject* args[] = {key, value};
  PyObject* done =
      value ? decline(Slow::assign, self, args, 2) : decline(Slow::remove, self, args, 1);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

// A tensor over the items exports them: it pins the memory while it is shared.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  PyObject* items = as_tensor_method(self, nullptr);
  int status = items ? PyObject_GetBuffer(items, view, flags) : -1;
  Py_XDECREF(items);
  return status;
}

PyObject* get_length(PyObject* self, void*) {
  return guarded([&] { return refuse_recording(), PyLong_FromLongLong(as_array(self)->length); });
}
PyObject* get_capacity(PyObject* self, void*) {
  return PyLong_FromLongLong(as_array(self)->capacity);
}
PyObject* get_growth(PyObject* self, void*) { return PyBool_FromLong(as_array(self)->growth); }
PyObject* get_dtype(PyObject* self, void*) {
  return Py_NewRef(dtype_object(as_array(self)->dtype));
}
PyObject* get_is_freed(PyObject* self, void*) {
  return PyBool_FromLong(!as_array(self)->buffer->has_memory());
}
PyObject* get_item_shape(PyObject* self, void*) { return tuple_of(as_array(self)->item_sizes()); }
PyObject* get_data_ptr(PyObject* self, void*) {
  return guarded([&] {
    check_alive(as_array(self));
    return PyLong_FromVoidPtr(as_array(self)->at(0));
  });
}

// --- the type ------------------------------------------------------------------------------------

PyObject* make_instance(PyTypeObject* type, PyObject* args, PyObject*) {
  int dtype, growth;
  long long capacity;
  PyObject *item_shape, *handle;
  if (!PyArg_ParseTuple(args, "iLpOO", &dtype, &capacity, &growth, &item_shape, &handle))
    return nullptr;
  Ints sizes;
  Allocator* allocator = allocator_from(handle);
  Py_ssize_t axes = PyTuple_Check(item_shape) ? PyTuple_GET_SIZE(item_shape) : 0;
  if (axes >= MAX_NDIM) return guarded([&]() -> PyObject* { fail_too_many_axes(axes + 1); });
  bool is_dtype = dtype >= 0 && dtype < DTYPE_COUNT + USER_DTYPES &&
                  dtype_object(static_cast<DType>(dtype)) != Py_None;
  if (!is_dtype || capacity < 0 || !allocator || !parse_ints(item_shape, &sizes)) {
    PyErr_SetString(PyExc_TypeError, "a dtype, a capacity, sizes and a handle are needed");
    return nullptr;
  }
  return guarded([&] {
    return reinterpret_cast<PyObject*>(
        make_array(type, static_cast<DType>(dtype), capacity, growth, sizes.span(), *allocator));
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void deallocate(PyObject* self) {
  Array* a = as_array(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (a->weakrefs) PyObject_ClearWeakRefs(self);
  if (a->buffer) release(a->buffer);
  if (a->allocator) a->allocator->release_handle();
  a->item_shape.release();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* prepare_subclass(PyObject* type, PyObject*);

PyMethodDef methods[] = {
    {"append", append, METH_O, "Add an item at the end: amortised O(1)."},
    {"push_back", append, METH_O, "Add an item at the end: amortised O(1)."},
    {"pop", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(pop)), METH_FASTCALL,
     "Take out the last item, or the one at an index, and give it."},
    {"pop_back", pop_back, METH_NOARGS, "Take out the last item and give it."},
    {"as_tensor", as_tensor_method, METH_NOARGS,
     "Give the items as a tensor that shares their memory."},
    {"owns", owns, METH_O, "Tell whether an address is that of a live element."},
    {"__init_subclass__", prepare_subclass, METH_NOARGS | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Python calls a method without a detour only where the object is of exactly the type that has it:
// subclasses, of which dynamic.py's is the first, get methods of their own.
PyObject* prepare_subclass(PyObject* type, PyObject*) {
  auto* subclass = reinterpret_cast<PyTypeObject*>(type);
  for (PyMethodDef* each = methods; each->ml_name; ++each) {
    PyObject* now = PyObject_GetAttrString(type, each->ml_name);
    bool is_ours = now && Py_IS_TYPE(now, &PyMethodDescr_Type) &&
                   reinterpret_cast<PyMethodDescrObject*>(now)->d_method == each;
    Py_XDECREF(now);
    if (!now) return nullptr;
    if (!is_ours) continue;  // defined anew, or not called on objects
    PyObject* own = PyDescr_NewMethod(subclass, each);
    int status = own ? PyObject_SetAttrString(type, each->ml_name, own) : -1;
    Py_XDECREF(own);
    if (status < 0) return nullptr;
  }
  Py_RETURN_NONE;
}

PyGetSetDef properties[] = {
    {"length", get_length, nullptr, "Number of items.", nullptr},
    {"capacity", get_capacity, nullptr, "Number of items that there is room for.", nullptr},
    {"growth", get_growth, nullptr, "Whether it grows when it is full.", nullptr},
    {"dtype", get_dtype, nullptr, "The element type.", nullptr},
    {"item_shape", get_item_shape, nullptr, "Sizes of one item; () for numbers.", nullptr},
    {"is_freed", get_is_freed, nullptr, "Whether an arena took its memory back.", nullptr},
    {"data_ptr", get_data_ptr, nullptr, "Address of the first element.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Array, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

bool init_array_type(PyObject* module) {
#define INTERN(name) \
  slow_names[static_cast<int>(Slow::name)] = PyUnicode_InternFromString("_" #name);
  SLOW_METHODS(INTERN)
#undef INTERN
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_new, reinterpret_cast<void*>(make_instance)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_iter, reinterpret_cast<void*>(PySeqIter_New)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_tp_doc, const_cast<char*>("Items of one dtype and shape, in memory that grows.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessella._core.DynamicArray", sizeof(Array), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
  array_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return array_type && PyModule_AddObjectRef(module, "DynamicArray",
                                             reinterpret_cast<PyObject*>(array_type)) == 0;
}

}  // namespace tessella
