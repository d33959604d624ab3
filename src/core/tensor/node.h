// The type Node: one recorded operation. It keeps handles of what the record's vjp asks for, never
// tensors, so that a saved output makes no cycle. Chains of nodes are freed by a worklist.
#pragma once

#include <span>

#include "site.h"
#include "tensor.h"

namespace tessella {

struct Function;

constexpr uint8_t NO_OUTPUT = 255;  // also the most results that one node has

// What is needed to rebuild a tensor: its memory, its place in it, and who made it.
struct Saved {
  Buffer* buffer;      // nullptr: a Python scalar in `producer`
  PyObject* producer;  // Node, leaf Tensor, scalar, or nullptr
  int64_t offset;
  uint32_t version;  // of the buffer when it was saved
  uint8_t ndim;
  DType dtype;
  uint8_t own_output;  // which result of the node itself it is, or NO_OUTPUT
  uint8_t output;      // which result of the producer it is
  Dims dims;
};

struct Edge {
  PyObject* target;  // Node or leaf Tensor that takes the gradient; nullptr: none wanted
  Sides shape;
  uint8_t ndim;
  DType dtype;
  uint8_t output;  // which result of the target
};

constexpr int INLINE_INPUTS = 2;

struct Node {
  PyObject_HEAD PyObject* function;
  PyObject* params;    // dict of the call's parameters, or nullptr
  PyObject* hooks;     // called with the gradients of the results, gives them; or nullptr
  PyCodeObject* code;  // of the user's line, or nullptr: see site.h
  int instruction;
  int inputs;
  uint64_t sequence;  // in the order of recording: that of an input is smaller
  uint32_t sweep;     // the last that found it, and its place there
  uint32_t place;
  uint64_t saved_bits;  // which of the operands are saved; bit 63: the output
  int saves;
  uint8_t outputs;
  bool is_used;       // a sweep has been here: what was saved is let go of, or about to be
  uint16_t visitors;  // sweeps that are at it, in several threads
  Edge* edges;        // [inputs]
  Saved* saved;       // [saves]: what the record asks for, inputs first, then the output
  Edge inline_edges[INLINE_INPUTS];
  Saved inline_saved[INLINE_INPUTS];
  PyObject* weakrefs;
};
// With the collector's header (two words) at most what Python's allocator of small objects takes.
static_assert(sizeof(Node) + 2 * sizeof(void*) <= 512);

inline Node* as_node(PyObject* object) { return reinterpret_cast<Node*>(object); }

extern PyTypeObject* node_type;
inline bool is_node(PyObject* object) { return Py_TYPE(object) == node_type; }

uint64_t recorded_nodes();  // so far
bool is_grad_enabled();
void set_grad_enabled(bool enabled);
// While it lives.
class GradMode {
 public:
  explicit GradMode(bool enabled) : before_(is_grad_enabled()) { set_grad_enabled(enabled); }
  ~GradMode() { set_grad_enabled(before_); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};

// Whether an operation on these operands is recorded: gradients are on and one of them asks.
bool needs_node(PyObject* const* inputs, int count);

// Records `out = function(inputs, params)`. Inputs are tensors or Python scalars. `params` may be
// nullptr. `out` may be an input that was overwritten. Returns false with a Python error set.
bool record(Tensor* out, Function* function, PyObject* const* inputs, int count, PyObject* params);

// Records a call that has several results and says itself what it keeps.
bool record_call(std::span<PyObject* const> outs, Function* function,
                 std::span<PyObject* const> inputs, PyObject* params,
                 std::span<PyObject* const> kept);

// Whether gradients flow to x. A view whose base was written into has a new history first.
bool is_outdated(const Tensor* x);
void refresh(Tensor* x);  // throws PythonError
inline bool asks_gradient(Tensor* x) {
  if (x->base && is_outdated(x)) refresh(x);
  return x->requires_grad;
}

// Makes `out`, which shares the memory of x, its view: writes to one are writes to the other.
void link_view(Tensor* out, PyObject* x);

// A tensor again, attached to who made it if asked. The strict one refuses what was overwritten.
PyObject* unpack(Node* node, const Saved& saved, bool attaches);
PyObject* unpack_strictly(Node* node, const Saved& saved, bool attaches);

// A visit of a sweep, which may run any code: what was recorded stays until the last one ends.
class Visit {
 public:
  explicit Visit(Node* node) : node_(node) { ++node->visitors; }
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Node* node_;
};

// Appends the slots of what Python sees; there must be room.
void add_node_slots(PyType_Slot* slots, int* used);
bool init_node_type(PyObject* module);

}  // namespace tessella
