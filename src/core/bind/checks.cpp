// Checks of operands that records have checked by what Python tells of them.
#include <algorithm>

#include "bind.h"

namespace tessella {

int code_of(int code, int count) {
  require(code >= 0 && code < count);
  return code;
}

DType dtype_of(int id) {
  auto dtype = static_cast<DType>(code_of(id, DTYPE_COUNT + USER_DTYPES));
  require(info(dtype).name != nullptr);
  return dtype;
}

int axis_of(const Tensor* x, int axis) { return code_of(axis, x->ndim); }

bool is_of(const Tensor* x, DType dtype, Shape shape) {
  return x->dtype == dtype && std::ranges::equal(x->sizes(), shape);
}

bool is_run(const Tensor* x, DType dtype, int64_t size) {
  return x->dtype == dtype && x->size == size && x->is_contiguous;
}

bool can_spread(const Tensor* x, Shape shape) {
  if (x->ndim > shape.size()) return false;
  const int64_t* wanted = shape.data() + shape.size() - x->ndim;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != 1 && x->shape()[i] != wanted[i]) return false;
  return true;
}

}  // namespace tessella
