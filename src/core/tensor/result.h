// The last steps of a fast path: who owns the result until it is returned, and its recording.
#pragma once

#include "function.h"
#include "node.h"

namespace tessella {

// The result of an operation while it is computed: let go of if that fails.
class Result {
 public:
  explicit Result(Tensor* tensor) : tensor_(tensor) {}
  ~Result() { Py_XDECREF(tensor_); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Tensor* get() const { return tensor_; }
  Tensor* operator->() const { return tensor_; }
  PyObject* give() {
    PyObject* object = as_object(tensor_);
    tensor_ = nullptr;
    return object;
  }

 private:
  Tensor* tensor_;
};

// Whether its elements may be written where they lie, as far as gradients and memory go.
inline bool is_writable(Tensor* x) {
  bool is_shared = x->is_blind && x->base && as_tensor(x->base)->requires_grad;
  bool is_watched = is_grad_enabled() && (is_shared || asks_gradient(x));
  return !is_watched && x->has_memory() && !x->buffer->is_readonly;
}

// Whether the call is recorded.
inline bool is_recorded(const Function* function, PyObject* const* inputs, int count) {
  return function->is_differentiable && needs_node(inputs, count);
}

// Records the call if it asks for it, and gives the result up. `make_params` builds the dict of
// parameters, and is called only then.
template <class MakeParams>
PyObject* finish(Result& out, Function* function, PyObject* const* inputs, int count,
                 MakeParams&& make_params) {
  bool is_wanted = has_gradients(out->dtype) && is_recorded(function, inputs, count);
  if (!is_wanted) return out.give();
  PyObject* params = make_params();
  if (!params) return nullptr;
  bool done = record(out.get(), function, inputs, count, params);
  Py_DECREF(params);
  return done ? out.give() : nullptr;
}

}  // namespace tessella
