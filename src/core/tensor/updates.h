// Optimizers' updates on tensors: one call has lists of parameters, gradients, states and counters,
// numbers that are 0-d tensors, and constants. Several calls are checked and run as one.
#pragma once

#include <span>
#include <vector>

#include "../launch/updates.h"
#include "function.h"

namespace tessella {

// One call: (params, grads, states…, counters…, numbers…, constants…).
struct UpdateCall {
  Function* function;
  PyObject* const* args;
  Py_ssize_t count;
};

// Runs calls as one, to the end. False: they cannot be run as they stand, and nothing was changed.
bool run_updates(std::span<const UpdateCall> calls);

class Updates {
 public:
  struct Extent {  // of a tensor in memory
    uintptr_t begin, end;
  };

  // If they are to be repeated, it remembers where operands come from.
  explicit Updates(size_t calls, bool is_repeated = false) : is_repeated_(is_repeated) {
    settings_.reserve(calls);
  }

  // Takes memory for calls with so many parameters in all, and operands.
  void reserve(size_t parameters, size_t operands);
  // Takes the data and numbers of the same tensors anew.
  void aim();

  // A gradient that is None leaves its parameter out; None in place of a list of states: there is
  // no such state. False: it is not one that can be run as it stands, and nothing was changed.
  bool add(const UpdateCall& call);

  // Runs all of them, to the end. Throws only before the first write.
  void run();

 private:
  bool add_settings(const UpdateInfo& info, PyObject* const* args);
  bool add_item(const UpdateInfo& info, UpdateOp op, PyObject* const* lists, Py_ssize_t i);
  bool add_counters(launch::UpdateItem* item, int count, PyObject* const* lists, Py_ssize_t i);
  void lay_out(launch::UpdateItem* item, Tensor* const* operands);
  bool are_entangled();

  struct Aim {
    const Tensor* tensor;
    char** place;
  };
  struct Number {
    const Tensor* tensor;
    double* place;
  };

  bool is_repeated_;
  std::vector<Aim> aims_;  // at items_, which do not move once there is memory for them
  std::vector<Number> numbers_;
  std::vector<UpdateSettings> settings_;
  std::vector<launch::UpdateItem> items_;
  std::vector<int64_t> dims_;     // of items that are not contiguous: shapes and strides
  std::vector<Tensor*> tensors_;  // all that are read and written
  std::vector<Buffer*> written_;
  std::vector<Extent> extents_;
  std::vector<launch::UpdatePlan> plans_;
  int64_t total_ = 0;
};

// Whether two tensors lie in one stretch of memory, at least in parts.
bool do_overlap(const Tensor* x, const Tensor* y);

// update_all([(function, args), …]): the fast path of several updates. False: declined.
bool fast_updates(PyObject* calls);

}  // namespace tessella
