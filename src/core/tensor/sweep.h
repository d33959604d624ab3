// The reverse sweep: from gradients of results to those of what they were computed from. It visits
// each recorded operation once, in the reverse of the order in which they were recorded, so that
// all gradients of a result have met before they are passed on; nothing here recurses.
#pragma once

#include "node.h"

namespace tessella {

struct SweepRequest {
  PyObject* roots;      // tuple of tensors
  PyObject* gradients;  // tuple: for each of them a tensor, or None for ones
  PyObject* wanted;     // tuple of tensors whose gradients are given; None: leaves keep theirs
  bool retains;         // what was saved, for another sweep
  bool creates;         // a graph of the gradients
  uint64_t since;  // operations up to this one are not visited: they end the graph as leaves do
  bool passes_on = false;  // what arrives flows on elsewhere: hooks of leaves see the sums there
  bool in_parts = false;   // of what is wanted all gradients that arrive, not their sum
};

// What the tensors were computed from, as far as the operations after `since` go: leaves, and
// tensors without memory that stand for results of earlier operations. A list; throws.
PyObject* sources_of(PyObject* roots, uint64_t since);

// A tuple of gradients, None for those that nothing flowed to, or of lists of gradients in the
// order in which they would be added; or None. Throws.
PyObject* sweep(const SweepRequest& request);

}  // namespace tessella
