// The fast path of views: another layout over the same buffer. The layout algebra throws for what
// it refuses, which is a decline here.
#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "run.h"
#include "view.h"

namespace tessella {

namespace {

// What a call asks for, its numbers in the normal form that nodes keep.
struct Request {
  ViewOp op;
  Ints numbers;
};

bool takes_separate_ints(ViewOp op) {
  return op == ViewOp::permute || op == ViewOp::reshape || op == ViewOp::broadcast_to ||
         op == ViewOp::transpose || op == ViewOp::view;
}

Param param_of(ViewOp op) {
  switch (op) {
    case ViewOp::permute:
      return Param::axes;
    case ViewOp::reshape:
    case ViewOp::broadcast_to:
    case ViewOp::view:
      return Param::shape;
    default:
      return Param::axis;
  }
}

// Axes left out: every axis for flip, those of size 1 for squeeze.
bool default_axes(const Tensor* x, Request* out) {
  if (out->op != ViewOp::squeeze && out->op != ViewOp::flip) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (out->op == ViewOp::flip || x->shape()[i] == 1)
      out->numbers.values[out->numbers.count++] = i;
  return true;
}

bool parse_numbers(const Tensor* x, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                   Request* out) {
  // Two axes are never a tuple.
  if (out->op == ViewOp::transpose)
    return !keywords && count == 2 && parse_ints(args, count, &out->numbers);
  if (!keywords && takes_separate_ints(out->op)) return parse_ints(args, count, &out->numbers);
  Param param = param_of(out->op);
  PyObject* value = Py_None;
  if (!bind_params(args, count, keywords, &param, 1, 1, &value)) return false;
  if (value == Py_None) return default_axes(x, out);
  return parse_ints(value, &out->numbers);
}

bool normalise_axes(const Tensor* x, Request* request) {
  Ints& axes = request->numbers;
  int ndim = x->ndim + (request->op == ViewOp::unsqueeze ? axes.count : 0);
  for (int i = 0; i < axes.count; ++i) {
    int64_t& axis = axes.values[i];
    if (axis < -ndim || axis >= ndim) return false;
    axis += axis < 0 ? ndim : 0;
  }
  return true;
}

bool parse(const Tensor* x, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
           Request* out) {
  out->numbers.count = 0;
  if (!parse_numbers(x, args, count, keywords, out)) return false;
  return param_of(out->op) == Param::shape || normalise_axes(x, out);
}

PyObject* params_of(const Request& request) {
  const Ints& numbers = request.numbers;
  if (request.op != ViewOp::transpose)
    return dict_of(param_of(request.op), tuple_of(numbers.span()));
  PyObject* dict = dict_of(Param::a, PyLong_FromLongLong(numbers.values[0]));
  if (dict && !add_to(dict, Param::b, PyLong_FromLongLong(numbers.values[1]))) Py_CLEAR(dict);
  return dict;
}

Layout layout_after(const Layout& x, const Request& request) {
  Shape numbers = request.numbers.span();
  switch (request.op) {
    case ViewOp::permute:
      return x.permute(numbers);
    case ViewOp::transpose:
      return x.transpose(numbers[0], numbers[1]);
    case ViewOp::squeeze:
      return x.squeeze(numbers);
    case ViewOp::unsqueeze:
      return x.unsqueeze(numbers);
    case ViewOp::flip:
      return x.flip(numbers);
    default:
      return x.broadcast_to(numbers);
  }
}

// A view where the strides allow it, else a view of a copy; nullptr: declined. Leaves the resolved
// shape in the request.
Tensor* reshape(Tensor* x, Request* request, bool may_copy) {
  Layout layout;
  bool is_view = x->is_contiguous;
  if (is_view) {
    layout = resolve_reshape(x->sizes(), request->numbers.span());
    layout.offset = x->offset;
  } else {
    is_view = x->layout().reshape(request->numbers.span(), &layout);
  }
  request->numbers.count = layout.ndim;
  memcpy(request->numbers.values, layout.shape, sizeof(int64_t) * static_cast<size_t>(layout.ndim));
  if (is_view) return make_view(x, layout);
  if (!may_copy || !x->has_memory()) return nullptr;
  Result copy(make_tensor(x->dtype, x->sizes()));
  run_copy(copy.get(), x, true);
  return make_view(copy.get(), Layout::contiguous(layout.sizes()));
}

PyObject* make_result(Function* function, PyObject* object, Request* request) {
  return attempted([&]() -> PyObject* {
    Tensor* x = as_tensor(object);
    bool is_reshape = request->op == ViewOp::reshape || request->op == ViewOp::view;
    bool may_copy = request->op == ViewOp::reshape && !is_recorded(function, &object, 1);
    Result out(is_reshape ? reshape(x, request, may_copy)
                          : make_view(x, layout_after(x->layout(), *request)));
    if (!out.get()) return nullptr;
    link_view(out.get(), object);
    return finish(out, function, &object, 1, [&] { return params_of(*request); });
  });
}

// What a property does when the fast path is closed or declines.
PyObject* transpose_slowly(Function* function, PyObject* x, int64_t a, int64_t b) {
  PyObject* args[] = {x, PyLong_FromLongLong(a), PyLong_FromLongLong(b)};
  PyObject* out = args[1] && args[2] ? call_slow(function, args, 3, nullptr) : nullptr;
  Py_XDECREF(args[1]);
  Py_XDECREF(args[2]);
  return out;
}

PyObject* exchange(PyObject* x, int64_t a, int64_t b) {
  Function* function = function_of(Slot::transpose);
  if (!function) return PyErr_BadInternalCall(), nullptr;  // the records are not made yet
  if (!modes) {
    Request request{ViewOp::transpose, {2, {a, b}}};
    PyObject* out = make_result(function, x, &request);
    if (out) return ++counts.fast, out;
    if (PyErr_Occurred()) return nullptr;
  }
  return transpose_slowly(function, x, a, b);
}

}  // namespace

PyObject* fast_view(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords) {
  if (count < 1 || !is_tensor(args[0])) return nullptr;
  Request request;
  request.op = static_cast<ViewOp>(function->opcode);
  if (!parse(as_tensor(args[0]), args + 1, count - 1, keywords, &request)) return nullptr;
  return make_result(function, args[0], &request);
}

PyObject* matrix_transpose(PyObject* x) {
  return guarded([&]() -> PyObject* {
    if (as_tensor(x)->ndim != 2) fail_not_matrix(as_tensor(x)->ndim);
    return exchange(x, 0, 1);
  });
}

PyObject* last_axes_transpose(PyObject* x) {
  return guarded([&]() -> PyObject* {
    int ndim = as_tensor(x)->ndim;
    if (ndim < 2) fail_no_last_axes(ndim);
    return exchange(x, ndim - 2, ndim - 1);
  });
}

}  // namespace tessella
