// Slots go straight to the fast path; a decline goes to apply(), an operand of a foreign type to
// its own reflected operator or to an error that explains.
#include "operators.h"

#include <string.h>

#include "anomaly.h"
#include "function.h"
#include "guard.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

PyObject* hooks[static_cast<int>(Hook::count)];
constexpr const char* HOOK_NAMES[] = {
    "getitem", "setitem", "inplace", "repr",    "foreign",     "iterate", "contains", "size",
    "address", "flag",    "unknown", "refresh", "overwritten", "anomaly", "context",  "conform"};

bool is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}

bool is_operand(PyObject* object) { return is_tensor(object) || is_number(object); }

// foreign(function, x, y): NotImplemented, a result (NumPy's scalars), or an error that explains.
PyObject* call_foreign(Function* function, PyObject* x, PyObject* y) {
  return PyObject_CallFunctionObjArgs(hook(Hook::foreign), function->record, x, y, nullptr);
}

// Operators work once the records are made; before, an import is under way or has failed.
PyObject* refuse_early() {
  PyErr_SetString(PyExc_RuntimeError, "tessella is not imported yet, or its import failed");
  return nullptr;
}

PyObject* binary(Slot slot, PyObject* x, PyObject* y) {
  Function* function = function_of(slot);
  if (!function) return refuse_early();
  PyObject* args[] = {x, y};
  if (!modes) {
    PyObject* out =
        slot == Slot::matmul ? fast_matmul(function, x, y) : fast_elementwise(function, args, 2);
    if (out) return ++counts.fast, inspected(function, out, args, 2);
    if (PyErr_Occurred()) return nullptr;
  }
  if (!is_operand(x) || !is_operand(y)) return call_foreign(function, x, y);
  return call_slow(function, args, 2, nullptr);
}

PyObject* unary(Slot slot, PyObject* x) {
  Function* function = function_of(slot);
  if (!function) return refuse_early();
  if (!modes) {
    PyObject* out = fast_elementwise(function, &x, 1);
    if (out) return ++counts.fast, inspected(function, out, &x, 1);
    if (PyErr_Occurred()) return nullptr;
  }
  return call_slow(function, &x, 1, nullptr);
}

template <Slot slot>
PyObject* binary_slot(PyObject* x, PyObject* y) {
  return binary(slot, x, y);
}
template <Slot slot>
PyObject* unary_slot(PyObject* x) {
  return unary(slot, x);
}

PyObject* power_slot(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(Slot::pow, x, y);
}

template <Slot slot>
PyObject* inplace_slot(PyObject* x, PyObject* y) {
  Function* function = function_of(slot);
  if (!function) return refuse_early();
  if (!modes) {
    PyObject* operands[] = {x, y};
    PyObject* out = fast_into(function, operands, 2, x);
    if (out) return ++counts.fast, inspected(function, out, operands, 2);
    if (PyErr_Occurred()) return nullptr;
  }
  ++counts.declined;
  return PyObject_CallFunctionObjArgs(hook(Hook::inplace), function->record, x, y, nullptr);
}
PyObject* inplace_power_slot(PyObject* x, PyObject* y, PyObject*) {
  return inplace_slot<Slot::pow>(x, y);
}

PyObject* compare(PyObject* x, PyObject* y, int operation) {
  constexpr Slot slots[] = {Slot::less,      Slot::less_equal, Slot::equal,
                            Slot::not_equal, Slot::greater,    Slot::greater_equal};
  // == and != with something that is no number follow Python: different objects differ.
  bool is_equality = operation == Py_EQ || operation == Py_NE;
  bool is_item = is_user(as_tensor(x)->dtype) && PyTuple_Check(y);
  if (is_equality && !is_operand(y) && !is_item &&
      !PyObject_HasAttrString(y, "__array_interface__") && !PyObject_HasAttrString(y, "__dlpack__"))
    Py_RETURN_NOTIMPLEMENTED;
  return binary(slots[operation], x, y);
}

PyObject* divide_with_remainder(PyObject* x, PyObject* y) {
  PyObject* quotient = binary(Slot::floor_divide, x, y);
  if (!quotient || quotient == Py_NotImplemented) return quotient;
  PyObject* remainder = binary(Slot::remainder, x, y);
  PyObject* both = remainder ? PyTuple_Pack(2, quotient, remainder) : nullptr;
  Py_DECREF(quotient);
  Py_XDECREF(remainder);
  return both;
}

PyObject* get_item(PyObject* x, PyObject* key) {
  if (!modes) {
    PyObject* out = fast_getitem(x, key);
    if (!out && !PyErr_Occurred()) out = fast_gather(x, key);
    if (out) return ++counts.fast, out;
    if (PyErr_Occurred()) return nullptr;
  }
  ++counts.declined;
  return PyObject_CallFunctionObjArgs(hook(Hook::getitem), x, key, nullptr);
}

