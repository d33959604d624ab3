// The fast path of concat: a list or tuple of tensors of one dtype, joined along an existing axis.
#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

// Tensors that agree in everything but the size along the axis, which is summed into `shape`.
bool collect(PyObject* const* items, Py_ssize_t count, PyObject* axis_value, int64_t* axis,
             Layout* shape) {
  if (count == 0 || !is_tensor(items[0])) return false;
  const Tensor* first = as_tensor(items[0]);
  if (first->ndim == 0) return false;
  *axis = 0;
  if (axis_value && !parse_axis(axis_value, first->ndim, axis)) return false;
  *shape = first->layout();
  shape->shape[*axis] = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!is_tensor(items[i])) return false;
    const Tensor* x = as_tensor(items[i]);
    if (x->ndim != first->ndim || x->dtype != first->dtype || !x->has_memory()) return false;
    for (int k = 0; k < x->ndim; ++k)
      if (k != *axis && x->shape()[k] != first->shape()[k]) return false;
    int64_t* total = &shape->shape[*axis];
    if (__builtin_add_overflow(*total, x->shape()[*axis], total)) return false;
  }
  return true;
}

constexpr int64_t large_bytes = 1 << 17;  // worth the way over the pool

void join(PyObject* const* items, Py_ssize_t count, int64_t axis, Tensor* out) {
  bool is_outermost = true;  // then each tensor is one run of the result
  for (int64_t k = 0; k < axis; ++k) is_outermost &= out->shape()[k] == 1;
  Layout whole = out->layout();
  int64_t start = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Tensor* x = as_tensor(items[i]);
    int64_t size = x->shape()[axis];
    int64_t item = itemsize(x->dtype);
    if (is_outermost && x->is_contiguous && x->size * item < large_bytes && !is_taping()) {
      memcpy(out->data() + start * whole.strides[axis] * item, x->data(),
             static_cast<size_t>(x->size * item));
    } else if (x->size) {
      Result part(make_view(out, whole.slice(axis, start, size, 1)));
      run_copy(part.get(), x, true);
    }
    start += size;
  }
}

}  // namespace

PyObject* fast_concat(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords) {
  constexpr Param PARAMS[] = {Param::axis};
  PyObject* axis_value = nullptr;
  if (count < 1 || !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) return nullptr;
  if (!bind_params(args + 1, count - 1, keywords, PARAMS, 1, 1, &axis_value)) return nullptr;
  // A tuple of our own: another thread may change the list while the copies run.
  PyObject* owned = PySequence_Tuple(args[0]);
  if (!owned) return nullptr;
  PyObject* const* items = PySequence_Fast_ITEMS(owned);
  Py_ssize_t number = PyTuple_GET_SIZE(owned);
  PyObject* joined = attempted([&]() -> PyObject* {
    int64_t axis;
    Layout shape;
    if (!collect(items, number, axis_value, &axis, &shape)) return nullptr;
    Result out(make_tensor(as_tensor(items[0])->dtype, shape.sizes()));
    join(items, number, axis, out.get());
    return finish(out, function, items, static_cast<int>(number),
                  [&] { return dict_of(Param::axis, PyLong_FromLongLong(axis)); });
  });
  Py_DECREF(owned);
  return joined;
}

}  // namespace tessella
