// The fast path of operations over several operands, and how their values are read.
#include "fused.h"

#include "arguments.h"
#include "guard.h"
#include "result.h"

namespace tessella {

namespace {

bool have_memory(Values values, int count) {
  for (int i = 0; i < count; ++i)
    if (is_tensor(values[i]) && !as_tensor(values[i])->has_memory()) return false;
  return true;
}

// The parameters by their names, which the record knows.
PyObject* params_of(Function* function, const FusedOp& op, Values values) {
  static PyObject* const name = PyUnicode_InternFromString("params");
  PyObject* names = PyObject_GetAttr(function->record, name);
  PyObject* dict = names && PyDict_Check(names) ? PyDict_New() : nullptr;
  Py_ssize_t place = 0;
  PyObject *key, *standard;
  for (int i = 0; dict && i < op.params && PyDict_Next(names, &place, &key, &standard); ++i)
    if (PyDict_SetItem(dict, key, values[op.operands + i]) != 0) Py_CLEAR(dict);
  Py_XDECREF(names);
  return dict;
}

}  // namespace

void Outline::take(const Tensor* x) {
  dtype = x->dtype;
  ndim = x->ndim;
  for (int i = 0; i < ndim; ++i) shape[i] = x->shape()[i];
}

bool is_plain(const Tensor* x, DType dtype) { return x && x->dtype == dtype && x->is_contiguous; }

bool is_vector(PyObject* value, DType dtype, int64_t size) {
  if (value == Py_None) return true;
  const Tensor* x = tensor_or_none(value);
  return is_plain(x, dtype) && x->ndim == 1 && x->size == size;
}

bool has_shape_of(const Tensor* x, const Tensor* y) {
  if (x->ndim != y->ndim) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != y->shape()[i]) return false;
  return true;
}

bool read_int(PyObject* value, int64_t* out) { return parse_int(value, out); }

bool read_real(PyObject* value, double* out) {
  if (!PyFloat_CheckExact(value)) return false;
  *out = PyFloat_AS_DOUBLE(value);
  return true;
}

bool read_truth(PyObject* value, bool* out) {
  *out = value == Py_True;
  return PyBool_Check(value);
}

bool read_reduction(PyObject* value, launch::Reduction* out) {
  if (!PyUnicode_Check(value)) return false;
  auto is = [&](const char* word) { return PyUnicode_CompareWithASCIIString(value, word) == 0; };
  *out = is("mean")  ? launch::Reduction::mean
         : is("sum") ? launch::Reduction::sum
                     : launch::Reduction::none;
  return *out != launch::Reduction::none || is("none");
}

PyObject* fast_fused(Function* function, PyObject* const* args, Py_ssize_t count,
                     PyObject* keywords) {
  const FusedOp& op = *FUSED[function->opcode];
  if (keywords || count != op.operands + op.params || !have_memory(args, static_cast<int>(count)))
    return nullptr;
  return attempted([&]() -> PyObject* {
    Outline outline;
    if (!op.outline(args, &outline)) return nullptr;
    Result out(make_tensor(outline.dtype, outline.sizes()));
    op.run(args, out.get(), true);
    return finish(out, function, args, op.operands, [&] { return params_of(function, op, args); });
  });
}

}  // namespace tessella
