// What a run of a program leaves: the tensors that it gives, what they are views of, and gradients.
#include "collection.h"
#include "gradients.h"
#include "program.h"
#include "result.h"

namespace tessella {

// A tensor over the memory of a slot, while it runs.
Tensor* Program::make(const Place& place, std::span<Tensor* const> arguments) const {
  auto slot = static_cast<size_t>(place.slot);
  Layout layout = place.layout;
  if (plans_[slot].source == Source::argument) {
    const Tensor* x = arguments[static_cast<size_t>(plans_[slot].index)];
    layout.offset += (x->offset * itemsize(x->dtype) - plans_[slot].offset) / itemsize(place.dtype);
  }
  return make_over(retain(real(slot)), place.dtype, layout);
}

void Program::put_gradient(const NewGradient& each, std::span<Tensor* const> arguments) {
  Tensor* of = leaf(each.leaf, arguments);
  const Buffer* buffer = real(static_cast<size_t>(each.place.slot));
  bool stays = of->grad && as_tensor(of->grad)->buffer == buffer &&
               has_layout(as_tensor(of->grad), each.place);
  if (stays) return;
  Result gradient(make(each.place, arguments));
  set_gradient(of, as_object(gradient.get()));
}

Tensor* Program::make_output(const Output& output, std::span<Tensor* const> arguments) const {
  Tensor* out = make(output.place, arguments);
  if (output.node) {
    out->node = Py_NewRef(output.node);
    out->requires_grad = true;
  }
  return out;
}

PyObject* Program::base_of(const OutputBase& base, PyObject* const* outs,
                           std::span<Tensor* const> arguments) const {
  require(base.output < static_cast<int>(outputs_.size()));
  if (base.output >= 0) return Py_NewRef(outs[base.output]);
  if (base.object) return Py_NewRef(base.object);
  if (base.argument < 0) return as_object(make(base.place, arguments));
  Tensor* x = arguments[static_cast<size_t>(base.argument)];
  return Py_NewRef(x->base ? x->base : as_object(x));
}

void Program::link_views(PyObject* const* outs, std::span<Tensor* const> arguments) const {
  for (size_t number = 0; number < bases_.size(); ++number) {
    Owned base(base_of(bases_[number], outs, arguments));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].base != static_cast<int>(number)) continue;
      as_tensor(outs[i])->base = Py_NewRef(base.get());
      as_tensor(outs[i])->is_blind = outputs_[i].is_blind;
    }
  }
}

PyObject* Program::one_output(std::span<Tensor* const> arguments) const {
  Owned out(as_object(make_output(outputs_[0], arguments)));
  PyObject* item = out.get();
  link_views(&item, arguments);
  return out.release();
}

PyObject* Program::list_outputs(std::span<Tensor* const> arguments) const {
  Owned list(PyList_New(static_cast<Py_ssize_t>(outputs_.size())));
  if (!list) throw PythonError{};
  Unseen unseen(list.get());
  for (size_t i = 0; i < outputs_.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                    as_object(make_output(outputs_[i], arguments)));
  link_views(reinterpret_cast<PyListObject*>(list.get())->ob_item, arguments);
  unseen.show();
  return list.release();
}

void Program::leave_gradients(std::span<Tensor* const> arguments) {
  for (int index : removals_)
    if (leaf(index, arguments)->grad) set_gradient(leaf(index, arguments), nullptr);
  for (const NewGradient& each : gradients_) put_gradient(each, arguments);
}

}  // namespace tessella
