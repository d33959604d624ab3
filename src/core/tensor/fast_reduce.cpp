// The fast path of reductions: over all axes, one, or several; with or without keepdims.
#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "run.h"

namespace tessella {

namespace {

bool has_index(ReduceOp op) { return op == ReduceOp::argmax || op == ReduceOp::argmin; }

// Whether reducing no elements has a value.
bool has_identity(ReduceOp op) {
  return !has_index(op) && op != ReduceOp::max && op != ReduceOp::min;
}

// Sets bit i for axis i. No axes at all is left to the record to judge.
bool parse_axes(PyObject* value, int ndim, ReduceOp op, uint64_t* axes) {
  if (value == Py_None) {
    *axes = ndim == MAX_NDIM ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1;
    return true;
  }
  int64_t axis;
  if (parse_axis(value, ndim, &axis)) return *axes = uint64_t{1} << axis, true;
  Ints several;
  if (has_index(op) || !parse_ints(value, &several) || several.count == 0) return false;
  *axes = 0;
  for (int64_t named : several.span()) {
    if (named < -ndim || named >= ndim) return false;
    uint64_t bit = uint64_t{1} << (named < 0 ? named + ndim : named);
    if (*axes & bit) return false;
    *axes |= bit;
  }
  return true;
}

Tensor* make_output(const Tensor* x, uint64_t axes, bool keepdims, DType dtype) {
  int64_t shape[MAX_NDIM];
  size_t ndim = 0;
  for (int i = 0; i < x->ndim; ++i) {
    bool is_reduced = axes >> i & 1;
    if (!is_reduced || keepdims) shape[ndim++] = is_reduced ? 1 : x->shape()[i];
  }
  return make_tensor(dtype, {shape, ndim});
}

PyObject* params_of(const Tensor* x, uint64_t axes, PyObject* keepdims) {
  Ints named;
  for (int i = 0; i < x->ndim; ++i)
    if (axes >> i & 1) named.values[named.count++] = i;
  PyObject* dict = dict_of(Param::axis, tuple_of(named.span()));
  if (dict && !add_to(dict, Param::keepdims, Py_NewRef(keepdims))) Py_CLEAR(dict);
  return dict;
}

}  // namespace

PyObject* fast_reduce(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords) {
  constexpr Param PARAMS[] = {Param::axis, Param::keepdims};
  PyObject* values[] = {Py_None, Py_False};
  if (count < 1 || !is_tensor(args[0])) return nullptr;
  if (!bind_params(args + 1, count - 1, keywords, PARAMS, 2, 1, values)) return nullptr;
  Tensor* x = as_tensor(args[0]);
  ReduceOp op = static_cast<ReduceOp>(function->opcode);
  if (!x->has_memory() || (x->size == 0 && !has_identity(op))) return nullptr;
  if (values[1] != Py_True && values[1] != Py_False) return nullptr;
  bool has_meaning;
  DType dtype = launch::reduce_out_dtype(op, x->dtype, &has_meaning);
  uint64_t axes;
  if (!has_meaning || !parse_axes(values[0], x->ndim, op, &axes)) return nullptr;
  return attempted([&]() -> PyObject* {
    Result out(make_output(x, axes, values[1] == Py_True, dtype));
    run_reduce(op, x, axes, out.get(), true);
    return finish(out, function, args, 1, [&] { return params_of(x, axes, values[1]); });
  });
}

}  // namespace tessella
