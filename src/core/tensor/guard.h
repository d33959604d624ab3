// The one guard between C++ and Python: every entry from Python runs inside it, and each C++
// exception leaves as the Python exception of its code.
#pragma once

#include <Python.h>

#include <exception>
#include <new>

#include "../error.h"
#include "../threads.h"
#include "tensor.h"

namespace tessella {

// errors.py's constructor of exceptions, given at import: (code name, what, hint) -> exception.
void set_error_maker(PyObject* maker);
void raise_in_python(const Error& error);

// The Python object of each dtype, given by dtypes.py: at import, and when one is registered.
void set_dtype_object(DType dtype, PyObject* object);
PyObject* dtype_object(DType dtype);
bool dtype_from_object(PyObject* object, DType* out);  // not for those of users

template <class F>
PyObject* guarded(F&& body) {
  try {
    return body();
  } catch (const Error& error) {
    raise_in_python(error);
  } catch (const PythonError&) {
  } catch (const Interrupted&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const MemoryEnds&) {  // of an allocation that no Error tells of
    PyErr_NoMemory();
  } catch (const std::exception& error) {  // of the standard library
    PyErr_SetString(PyExc_SystemError, error.what());
  }
  return nullptr;
}

// For the fast path: an Error means decline (nullptr, no Python error), so that apply() explains.
template <class F>
PyObject* attempted(F&& body) {
  try {
    return body();
  } catch (const Error&) {
  } catch (const PythonError&) {
  } catch (const Interrupted&) {
  } catch (const MemoryEnds&) {
  } catch (const std::exception&) {
  }
  return nullptr;
}

}  // namespace tessella
