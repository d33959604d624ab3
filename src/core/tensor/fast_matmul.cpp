// The fast path of the matrix product: vectors, matrices, and batches that broadcast.
#include "guard.h"
#include "result.h"
#include "run.h"

namespace tessella {

namespace {

bool is_multipliable(PyObject* x) {
  return is_tensor(x) && as_tensor(x)->has_memory() && as_tensor(x)->ndim > 0 &&
         as_tensor(x)->dtype != DType::boolean && !is_user(as_tensor(x)->dtype);
}

// The axes before the matrix.
Shape batch_of(const Tensor* x) {
  return {x->shape(), static_cast<size_t>(x->ndim > 2 ? x->ndim - 2 : 0)};
}

// The shape of a @ b, whose inner sizes agree: a vector has no row or no column to give.
Tensor* make_output(const Tensor* a, const Tensor* b) {
  int64_t shape[MAX_NDIM + 2];
  size_t ndim = 0;
  if (a->ndim > 2 || b->ndim > 2) {
    Layout batch = broadcast_shapes(batch_of(a), batch_of(b));
    for (int64_t size : batch.sizes()) shape[ndim++] = size;
  }
  if (a->ndim > 1) shape[ndim++] = a->shape()[a->ndim - 2];
  if (b->ndim > 1) shape[ndim++] = b->shape()[b->ndim - 1];
  return make_tensor(a->dtype, {shape, ndim});
}

}  // namespace

PyObject* fast_matmul(Function* function, PyObject* left, PyObject* right) {
  if (!is_multipliable(left) || !is_multipliable(right)) return nullptr;
  Tensor *a = as_tensor(left), *b = as_tensor(right);
  int64_t inner = b->shape()[b->ndim > 1 ? b->ndim - 2 : 0];
  if (a->dtype != b->dtype || a->shape()[a->ndim - 1] != inner) return nullptr;
  return attempted([&]() -> PyObject* {
    Result out(make_output(a, b));
    run_matmul(a, b, out.get(), false, true);
    PyObject* inputs[] = {left, right};
    if (is_recorded(function, inputs, 2) && !record(out.get(), function, inputs, 2, nullptr))
      return nullptr;
    return out.give();
  });
}

}  // namespace tessella
