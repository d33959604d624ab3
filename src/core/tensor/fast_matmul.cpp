// The fast paths of the matrix product (vectors, matrices, and batches that broadcast) and of
// layers: x @ weight.T + bias.
#include <algorithm>

#include "guard.h"
#include "lines.h"
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

bool are_multipliable(PyObject* left, PyObject* right) {
  if (!is_multipliable(left) || !is_multipliable(right)) return false;
  Tensor *a = as_tensor(left), *b = as_tensor(right);
  int64_t inner = b->shape()[b->ndim > 1 ? b->ndim - 2 : 0];
  return a->dtype == b->dtype && a->shape()[a->ndim - 1] == inner;
}

// The shape of a @ b, whose inner sizes agree: a vector has no row or no column to give.
struct Product {
  int64_t shape[MAX_NDIM + 2];
  size_t ndim = 0;

  Product(const Tensor* a, const Tensor* b) {
    if (a->ndim > 2 || b->ndim > 2) {
      Layout batch = broadcast_shapes(batch_of(a), batch_of(b));
      for (int64_t size : batch.sizes()) shape[ndim++] = size;
    }
    if (a->ndim > 1) shape[ndim++] = a->shape()[a->ndim - 2];
    if (b->ndim > 1) shape[ndim++] = b->shape()[b->ndim - 1];
  }
  Shape sizes() const { return {shape, ndim}; }
};

}  // namespace

PyObject* fast_matmul(Function* function, PyObject* left, PyObject* right) {
  if (!are_multipliable(left, right)) return nullptr;
  Tensor *a = as_tensor(left), *b = as_tensor(right);
  return attempted([&]() -> PyObject* {
    Result out(make_tensor(a->dtype, Product(a, b).sizes()));
    run_matmul(a, b, out.get(), false, true);
    PyObject* inputs[] = {left, right};
    if (is_recorded(function, inputs, 2) && !record(out.get(), function, inputs, 2, nullptr))
      return nullptr;
    return out.give();
  });
}

PyObject* fast_matmul_into(PyObject* const* args, int count, PyObject* target) {
  if (count != 2 || !is_tensor(target) || !are_multipliable(args[0], args[1])) return nullptr;
  Tensor *a = as_tensor(args[0]), *b = as_tensor(args[1]), *out = as_tensor(target);
  if (!out->is_contiguous || out->dtype != a->dtype) return nullptr;
  return attempted([&]() -> PyObject* {
    if (!std::ranges::equal(Product(a, b).sizes(), out->sizes())) return nullptr;
    if (!is_writable(out) || needs_node(args, count)) return nullptr;
    if (may_overlap(a->buffer, out->buffer) || may_overlap(b->buffer, out->buffer)) return nullptr;
    run_matmul(a, b, out, false, false);
    mark_written(out->buffer);
    return Py_NewRef(target);
  });
}

PyObject* fast_linear(Function* function, PyObject* const* args, Py_ssize_t count) {
  bool has_bias = count == 3 && args[2] != Py_None;
  if (count < 2 || count > 3 || !is_multipliable(args[0]) || !is_multipliable(args[1]) ||
      (has_bias && !is_multipliable(args[2])))
    return nullptr;
  Tensor *x = as_tensor(args[0]), *weight = as_tensor(args[1]);
  Tensor* bias = has_bias ? as_tensor(args[2]) : nullptr;
  if (weight->ndim != 2 || x->dtype != weight->dtype ||
      x->shape()[x->ndim - 1] != weight->shape()[1])
    return nullptr;
  int64_t outs = weight->shape()[0];
  if (bias && (bias->dtype != x->dtype || bias->ndim != 1 || bias->shape()[0] != outs))
    return nullptr;
  return attempted([&]() -> PyObject* {
    int64_t shape[MAX_NDIM];
    std::copy_n(x->shape(), x->ndim - 1, shape);
    shape[x->ndim - 1] = outs;
    Result out(make_tensor(x->dtype, {shape, x->ndim}));
    run_linear(x, weight, bias, out.get(), true);
    PyObject* inputs[] = {args[0], args[1], has_bias ? args[2] : Py_None};
    if (is_recorded(function, inputs, 3) && !record(out.get(), function, inputs, 3, nullptr))
      return nullptr;
    return out.give();
  });
}

}  // namespace tessella