bool fast_assign(PyObject* x, PyObject* key, PyObject* value) {
  return fast_setitem(x, key, value) || (!PyErr_Occurred() && fast_scatter(x, key, value));
}

// A tuple, which is one item of a user's dtype. What is wrong with it is said in Python.
bool fast_assign_item(PyObject* x, PyObject* key, PyObject* value) {
  PyObject* item = attempted([&] { return as_object(make_item(value, as_tensor(x)->dtype)); });
  if (!item && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
  bool is_done = item && fast_assign(x, key, item);
  Py_XDECREF(item);
  return is_done;
}

int set_item(PyObject* x, PyObject* key, PyObject* value) {
  if (!modes && value) {
    bool is_item = is_user(as_tensor(x)->dtype) && PyTuple_Check(value);
    if (is_item ? fast_assign_item(x, key, value) : fast_assign(x, key, value))
      return ++counts.fast, 0;
    if (PyErr_Occurred()) return -1;
  }
  ++counts.declined;
  // `del x[key]` comes here without a value; the hook refuses that.
  PyObject* out = PyObject_CallFunctionObjArgs(hook(Hook::setitem), x, key,
                                               value ? value : Py_NotImplemented, nullptr);
  Py_XDECREF(out);
  return out ? 0 : -1;
}

Py_ssize_t length(PyObject* x) {
  Tensor* tensor = as_tensor(x);
  if (tensor->ndim > 0) return tensor->shape()[0];
  guarded([]() -> PyObject* { fail_length_of_scalar(); });
  return -1;
}

PyObject* represent(PyObject* x) {
  return PyObject_CallFunctionObjArgs(hook(Hook::repr), x, nullptr);
}

PyObject* iterate(PyObject* x) {
  return PyObject_CallFunctionObjArgs(hook(Hook::iterate), x, nullptr);
}

int contains(PyObject* x, PyObject* value) {
  PyObject* found = PyObject_CallFunctionObjArgs(hook(Hook::contains), x, value, nullptr);
  int truth = found ? PyObject_IsTrue(found) : -1;
  Py_XDECREF(found);
  return truth;
}

Py_hash_t hash(PyObject* x) { return _Py_HashPointer(x); }

// Python would go on with a number of one call, in all calls.
void refuse_reading(const char* what) {
  refuse_capture(what,
                 "return the tensor and read it outside; to choose by its value, use where(…)");
}

// Where a size or a place is meant.
void refuse_index() {
  refuse_capture("reading an integer for Python",
                 "give an index tensor: x[i + ts.arange(n)] for the n rows from i on, "
                 "ts.take(x, i, axis=0) for one; a length is compared: ts.arange(size) < n");
}

// The only element, as a Python number.
PyObject* only_item(PyObject* x, const char* what) {
  return guarded([&]() -> PyObject* {
    Tensor* tensor = as_tensor(x);
    if (tensor->size != 1) fail_not_one_element(what, tensor->sizes());
    if (!tensor->has_memory()) fail_no_values(tensor, what);
    refuse_reading(what);
    return load_scalar(tensor->dtype, tensor->data());
  });
}

PyObject* only_number(PyObject* x, const char* what) {
  return guarded([&]() -> PyObject* {
    if (is_user(as_tensor(x)->dtype)) fail_user_dtype(info(as_tensor(x)->dtype).name, what);
    return only_item(x, what);
  });
}

template <PyObject* (*convert)(PyObject*)>
PyObject* convert_item(PyObject* x, const char* what) {
  PyObject* item = only_number(x, what);
  if (!item) return nullptr;
  bool is_real = kind(as_tensor(x)->dtype) != DKind::complex;
  PyObject* out =
      is_real ? convert(item) : guarded([=]() -> PyObject* { fail_complex_value(what); });
  Py_DECREF(item);
  return out;
}

PyObject* to_float(PyObject* x) { return convert_item<PyNumber_Float>(x, "float()"); }
PyObject* to_int(PyObject* x) { return convert_item<PyNumber_Long>(x, "int()"); }

PyObject* to_index(PyObject* x) {
  return guarded([&]() -> PyObject* {
    DKind of = kind(as_tensor(x)->dtype);
    if (as_tensor(x)->ndim != 0 || (of != DKind::signed_int && of != DKind::unsigned_int))
      fail_not_index(info(as_tensor(x)->dtype).name, as_tensor(x)->sizes());
    if (as_tensor(x)->has_memory()) refuse_index();
    return only_item(x, "index");
  });
}

int to_bool(PyObject* x) {
  PyObject* item = only_number(x, "bool()");
  if (!item) return -1;
  int truth = PyObject_IsTrue(item);
  Py_DECREF(item);
  return truth;
}

PyObject* to_complex(PyObject* x, PyObject*) {
  PyObject* item = only_number(x, "complex()");
  if (!item) return nullptr;
  PyObject* out =
      PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type), item, nullptr);
  Py_DECREF(item);
  return out;
}

