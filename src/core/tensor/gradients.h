// Gradients on their way: fitted to what they are of, added up, and kept in the leaves.
#pragma once

#include <vector>

#include "node.h"

namespace tessella {

// A gradient of the shape and dtype of what it is of: summed over what was broadcast, made real.
// Takes over `part`, gives a new reference; throws PythonError.
PyObject* conform(PyObject* part, Shape shape, DType dtype);

// Adds `part`, which it takes over, to what `total` holds: in place where nobody else can see it.
// Throws PythonError.
void add_gradient(PyObject** total, PyObject* part);

// Nobody but the holders of these references, who are all here, can see the memory of a tensor, and
// it may be written.
bool is_own(PyObject* object, Py_ssize_t holders = 1);

// Throws PythonError if it is no tensor: hooks can be replaced.
void check_gradient(PyObject* given);

// What is to happen to the gradients of leaves. Everything that can fail is done in `prepare`:
// until `commit`, which cannot unless another thread writes the same gradients meanwhile, every
// leaf is as it was.
class LeafUpdates {
 public:
  LeafUpdates() = default;
  ~LeafUpdates();
  LeafUpdates(const LeafUpdates&) = delete;
  LeafUpdates& operator=(const LeafUpdates&) = delete;
  void prepare(Tensor* leaf, PyObject* gradient);  // takes over `gradient`; throws
  void prepare_pairs(PyObject* pairs);             // (tensor, gradient), as hooks give them
  void commit();

 private:
  struct Update {
    PyObject* leaf;
    PyObject* gradient;  // to add, or to keep
    PyObject* before;    // the leaf's gradient when it was prepared, or nullptr
    PyObject* total;     // to put in its place; nullptr: `gradient` is added where it lies
  };
  static bool can_add(const Update& update);
  static void add_to_other(Tensor* leaf, PyObject* gradient);
  std::vector<Update> updates_;
};

// Puts a tensor, or nullptr, in place of a leaf's gradient, and counts its memory as such.
void set_gradient(Tensor* leaf, PyObject* gradient);
// Lets go of the gradient, and of that gradient's own, and so on: a loop, however many there are.
void drop_gradients(Tensor* x);

}  // namespace tessella
