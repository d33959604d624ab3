// See gradients.h.
#include "gradients.h"

#include "../memory/allocators.h"
#include "anomaly.h"
#include "function.h"
#include "guard.h"
#include "lines.h"
#include "operators.h"
#include "result.h"
#include "run.h"

namespace tessella {

namespace {

bool has_shape(const Tensor* x, Shape shape) {
  if (x->ndim != shape.size()) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != shape[static_cast<size_t>(i)]) return false;
  return true;
}

// Nobody but the holder of this one reference can see its memory.
bool is_own(PyObject* object) {
  if (Py_REFCNT(object) != 1 || Py_TYPE(object) != tensor_type) return false;
  Tensor* x = as_tensor(object);
  return x->buffer->refs == 1 && x->buffer->pins == 0 && x->is_contiguous && x->has_memory() &&
         !x->buffer->is_readonly && !x->requires_grad && !x->weakrefs;
}

bool are_alike(PyObject* x, PyObject* y) {
  return as_tensor(x)->dtype == as_tensor(y)->dtype &&
         has_shape(as_tensor(x), as_tensor(y)->sizes());
}

PyObject* call_add(PyObject* x, PyObject* y) {
  PyObject* operands[] = {x, y};
  PyObject* add = reinterpret_cast<PyObject*>(function_of(Slot::add));
  PyObject* sum = PyObject_Vectorcall(add, operands, 2, nullptr);
  if (!sum) throw PythonError{};
  return sum;
}

// x += y, to the end, for tensors that are alike. Bits do not depend on which is written.
void add_into(PyObject* x, PyObject* y) {
  Input inputs[] = {{as_tensor(x), nullptr, as_tensor(x)->dtype},
                    {as_tensor(y), nullptr, as_tensor(y)->dtype}};
  auto opcode = static_cast<Opcode>(function_of(Slot::add)->opcode);
  run_elementwise(opcode, as_tensor(x)->dtype, as_tensor(x), inputs, 2, false);
  mark_written(as_tensor(x)->buffer);
}

// The allocator of a leaf's memory, for what is kept with it.
class LeafScope {
 public:
  explicit LeafScope(const Tensor* leaf) : before_(current_allocator) {
    Allocator* own = leaf->buffer->allocator;
    current_allocator = own == &heap() ? nullptr : own;
  }
  ~LeafScope() { current_allocator = before_; }
  LeafScope(const LeafScope&) = delete;
  LeafScope& operator=(const LeafScope&) = delete;

 private:
  Allocator* before_;
};

bool is_placed_with(const Tensor* x, const Tensor* leaf) {
  Allocator* own = leaf->buffer->allocator;
  return x->buffer->allocator == (own ? own : &heap());
}

// A gradient that a leaf can keep: its own memory, where the leaf's is. Takes over `gradient`.
PyObject* keepable(const Tensor* leaf, PyObject* gradient) {
  Tensor* x = as_tensor(gradient);
  if (x->requires_grad || !x->has_memory()) return gradient;  // part of a graph; or virtual
  if (is_own(gradient) && is_placed_with(x, leaf)) return gradient;
  Result holder(x);
  LeafScope scope(leaf);
  Result copy(make_tensor(x->dtype, x->sizes()));
  run_copy(copy.get(), x, true);
  return copy.give();
}

}  // namespace

PyObject* conform(PyObject* part, Shape shape, DType dtype) {
  if (is_tensor(part) && as_tensor(part)->dtype == dtype && has_shape(as_tensor(part), shape))
    return part;
  PyObject* sizes = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  for (size_t i = 0; sizes && i < shape.size(); ++i)
    PyTuple_SET_ITEM(sizes, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  PyObject* out = sizes ? PyObject_CallFunctionObjArgs(hook(Hook::conform), part, sizes,
                                                       dtype_object(dtype), nullptr)
                        : nullptr;
  Py_XDECREF(sizes);
  Py_DECREF(part);
  if (!out) throw PythonError{};
  return out;
}

void add_gradient(PyObject** total, PyObject* part) {
  if (!*total) {
    *total = part;
    return;
  }
  Result holder(as_tensor(part));
  bool is_plain = !as_tensor(*total)->requires_grad && !as_tensor(part)->requires_grad &&
                  as_tensor(*total)->has_memory() && as_tensor(part)->has_memory() &&
                  are_alike(*total, part);
  // A thread that watches for numbers that are not finite must find both operands as they were.
  if (is_plain && !watches_values && is_own(*total)) return add_into(*total, part);
  if (is_plain && !watches_values && is_own(part)) {
    add_into(part, *total);
    Py_DECREF(*total);
    *total = holder.give();
    return;
  }
  PyObject* sum = call_add(*total, part);
  Py_SETREF(*total, sum);
}

LeafUpdates::~LeafUpdates() {
  for (Update& update : updates_) {
    Py_DECREF(update.leaf);
    Py_XDECREF(update.gradient);
  }
}

void LeafUpdates::prepare(Tensor* leaf, PyObject* gradient) {
  updates_.push_back({Py_NewRef(as_object(leaf)), gradient, nullptr});
  Update& update = updates_.back();
  PyObject* before = leaf->grad;
  if (!before) {
    update.gradient = nullptr;  // taken over, also where it fails
    update.gradient = keepable(leaf, gradient);
    return;
  }
  bool is_plain = !as_tensor(before)->requires_grad && !as_tensor(gradient)->requires_grad &&
                  as_tensor(gradient)->has_memory() && are_alike(before, gradient);
  if (is_plain && is_own(before)) {
    update.before = before;
    return;
  }
  LeafScope scope(leaf);
  PyObject* sum = call_add(before, gradient);
  Py_SETREF(update.gradient, sum);
}

void LeafUpdates::commit() {
  for (Update& update : updates_) {
    Tensor* leaf = as_tensor(update.leaf);
    PyObject* now = leaf->grad;
    if (!update.before || !now) {
      set_gradient(leaf, update.gradient);
    } else {
      bool is_as_before = now == update.before && is_own(now);
      Result held(as_tensor(Py_NewRef(now)));
      if (is_as_before) {
        add_into(now, update.gradient);
      } else {
        Result sum(as_tensor(call_add(now, update.gradient)));
        set_gradient(leaf, as_object(sum.get()));
      }
    }
    Py_CLEAR(update.gradient);
  }
}

void set_gradient(Tensor* leaf, PyObject* gradient) {
  if (gradient && as_tensor(gradient)->buffer->kind == Kind::tensors)
    change_kind(as_tensor(gradient)->buffer, Kind::gradients);
  PyObject* before = leaf->grad;
  leaf->grad = Py_XNewRef(gradient);
  bool stays = gradient && before && as_tensor(gradient)->buffer == as_tensor(before)->buffer;
  if (before && !stays && as_tensor(before)->buffer->kind == Kind::gradients)
    change_kind(as_tensor(before)->buffer, Kind::tensors);
  Py_XDECREF(before);
}

}  // namespace tessella
