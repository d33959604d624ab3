// The fast path of basic indexing: integers, slices, `...` and None, alone or in a tuple. Reading
// gives a view; writing copies a number or a tensor of the same dtype into that view.
#include "../launch/elementwise.h"
#include "arguments.h"
#include "guard.h"
#include "index_arrays.h"
#include "lines.h"
#include "result.h"
#include "run.h"

namespace tessella {

namespace {

bool is_bound(PyObject* bound) { return bound == Py_None || PyLong_CheckExact(bound); }

bool parse_slice(PyObject* key, int64_t size, Range* out) {
  auto* slice = reinterpret_cast<PySliceObject*>(key);
  if (!is_bound(slice->start) || !is_bound(slice->stop) || !is_bound(slice->step)) return false;
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) return PyErr_Clear(), false;
  *out = resolve_slice(start, stop, step, size);
  return true;
}

// Builds the layout of x[items] axis by axis.
class Indexing {
 public:
  explicit Indexing(const Tensor* x) : x_(x) { layout_.offset = x->offset; }

  bool apply(PyObject* const* items, Py_ssize_t count) {
    Py_ssize_t skipped = x_->ndim;  // axes that `...` stands for
    bool has_ellipsis = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (items[i] == Py_Ellipsis && has_ellipsis) return false;
      has_ellipsis |= items[i] == Py_Ellipsis;
      skipped -= items[i] != Py_Ellipsis && items[i] != Py_None;
    }
    if (skipped < 0) return false;
    for (Py_ssize_t i = 0; i < count; ++i)
      if (items[i] == Py_Ellipsis)
        keep(skipped);
      else if (!index(items[i]))
        return false;
    keep(x_->ndim - axis_);
    return true;
  }

  const Layout& layout() const { return layout_; }

 private:
  void keep(Py_ssize_t axes) {
    for (; axes > 0; --axes, ++axis_) layout_.append(x_->shape()[axis_], x_->strides()[axis_]);
  }

  // As Layout::unsqueeze has it: the stride that keeps a contiguous layout contiguous.
  void add_axis() {
    layout_.append(1, axis_ < x_->ndim ? x_->strides()[axis_] * x_->shape()[axis_] : 1);
  }

  bool index(PyObject* item) {
    if (item == Py_None) return add_axis(), true;
    int64_t size = x_->shape()[axis_], stride = x_->strides()[axis_];
    ++axis_;
    int64_t at;
    Range range;
    if (parse_int(item, &at)) {
      if (at < -size || at >= size) return false;
      layout_.offset += (at < 0 ? at + size : at) * stride;
      return true;
    }
    if (!PySlice_Check(item) || !parse_slice(item, size, &range)) return false;
    // As Layout::slice has it: the offset of nothing stays, and so does the stride of one.
    if (range.count > 0) layout_.offset += range.start * stride;
    layout_.append(range.count, range.count > 1 ? stride * range.step : stride);
    return true;
  }

  const Tensor* x_;
  int axis_ = 0;
  Layout layout_;
};

bool index_by(Indexing* indexing, PyObject* key) {
  return PyTuple_CheckExact(key)
             ? indexing->apply(PySequence_Fast_ITEMS(key), PyTuple_GET_SIZE(key))
             : indexing->apply(&key, 1);
}

}  // namespace

bool is_assignable(Tensor* x, PyObject* value, Scalar* number) {
  if (!is_writable(x)) return false;
  if (!is_tensor(value)) return store_scalar(value, x->dtype, number);
  Tensor* source = as_tensor(value);
  return source->dtype == x->dtype && !may_overlap(source->buffer, x->buffer) &&
         source->has_memory() && !(is_grad_enabled() && asks_gradient(source));
}

bool fast_setitem(PyObject* object, PyObject* key, PyObject* value) {
  Tensor* x = as_tensor(object);
  Scalar number;
  bool is_number = !is_tensor(value);
  return attempted([&]() -> PyObject* {
    if (!is_assignable(x, value, &number)) return nullptr;
    Indexing indexing(x);
    if (!x->is_contiguous && x->layout().overlaps_itself()) return nullptr;
    if (!index_by(&indexing, key)) return nullptr;
    Result target(make_view(x, indexing.layout()));
    if (is_number) {
      run_fill(target.get(), number.bytes, false);
    } else {
      as_tensor(value)->layout().broadcast_to(target->sizes());  // throws: declined
      run_copy(target.get(), as_tensor(value), false);
    }
    mark_written(x->buffer);
    return Py_None;
  });
}

PyObject* fast_getitem(PyObject* x, PyObject* key) {
  Function* function = function_of(Slot::getitem);
  if (!function) return nullptr;
  return attempted([&]() -> PyObject* {
    Indexing indexing(as_tensor(x));
    if (!index_by(&indexing, key)) return nullptr;
    Result out(make_view(as_tensor(x), indexing.layout()));
    link_view(out.get(), x);
    return finish(out, function, &x, 1, [&] { return dict_of(Param::key, Py_NewRef(key)); });
  });
}

}  // namespace tessella
