// The fast path of operations over several operands, and how their values are read.
#include "fused.h"

#include <memory>

#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "tape.h"

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

namespace {

constexpr int MOST_VALUES = 16;  // operands and parameters

// The values of a call but for its tensors, for as long as it can be repeated.
class KeptValues {
 public:
  KeptValues(Values values, int count) {
    for (int i = 0; i < count; ++i)
      values_.push_back(is_tensor(values[i]) ? nullptr : Py_NewRef(values[i]));
  }
  ~KeptValues() {
    for (PyObject* value : values_) Py_XDECREF(value);
  }
  KeptValues(const KeptValues&) = delete;
  KeptValues& operator=(const KeptValues&) = delete;

  void with(Tensor* const* tensors, PyObject** out) const {
    for (PyObject* value : values_) *out++ = value ? value : as_object(*tensors++);
  }

 private:
  std::vector<PyObject*> values_;
};

void note_fused(Noted* noted, const FusedOp& op, Values values, Tensor* out, bool interruptible) {
  std::vector<Tensor*> read;
  std::string params;
  int count = op.operands + op.params;
  if (count > MOST_VALUES) fail_capture("an operation of so many operands", nullptr);
  for (int i = 0; i < count; ++i)
    if (is_tensor(values[i]))
      read.push_back(as_tensor(values[i]));
    else
      params += name_object(values[i]);
  auto kept = std::make_shared<KeptValues>(values, count);
  noted->take(op.name, std::move(params), std::span<Tensor* const>(&out, 1), read,
              [kept, interruptible, op = &op](Tensor* const* operands, const Draw&) {
                PyObject* values[MOST_VALUES];
                kept->with(operands + 1, values);
                op->run(values, operands[0], interruptible);
              });
}

}  // namespace

void run_fused(const FusedOp& op, Values values, Tensor* out, bool interruptible) {
  Noted noted;
  // Dropout notes itself, as what it draws changes from call to call.
  if (is_taping() && &op != &DROPOUT) note_fused(&noted, op, values, out, interruptible);
  if (noted.is_rehearsed()) return;
  op.run(values, out, interruptible);
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
    run_fused(op, args, out.get(), true);
    return finish(out, function, args, op.operands, [&] { return params_of(function, op, args); });
  });
}

}  // namespace tessella
