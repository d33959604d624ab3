// The fast path of indexing by tensors over the leading axes: x[i], x[i, j] and x[mask] where no
// gradient is recorded, and assignment to them. Whatever is wrong with an index is said in Python.
#include "guard.h"
#include "index_arrays.h"
#include "lines.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

bool is_index(PyObject* item) {
  return is_tensor(item) && as_tensor(item)->dtype == DType::int64 && as_tensor(item)->ndim > 0 &&
         as_tensor(item)->has_memory();
}

bool is_mask_of(PyObject* item, const Tensor* x) {
  if (!is_tensor(item)) return false;
  const Tensor* mask = as_tensor(item);
  if (mask->dtype != DType::boolean || !mask->has_memory()) return false;
  if (mask->ndim == 0 || mask->ndim > x->ndim) return false;
  for (int i = 0; i < mask->ndim; ++i)
    if (mask->shape()[i] != x->shape()[i]) return false;
  return true;
}

// A key as index tensors over the leading axes of x: those of the key, or the coordinates of its
// mask, which it then owns.
class Key {
 public:
  Key() = default;
  ~Key() {
    for (int i = 0; owns_ && i < count; ++i) Py_DECREF(indices[i]);
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  // False: it is no such key.
  bool take(const Tensor* x, PyObject* key) {
    bool is_tuple = PyTuple_CheckExact(key);
    Py_ssize_t given = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    PyObject* const* items = is_tuple ? PySequence_Fast_ITEMS(key) : &key;
    if (given == 0 || given > x->ndim) return false;
    if (given == 1 && is_mask_of(items[0], x)) return take_mask(as_tensor(items[0])), true;
    for (Py_ssize_t i = 0; i < given; ++i)
      if (!is_index(items[i])) return false;
    for (Py_ssize_t i = 0; i < given; ++i) indices[count++] = as_tensor(items[i]);
    return true;
  }

  // The shape of x[key].
  Layout result(const Tensor* x) const {
    Layout joint = joint_shape(count, indices);
    int64_t shape[2 * MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < joint.ndim; ++i) shape[ndim++] = joint.shape[i];
    for (int i = count; i < x->ndim; ++i) shape[ndim++] = x->shape()[i];
    return Layout::contiguous({shape, static_cast<size_t>(ndim)});
  }

  std::span<Tensor* const> all() const { return {indices, static_cast<size_t>(count)}; }

  int count = 0;
  Tensor* indices[MAX_NDIM];

 private:
  void take_mask(Tensor* mask) {
    Result found(nonzero_of(mask));
    owns_ = true;
    for (int i = 0; i < mask->ndim; ++i)
      indices[count++] = make_view(found.get(), found->layout().select(0, i));
  }

  bool owns_ = false;
};

bool is_apart(const Tensor* x, const Key& key) {
  for (int i = 0; i < key.count; ++i)
    if (may_overlap(key.indices[i]->buffer, x->buffer)) return false;
  return true;
}

// The assigned value over a shape: a view of the tensor, or of one element.
Tensor* spread_value(PyObject* value, const Scalar& number, DType dtype, Shape shape) {
  if (is_tensor(value))
    return make_view(as_tensor(value), as_tensor(value)->layout().broadcast_to(shape));
  Result one(make_tensor(dtype, Shape{}));
  memcpy(one->data(), number.bytes, static_cast<size_t>(itemsize(dtype)));
  return make_view(one.get(), one->layout().broadcast_to(shape));
}

}  // namespace

PyObject* fast_gather(PyObject* object, PyObject* key) {
  Tensor* x = as_tensor(object);
  if (!x->has_memory() || is_taping()) return nullptr;  // what is noted is the record's call
  return attempted([&]() -> PyObject* {
    if (is_grad_enabled() && asks_gradient(x)) return nullptr;
    Key leading;
    if (!leading.take(x, key)) return nullptr;
    Result out(make_tensor(x->dtype, leading.result(x).sizes()));
    IndexArrays arrays(x, out.get(), leading.count, nullptr, leading.indices, 0);
    bool is_good;
    {
      LongWork work(out->size, {x, out.get()}, leading.all());
      is_good = launch::gather(arrays.task);
    }
    return is_good ? out.give() : nullptr;
  });
}

bool fast_scatter(PyObject* object, PyObject* key, PyObject* value) {
  Tensor* x = as_tensor(object);
  Scalar number;
  if (is_taping()) return false;
  return attempted([&]() -> PyObject* {
    if (!is_assignable(x, value, &number)) return nullptr;
    if (!x->is_contiguous && x->layout().overlaps_itself()) return nullptr;
    Key leading;
    if (!leading.take(x, key) || !is_apart(x, leading)) return nullptr;
    Result source(spread_value(value, number, x->dtype, leading.result(x).sizes()));
    IndexArrays arrays(x, source.get(), leading.count, nullptr, leading.indices, 0);
    launch::BadIndex bad;
    arrays.task.interruptible = false;
    LongWork work(source->size, {x, source.get()}, leading.all());
    if (!launch::check_indices(arrays.task, &bad)) return nullptr;
    launch::scatter(arrays.task);
    mark_written(x->buffer);
    return Py_None;
  });
}

}  // namespace tessella
