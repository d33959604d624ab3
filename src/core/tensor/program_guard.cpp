// When a program may be repeated: nothing of what it was made from has changed, and all memory that
// it uses is there.
#include "program.h"

#include <algorithm>

#include "gradients.h"

namespace tessella {

bool has_layout(const Tensor* x, const Place& place) {
  const Layout& layout = place.layout;
  if (x->dtype != place.dtype || x->ndim != layout.ndim || x->offset != layout.offset) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != layout.shape[i] || x->strides()[i] != layout.strides[i]) return false;
  return true;
}

uint64_t changes_count;

bool Watched::is_same() const {
  if (kind != WatchedKind::list) return now() == value;
  Py_ssize_t count = PyTuple_GET_SIZE(value);
  if (PyList_GET_SIZE(holder) != count) return false;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (PyList_GET_ITEM(holder, i) != PyTuple_GET_ITEM(value, i)) return false;
  return true;
}

PyObject* Watched::now() const {
  auto or_none = [](PyObject* found) { return found ? found : Py_None; };
  switch (kind) {
    case WatchedKind::dict:
      return PyDict_GetItem(holder, name);
    case WatchedKind::cell:
      return PyCell_GET(holder);
    case WatchedKind::code:
      return PyFunction_GET_CODE(holder);
    case WatchedKind::defaults:
      return or_none(PyFunction_GET_DEFAULTS(holder));
    default:
      return or_none(PyFunction_GET_KW_DEFAULTS(holder));
  }
}

void Program::drop_guard() {
  for (Watched& each : places_) {
    Py_DECREF(each.holder);
    Py_XDECREF(each.name);
    Py_DECREF(each.value);
  }
  places_.clear();
  Py_CLEAR(holds_);
}

void Program::set_guard(uint64_t changes, std::vector<Watched> places, PyObject* holds,
                        bool is_partial) {
  drop_guard();
  changes_ = changes;
  places_ = std::move(places);
  holds_ = Py_NewRef(holds);
  is_partial_ = is_partial;
}

bool Program::is_unchanged() const {
  if (changes_ != changes_count) return false;
  bool is_same = true;
  for (size_t i = 0; is_same && i < places_.size(); ++i) is_same = places_[i].is_same();
  if ((is_same && !is_partial_) || !holds_) return true;
  PyObject* answer = PyObject_CallOneArg(holds_, is_same ? Py_True : Py_False);
  if (!answer) throw PythonError{};
  is_same = answer == Py_True;
  Py_DECREF(answer);
  return is_same;
}

int Program::visit(visitproc visit, void* arg) const {
  Py_VISIT(holds_);
  for (const Watched& each : places_) {
    Py_VISIT(each.holder);
    Py_VISIT(each.value);
  }
  return 0;
}

bool Program::accepts(std::span<Tensor* const> arguments) const {
  if (!is_unchanged()) return false;  // may run Python, so it comes first
  for (size_t i = 0; i < homes_.size() && i < arguments.size(); ++i) {
    const Tensor* x = arguments[i];
    std::pair home{reinterpret_cast<uintptr_t>(x->buffer), x->offset * itemsize(x->dtype)};
    if (homes_[i].first && homes_[i] != home) return false;
  }
  for (size_t i : outside_) {
    if (!tape_->slots[i].is_placed || plans_[i].source != Source::argument) continue;
    const Tensor* x = arguments[static_cast<size_t>(plans_[i].index)];
    if (x->offset * itemsize(x->dtype) != plans_[i].offset) return false;
  }
  if (!named_.empty() && !are_named_alike(arguments)) return false;
  if (!tape_->asked_alike() || !has_gradients(arguments) || !can_run(arguments)) return false;
  return are_apart(arguments);
}

// Whether each argument is one of the objects that the function may compare it with, or none, as it
// was in a recording.
bool Program::are_named_alike(std::span<Tensor* const> arguments) const {
  auto is_alike = [&](const std::vector<uintptr_t>& way) {
    for (size_t i = 0; i < way.size() && i < arguments.size(); ++i) {
      auto own = reinterpret_cast<uintptr_t>(arguments[i]);
      bool is_named = std::binary_search(named_.begin(), named_.end(), own);
      if (way[i] != (is_named ? own : 0)) return false;
    }
    return true;
  };
  return std::any_of(ways_.begin(), ways_.end(), is_alike);
}

