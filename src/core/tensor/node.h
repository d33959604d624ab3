// The type Node: one recorded operation. It keeps handles of what the record's vjp asks for, never
// tensors, so that a saved output makes no cycle. Chains of nodes are freed by a worklist.
#pragma once

#include "site.h"
#include "tensor.h"

namespace tessella {

struct Function;

// What is needed to rebuild a tensor: its memory, its place in it, and who made it.
struct Saved {
  Buffer* buffer;      // nullptr: nothing saved, or a Python scalar in `producer`
  PyObject* producer;  // Node, leaf Tensor, scalar, or nullptr
  int64_t offset;
  uint32_t version;  // of the buffer when it was saved
  uint8_t ndim;
  DType dtype;
  bool is_output;  // produced by the node itself
  Dims dims;
};

struct Edge {
  PyObject* target;  // Node or leaf Tensor that takes the gradient; nullptr: none wanted
  Sides shape;
  uint8_t ndim;
  DType dtype;
};

constexpr int INLINE_INPUTS = 2;

struct Node {
  PyObject_HEAD PyObject* function;
  PyObject* params;    // dict of the call's parameters, or nullptr
  PyCodeObject* code;  // of the user's line, or nullptr: see site.h
  int instruction;
  int inputs;
  Edge* edges;   // [inputs]
  Saved* saved;  // [inputs + 1]; the last is the output
  Edge inline_edges[INLINE_INPUTS];
  Saved inline_saved[INLINE_INPUTS + 1];
  PyObject* weakrefs;
};
// With the collector's header (two words) at most what Python's allocator of small objects takes.
static_assert(sizeof(Node) + 2 * sizeof(void*) <= 512);

extern PyTypeObject* node_type;

bool is_grad_enabled();
void set_grad_enabled(bool enabled);

// Whether an operation on these operands is recorded: gradients are on and one of them asks.
bool needs_node(PyObject* const* inputs, int count);

// Records `out = function(inputs, params)`. Inputs are tensors or Python scalars. `params` may be
// nullptr. Returns false with a Python error set.
bool record(Tensor* out, Function* function, PyObject* const* inputs, int count, PyObject* params);

bool init_node_type(PyObject* module);

}  // namespace tessella
