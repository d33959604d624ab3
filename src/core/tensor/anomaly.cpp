// See anomaly.h.
#include "anomaly.h"

#include "../launch/finite.h"
#include "guard.h"
#include "operators.h"
#include "result.h"
#include "run.h"

namespace tessella {

thread_local bool watches_values = false;
thread_local const Buffer* known_finite = nullptr;

namespace {

bool has_odd_values(Tensor* x) {
  if (!has_gradients(x->dtype) || !x->has_memory()) return false;
  if (!x->is_contiguous) {
    Result copy(make_tensor(x->dtype, x->sizes()));
    run_copy(copy.get(), x, true);
    return has_odd_values(copy.get());
  }
  LongWork work(x->size, {x});
  return !launch::are_finite(x->dtype, x->size, x->data());
}

}  // namespace

bool is_anomalous(PyObject* x) {
  const Buffer* known = known_finite;
  known_finite = nullptr;
  if (!watches_values || !is_tensor(x) || as_tensor(x)->buffer == known) return false;
  return has_odd_values(as_tensor(x));
}

PyObject* inspect_result(Function* function, PyObject* out, PyObject* const* args, int count) {
  if (function->kind == FastKind::view) return out;
  PyObject* judged = guarded([&]() -> PyObject* {
    if (!is_anomalous(out)) return Py_NewRef(Py_None);
    PyObject* operands = PyTuple_New(count);
    for (int i = 0; operands && i < count; ++i) PyTuple_SET_ITEM(operands, i, Py_NewRef(args[i]));
    if (!operands) return nullptr;
    PyObject* done =
        PyObject_CallFunctionObjArgs(hook(Hook::anomaly), function->record, operands, out, nullptr);
    Py_DECREF(operands);
    return done;
  });
  if (!judged) Py_CLEAR(out);
  Py_XDECREF(judged);
  return out;
}

}  // namespace tessella