// Whether what has places of its own in the program shares no memory. Captured memories are those
// of the recording; memory that is no argument matters only where the program writes to it.
bool Program::are_apart(std::span<Tensor* const> arguments) const {
  // may_overlap, with what is known of an argument worked out once: there may be many memories.
  auto address = [](const Buffer* buffer) {
    return reinterpret_cast<uintptr_t>(buffer->host_ptr());
  };
  for (const Tensor* x : arguments) {
    const Buffer* own = x->buffer;
    const uintptr_t begin = address(own), end = begin + own->bytes;
    for (const Captured& each : captured_) {
      const uintptr_t other = address(each.buffer);
      if (each.buffer == own || (begin < other + each.buffer->bytes && other < end)) return false;
    }
  }
  auto is_apart = [&](const Buffer* buffer) {
    return std::none_of(arguments.begin(), arguments.end(),
                        [&](const Tensor* x) { return may_overlap(buffer, x->buffer); });
  };
  for (size_t k = 0; k < given_.size(); ++k) {
    const size_t i = given_[k];
    const Buffer* own = as_tensor(leaf(plans_[i].index, arguments)->grad)->buffer;
    if (!is_apart(own)) return false;
    if (own->refs == 1 && own->allocator) continue;  // nobody else sees it, whatever there is
    for (const Captured& each : captured_)
      if ((each.is_written || is_written_[i]) && may_overlap(own, each.buffer)) return false;
    for (size_t j : std::span(given_).subspan(k + 1)) {
      if (!is_written_[i] && !is_written_[j]) continue;
      const Buffer* other = as_tensor(leaf(plans_[j].index, arguments)->grad)->buffer;
      if (may_overlap(own, other)) return false;
    }
  }
  return true;
}

// Whether leaves have gradients where they had, and nobody else sees those that are written.
bool Program::has_gradients(std::span<Tensor* const> arguments) const {
  for (size_t i = 0; i < tape_->leaves.size(); ++i) {
    const Tensor* of = leaf(static_cast<int>(i), arguments);
    const Place& before = tape_->leaves[i].before;
    if ((before.slot >= 0) != (of->grad != nullptr)) return false;
    if (before.slot >= 0 && is_written_[static_cast<size_t>(before.slot)] && !is_own(of->grad))
      return false;
    uintptr_t home = gradient_homes_.empty() ? 0 : gradient_homes_[i];
    if (home && home != reinterpret_cast<uintptr_t>(as_tensor(of->grad)->buffer)) return false;
    int number = tape_->leaves[i].argument;
    if (number < 0) continue;
    uintptr_t object = objects_.empty() ? 0 : objects_[static_cast<size_t>(number)];
    if (of->hooks || (object && object != reinterpret_cast<uintptr_t>(of))) return false;
  }
  return true;
}

bool Program::can_run(std::span<Tensor* const> arguments) const {
  for (const Tensor* x : arguments)
    if (!x->has_memory()) return false;
  for (const Captured& each : captured_)
    if (!each.buffer->has_memory()) return false;
  for (size_t i : given_) {
    const Leaf& of = tape_->leaves[static_cast<size_t>(plans_[i].index)];
    PyObject* held = leaf(plans_[i].index, arguments)->grad;
    if (!held) return false;
    const Tensor* gradient = as_tensor(held);
    if (!gradient->has_memory() || gradient->requires_grad || !has_layout(gradient, of.before))
      return false;
  }
  for (const Reach& each : reaches_) {
    const SlotPlan& plan = plans_[each.slot];
    bool is_argument = plan.source == Source::argument;
    const Tensor* x = is_argument ? arguments[static_cast<size_t>(plan.index)]
                                  : as_tensor(leaf(plan.index, arguments)->grad);
    int64_t start = is_argument ? x->offset * itemsize(x->dtype) : 0;
    if (start + each.first < 0 || start + each.end > static_cast<int64_t>(x->buffer->bytes))
      return false;
  }
  return true;
}

}  // namespace tessella
