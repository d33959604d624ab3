// The fast path of operations on lines along one axis: softmax and log_softmax.
#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "run.h"

namespace tessella {

PyObject* fast_rows(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords) {
  constexpr Param PARAMS[] = {Param::axis};
  PyObject* value = nullptr;
  if (count < 1 || !is_tensor(args[0])) return nullptr;
  if (!bind_params(args + 1, count - 1, keywords, PARAMS, 1, 1, &value)) return nullptr;
  Tensor* x = as_tensor(args[0]);
  if (!x->has_memory() || kind(x->dtype) != DKind::floating || x->ndim == 0) return nullptr;
  int64_t axis = x->ndim - 1;  // the default
  if (value && !parse_axis(value, x->ndim, &axis)) return nullptr;
  return attempted([&]() -> PyObject* {
    Result out(make_like(x->dtype, x));
    run_rows(static_cast<RowsOp>(function->opcode), x, static_cast<int>(axis), out.get(), true);
    return finish(out, function, args, 1,
                  [&] { return dict_of(Param::axis, PyLong_FromLongLong(axis)); });
  });
}

}  // namespace tessella
