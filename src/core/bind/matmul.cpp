// The matrix product, for the slow path and matmul_into.
#include "../launch/blas.h"
#include "../tensor/lines.h"
#include "../tensor/node.h"
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

// A matrix that can be an operand of a product into another as it is.
bool is_plain_matrix(PyObject* object) {
  if (!is_tensor(object)) return false;
  Tensor* x = as_tensor(object);
  bool is_watched = is_grad_enabled() && asks_gradient(x);
  return x->ndim == 2 && x->has_memory() && !is_watched && x->dtype != DType::boolean &&
         !is_user(x->dtype);
}

// out = a @ b or out + a @ b for plain matrices. False if anything is unusual: nothing was done.
bool multiply_into(nb::handle target, nb::handle left, nb::handle right, bool accumulate,
                   bool transpose_a, bool transpose_b) {
  for (nb::handle x : {target, left, right})
    if (!is_plain_matrix(x.ptr())) return false;
  Tensor *out = as_tensor(target.ptr()), *a = as_tensor(left.ptr()), *b = as_tensor(right.ptr());
  bool is_one_dtype = a->dtype == out->dtype && b->dtype == out->dtype;
  bool is_apart = !may_overlap(a->buffer, out->buffer) && !may_overlap(b->buffer, out->buffer);
  if (!is_one_dtype || !is_apart || !out->is_contiguous || out->buffer->is_readonly) return false;
  int a_row = transpose_a, b_row = transpose_b;
  const int64_t* shape = out->shape();
  if (a->shape()[a_row] != shape[0] || b->shape()[1 - b_row] != shape[1]) return false;
  if (a->shape()[1 - a_row] != b->shape()[b_row]) return false;
  nb::object view_a, view_b;
  if (transpose_a) view_a = own(make_view(a, a->layout().transpose(0, 1)));
  if (transpose_b) view_b = own(make_view(b, b->layout().transpose(0, 1)));
  run_matmul(transpose_a ? as_tensor(view_a.ptr()) : a, transpose_b ? as_tensor(view_b.ptr()) : b,
             out, accumulate, false);
  mark_written(out->buffer);
  return true;
}

// (..., m, k) @ (..., k, n) into (..., m, n), or with fewer axes for vectors.
void check_product(const Tensor* out, const Tensor* a, const Tensor* b, bool is_transposed) {
  require(a->ndim > 0 && b->ndim > 0 && a->dtype == out->dtype && b->dtype == out->dtype &&
          out->dtype != DType::boolean);
  bool has_rows = a->ndim > 1, has_columns = b->ndim > 1;
  int batch = out->ndim - has_rows - has_columns;
  const int64_t* sizes = out->shape();
  const int64_t* columns = b->shape() + b->ndim - 1;  // of b: (..., k, n), or (n, k), or (k)
  const int64_t* lines = has_columns ? columns - 1 : columns;
  if (is_transposed) std::swap(columns, lines);
  require(batch >= 0 && *lines == a->shape()[a->ndim - 1]);
  if (has_rows) require(sizes[batch] == a->shape()[a->ndim - 2]);
  if (has_columns) require(sizes[out->ndim - 1] == *columns);
  auto spreads = [=](const Tensor* x, int matrix) {
    int added = batch - (x->ndim - matrix);
    for (int i = 0; i < x->ndim - matrix; ++i)
      if (added < 0 || (x->shape()[i] != 1 && x->shape()[i] != sizes[i + added])) return false;
    return true;
  };
  require(spreads(a, 1 + has_rows) && spreads(b, 1 + has_columns));
}

}  // namespace

void init_matmul(nb::module_& module) {
  // a (..., m, k), b (..., k, n), out (..., m, n); shapes are checked by the record.
  module.def("matmul",
             [](nb::handle out, nb::handle a, nb::handle b, bool accumulate, bool interruptible) {
               check_product(numbers_of(out), numbers_of(a), numbers_of(b), false);
               run_matmul(tensor_of(a), tensor_of(b), target_of(out), accumulate, interruptible);
             });
  module.def(
      "linear",
      [](nb::handle out, nb::handle x, nb::handle weight, nb::handle bias, bool interruptible) {
        Tensor* added = bias.is_none() ? nullptr : tensor_of(bias);
        require(tensor_of(weight)->ndim == 2);
        check_product(numbers_of(out), numbers_of(x), numbers_of(weight), true);
        if (added) require(is_of(added, tensor_of(out)->dtype, {tensor_of(weight)->shape(), 1}));
        run_linear(tensor_of(x), tensor_of(weight), added, target_of(out), interruptible);
      },
      nb::arg("out"), nb::arg("x"), nb::arg("weight"), nb::arg("bias").none(),
      nb::arg("interruptible"));
  module.def("multiply_into", multiply_into);
  // What is wrong with the library, or "".
  module.def("use_blas", launch::use_blas);
  module.def("blas_path", launch::blas_path);
}

}  // namespace tessella
