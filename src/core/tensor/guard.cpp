// Translation of errors and dtypes between the core and Python.
#include "guard.h"

namespace tessella {

namespace {

PyObject* error_maker;
PyObject* dtype_objects[DTYPE_COUNT + USER_DTYPES];

}  // namespace

void set_error_maker(PyObject* maker) { Py_XSETREF(error_maker, Py_NewRef(maker)); }

void raise_in_python(const Error& error) {
  PyObject* made = PyObject_CallFunction(error_maker, "iss", static_cast<int>(error.code),
                                         error.what.c_str(), error.hint.c_str());
  if (!made) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made)), made);
  Py_DECREF(made);
}

void set_dtype_object(DType dtype, PyObject* object) {
  Py_XSETREF(dtype_objects[static_cast<int>(dtype)], Py_NewRef(object));
}

PyObject* dtype_object(DType dtype) {
  PyObject* object = dtype_objects[static_cast<int>(dtype)];
  return object ? object : Py_None;  // None while the package is being imported
}

bool dtype_from_object(PyObject* object, DType* out) {
  for (int i = 0; i < DTYPE_COUNT; ++i)
    if (dtype_objects[i] == object) return *out = static_cast<DType>(i), true;
  return false;
}

}  // namespace tessella
