// See gradients.h.
#include "gradients.h"

#include "../memory/allocators.h"
#include "anomaly.h"
#include "function.h"
#include "guard.h"
#include "lines.h"
#include "operators.h"
#include "rehearsal.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

bool has_shape(const Tensor* x, Shape shape) {
  if (x->ndim != shape.size()) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != shape[static_cast<size_t>(i)]) return false;
  return true;
}

// Whether it is a view of a tensor that nobody else holds.
bool holds_base_alone(const Tensor* x) {
  return x->base && Py_REFCNT(x->base) == 1 && Py_TYPE(x->base) == tensor_type &&
         !as_tensor(x->base)->weakrefs && as_tensor(x->base)->buffer == x->buffer;
}

}  // namespace

bool is_own(PyObject* object, Py_ssize_t holders) {
  if (Py_REFCNT(object) != holders || Py_TYPE(object) != tensor_type) return false;
  Tensor* x = as_tensor(object);
  bool is_foreign = !x->buffer->allocator;
  int64_t known = holds_base_alone(x) ? 2 : 1;
  return !is_foreign && x->buffer->refs == known && x->buffer->pins == 0 && x->is_contiguous &&
         x->has_memory() && !x->buffer->is_readonly && !x->requires_grad && !x->weakrefs;
}

namespace {

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
void add_into(PyObject* x, PyObject* y, bool keeps_lock = false) {
  Input inputs[] = {{as_tensor(x), nullptr, as_tensor(x)->dtype},
                    {as_tensor(y), nullptr, as_tensor(y)->dtype}};
  auto opcode = static_cast<Opcode>(function_of(Slot::add)->opcode);
  run_elementwise(opcode, as_tensor(x)->dtype, as_tensor(x), inputs, 2, false, keeps_lock);
  known_finite = nullptr;  // nobody asks
  mark_written(as_tensor(x)->buffer);
}

// The allocator of a leaf's memory, for what is kept with it. The thread holds on to it and to the
// one before, as inside it others may be chosen.
class LeafScope {
 public:
  explicit LeafScope(const Tensor* leaf) : before_(current_allocator) {
    Allocator* own = leaf->buffer->allocator;
    current_allocator = own == &heap() ? nullptr : own;
    if (current_allocator) current_allocator->retain_handle();
  }
  ~LeafScope() {
    Allocator* last = current_allocator;
    current_allocator = before_;
    if (last) last->release_handle();
  }
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
  if (is_own(gradient) && is_placed_with(x, leaf)) {
    Py_CLEAR(x->base);  // it is a view of nothing else
    x->is_blind = false;
    return gradient;
  }
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

void check_gradient(PyObject* given) {
  if (is_tensor(given)) return;
  PyErr_Format(PyExc_TypeError, "a hook gave %s in place of a gradient", Py_TYPE(given)->tp_name);
  throw PythonError{};
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
    Py_XDECREF(update.before);
    Py_XDECREF(update.total);
  }
}

void LeafUpdates::prepare(Tensor* leaf, PyObject* gradient) {
  if (is_taping()) tape->touch_leaf(leaf);
  updates_.push_back({Py_NewRef(as_object(leaf)), gradient, Py_XNewRef(leaf->grad), nullptr});
  Update& update = updates_.back();
  if (!update.before) {
    update.gradient = nullptr;  // taken over, also where it fails
    update.gradient = keepable(leaf, gradient);
  } else if (!can_add(update)) {
    LeafScope scope(leaf);
    update.total = call_add(update.before, gradient);
  }
}

void LeafUpdates::prepare_pairs(PyObject* pairs) {
  if (!PyTuple_Check(pairs)) {
    PyErr_BadInternalCall();
    throw PythonError{};
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); ++i) {
    PyObject *leaf, *gradient;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(pairs, i), "O!O!", tensor_type, &leaf, tensor_type,
                          &gradient))
      throw PythonError{};
    prepare(as_tensor(leaf), Py_NewRef(gradient));
  }
}

// Whether the gradient can be added where the former one lies: the leaf and the update hold it.
bool LeafUpdates::can_add(const Update& update) {
  return !as_tensor(update.before)->requires_grad && !as_tensor(update.gradient)->requires_grad &&
         as_tensor(update.gradient)->has_memory() && are_alike(update.before, update.gradient) &&
         is_own(update.before, 2);
}

void LeafUpdates::commit() {
  for (Update& update : updates_) {
    Tensor* leaf = as_tensor(update.leaf);
    if (leaf->grad != update.before)
      add_to_other(leaf, update.gradient);
    else if (!update.before)
      set_gradient(leaf, update.gradient);
    else if (update.total)
      set_gradient(leaf, update.total);
    else if (can_add(update))
      add_into(update.before, update.gradient, true);  // under the lock: others may add too
    else
      add_to_other(leaf, update.gradient);
  }
}

// Somebody, a hook or another thread, has given the leaf a gradient since, or holds it.
void LeafUpdates::add_to_other(Tensor* leaf, PyObject* gradient) {
  for (;;) {
    PyObject* now = Py_XNewRef(leaf->grad);
    if (!now) return set_gradient(leaf, gradient);
    Result held(as_tensor(now));
    Result sum(as_tensor(call_add(now, gradient)));
    if (leaf->grad == now) return set_gradient(leaf, as_object(sum.get()));
  }
}

namespace {

void replace_gradient(Tensor* leaf, PyObject* gradient) {
  if (gradient && as_tensor(gradient)->buffer->kind == Kind::tensors)
    change_kind(as_tensor(gradient)->buffer, Kind::gradients);
  PyObject* before = leaf->grad;
  leaf->grad = Py_XNewRef(gradient);
  bool stays = gradient && before && as_tensor(gradient)->buffer == as_tensor(before)->buffer;
  if (before && !stays && as_tensor(before)->buffer->kind == Kind::gradients)
    change_kind(as_tensor(before)->buffer, Kind::tensors);
  Py_XDECREF(before);
}

}  // namespace

void drop_gradients(Tensor* x) {
  PyObject* gradient = Py_NewRef(x->grad);
  replace_gradient(x, nullptr);
  while (gradient && Py_REFCNT(gradient) == 1) {
    PyObject* next = Py_XNewRef(as_tensor(gradient)->grad);
    if (next) replace_gradient(as_tensor(gradient), nullptr);
    Py_SETREF(gradient, next);
  }
  Py_XDECREF(gradient);
}

void set_gradient(Tensor* leaf, PyObject* gradient) {
  if (rehearsal) rehearsal->keep_gradient(leaf);
  if (is_taping()) tape->note_gradient(leaf, gradient != nullptr);
  replace_gradient(leaf, gradient);
}

}  // namespace tessella