// item() or item(flat): one element as a Python number.
PyObject* item(PyObject* x, PyObject* const* args, Py_ssize_t count) {
  if (count == 0) return only_item(x, "item()");
  return guarded([&]() -> PyObject* {
    Tensor* tensor = as_tensor(x);
    if (count != 1) fail_item_arguments(count);
    int64_t flat = PyLong_AsLongLong(args[0]);
    if (flat == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      fail_item_index(Py_TYPE(args[0])->tp_name);
    }
    if (flat < -tensor->size || flat >= tensor->size) fail_flat_index(flat, tensor->size);
    if (!tensor->has_memory()) fail_no_values(tensor, "item()");
    refuse_reading("item()");
    if (flat < 0) flat += tensor->size;
    int64_t offset = 0;
    for (int axis = tensor->ndim - 1; axis >= 0; --axis) {
      offset += flat % tensor->shape()[axis] * tensor->strides()[axis];
      flat /= tensor->shape()[axis];
    }
    return load_scalar(tensor->dtype, tensor->data() + offset * itemsize(tensor->dtype));
  });
}

PyMethodDef methods[] = {
    {"item", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(item)), METH_FASTCALL,
     "item(flat=None)\n\nThe only element, or the one at a flat row-major index, as a Python "
     "number.\n\n>>> ts.tensor([[1, 2], [3, 4]]).item(2)\n3\n"},
    {"__complex__", to_complex, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool set_hook(const char* name, PyObject* callable) {
  for (int i = 0; i < static_cast<int>(Hook::count); ++i)
    if (!strcmp(name, HOOK_NAMES[i])) {
      Py_XSETREF(hooks[i], Py_NewRef(callable));
      return true;
    }
  return false;
}

PyObject* hook(Hook which) { return hooks[static_cast<int>(which)]; }

void add_operator_slots(PyType_Slot* slots, int* used) {
  auto add = [&](int id, auto function) {
    slots[(*used)++] = {id, reinterpret_cast<void*>(function)};
  };
  add(Py_nb_add, binary_slot<Slot::add>);
  add(Py_nb_subtract, binary_slot<Slot::sub>);
  add(Py_nb_multiply, binary_slot<Slot::mul>);
  add(Py_nb_true_divide, binary_slot<Slot::div>);
  add(Py_nb_floor_divide, binary_slot<Slot::floor_divide>);
  add(Py_nb_remainder, binary_slot<Slot::remainder>);
  add(Py_nb_power, power_slot);
  add(Py_nb_matrix_multiply, binary_slot<Slot::matmul>);
  add(Py_nb_and, binary_slot<Slot::bitwise_and>);
  add(Py_nb_or, binary_slot<Slot::bitwise_or>);
  add(Py_nb_xor, binary_slot<Slot::bitwise_xor>);
  add(Py_nb_lshift, binary_slot<Slot::bitwise_left_shift>);
  add(Py_nb_rshift, binary_slot<Slot::bitwise_right_shift>);
  add(Py_nb_divmod, divide_with_remainder);
  add(Py_nb_negative, unary_slot<Slot::neg>);
  add(Py_nb_positive, unary_slot<Slot::positive>);
  add(Py_nb_absolute, unary_slot<Slot::abs>);
  add(Py_nb_invert, unary_slot<Slot::bitwise_invert>);
  add(Py_nb_inplace_add, inplace_slot<Slot::add>);
  add(Py_nb_inplace_subtract, inplace_slot<Slot::sub>);
  add(Py_nb_inplace_multiply, inplace_slot<Slot::mul>);
  add(Py_nb_inplace_true_divide, inplace_slot<Slot::div>);
  add(Py_nb_inplace_floor_divide, inplace_slot<Slot::floor_divide>);
  add(Py_nb_inplace_remainder, inplace_slot<Slot::remainder>);
  add(Py_nb_inplace_power, inplace_power_slot);
  add(Py_nb_inplace_matrix_multiply, inplace_slot<Slot::matmul>);
  add(Py_nb_inplace_and, inplace_slot<Slot::bitwise_and>);
  add(Py_nb_inplace_or, inplace_slot<Slot::bitwise_or>);
  add(Py_nb_inplace_xor, inplace_slot<Slot::bitwise_xor>);
  add(Py_nb_inplace_lshift, inplace_slot<Slot::bitwise_left_shift>);
  add(Py_nb_inplace_rshift, inplace_slot<Slot::bitwise_right_shift>);
  add(Py_nb_bool, to_bool);
  add(Py_nb_float, to_float);
  add(Py_nb_int, to_int);
  add(Py_nb_index, to_index);
  add(Py_mp_subscript, get_item);
  add(Py_mp_ass_subscript, set_item);
  add(Py_mp_length, length);
  add(Py_tp_richcompare, compare);
  add(Py_tp_hash, hash);
  add(Py_tp_repr, represent);
  add(Py_tp_iter, iterate);
  add(Py_sq_contains, contains);
  add(Py_tp_methods, methods);
}

}  // namespace tessella
