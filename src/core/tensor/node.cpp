// Recording operations, and freeing what was recorded.
#include "node.h"

#include <algorithm>

#include "function.h"
#include "guard.h"
#include "lines.h"
#include "operators.h"
#include "tape.h"

namespace tessella {

PyTypeObject* node_type;

namespace {

thread_local bool grad_enabled __attribute__((tls_model("initial-exec"))) = true;

// Nodes whose reference count fell to zero while another was being freed: a chain of a million
// nodes is taken apart in a loop, not by a million nested calls.
thread_local Node* pending_nodes __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool is_freeing __attribute__((tls_model("initial-exec"))) = false;

uint64_t recorded;  // nodes so far

void keep(Buffer* buffer, bool is_of_leaf) {
  ++buffer->saves;
  if (!is_of_leaf && buffer->kind == Kind::tensors) change_kind(buffer, Kind::saved);
}

void let_go(Buffer* buffer) {
  if (--buffer->saves == 0) {
    if (buffer->kind == Kind::saved) change_kind(buffer, Kind::tensors);
    if (buffer->has_writes) forget_writes(buffer);
  }
  release(buffer);
}

void free_saved(Saved& saved) {
  if (saved.buffer) let_go(saved.buffer);
  saved.dims.release();
  Py_XDECREF(saved.producer);
}

// Takes everything out first, as what goes may run any code, which may look at the node.
void free_contents(Node* node) {
  int inputs = node->inputs, saves = node->saves;
  node->inputs = node->saves = 0;
  for (int i = 0; i < inputs; ++i) {
    node->edges[i].shape.release();
    Py_CLEAR(node->edges[i].target);
  }
  for (int i = 0; i < saves; ++i) free_saved(node->saved[i]);
  if (node->edges != node->inline_edges) PyMem_Free(node->edges);
  if (node->saved != node->inline_saved) PyMem_Free(node->saved);
  node->edges = node->inline_edges;
  node->saved = node->inline_saved;
  Py_CLEAR(node->params);
  Py_CLEAR(node->hooks);
}

void deallocate(PyObject* self) {
  Node* node = as_node(self);
  PyObject_GC_UnTrack(self);
  if (node->weakrefs) PyObject_ClearWeakRefs(self);
  // `weakrefs` is no longer needed: it links the pending nodes.
  node->weakrefs = reinterpret_cast<PyObject*>(pending_nodes);
  pending_nodes = node;
  if (is_freeing) return;
  is_freeing = true;
  while (pending_nodes) {
    Node* next = pending_nodes;
    pending_nodes = reinterpret_cast<Node*>(next->weakrefs);
    PyTypeObject* type = Py_TYPE(next);
    free_contents(next);
    Py_CLEAR(next->function);
    Py_CLEAR(next->code);
    PyObject_GC_Del(next);
    Py_DECREF(type);
  }
  is_freeing = false;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Node* node = as_node(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(node->function);
  Py_VISIT(node->params);
  Py_VISIT(node->hooks);
  for (int i = 0; i < node->inputs; ++i) Py_VISIT(node->edges[i].target);
  for (int i = 0; i < node->saves; ++i) Py_VISIT(node->saved[i].producer);
  return 0;
}

// Memory of leaves is theirs; other memory lives on for backward alone.
bool is_of_leaf(const Tensor* x) {
  const Tensor* owner = x->base ? as_tensor(x->base) : x;
  return owner->requires_grad && !owner->node;
}

// Fills the next place of `saved`, which the caller has made room for.
void save(Node* node, PyObject* value, uint8_t own_output) {
  Saved& saved = node->saved[node->saves];
  saved.own_output = own_output;
  saved.output = 0;
  saved.buffer = nullptr;
  saved.producer = nullptr;
  saved.dims.clear();
  if (!is_tensor(value)) {
    saved.producer = Py_NewRef(value);
    ++node->saves;
    return;
  }
  Tensor* x = as_tensor(value);
  if (!saved.dims.set(x->dims)) throw PythonError{};
  saved.buffer = retain(x->buffer);
  saved.offset = x->offset;
  saved.ndim = x->ndim;
  saved.dtype = x->dtype;
  saved.version = x->buffer->version;
  if (own_output == NO_OUTPUT && x->requires_grad) {
    saved.producer = Py_NewRef(x->node ? x->node : value);
    saved.output = x->output;
  }
  keep(x->buffer, is_of_leaf(x));
  ++node->saves;
}

Edge* take_edges(Node* node, int inputs) {
  if (inputs <= INLINE_INPUTS) return node->inline_edges;
  return static_cast<Edge*>(PyMem_Malloc(static_cast<size_t>(inputs) * sizeof(Edge)));
}
Saved* take_saved(Node* node, int saves) {
  if (saves <= INLINE_INPUTS) return node->inline_saved;
  return static_cast<Saved*>(PyMem_Malloc(static_cast<size_t>(saves) * sizeof(Saved)));
}

// Without edges and saved values. To make it may run any code, which may change what inputs ask
// for: that is read behind it.
Node* make_node(Function* function, PyObject* params) {
  Node* node = PyObject_GC_New(Node, node_type);
  if (!node) throw PythonError{};
  node->function = Py_NewRef(reinterpret_cast<PyObject*>(function));
  node->params = Py_XNewRef(params);
  node->hooks = node->weakrefs = nullptr;
  Site site = current_site();
  node->code = site.code;
  node->instruction = site.instruction;
  node->sequence = ++recorded;
  node->sweep = 0;
  node->saved_bits = 0;
  node->outputs = 1;
  node->is_used = false;
  node->visitors = 0;
  node->inputs = node->saves = 0;
  node->edges = node->inline_edges;
  node->saved = node->inline_saved;
  return node;
}

// Room for so many edges and saved values, none of them filled.
void make_room(Node* node, int inputs, int saves) {
  node->edges = take_edges(node, inputs);
  node->saved = take_saved(node, saves);
  if (!node->edges || !node->saved) {
    if (!node->edges) node->edges = node->inline_edges;
    if (!node->saved) node->saved = node->inline_saved;
    PyErr_NoMemory();
    throw PythonError{};
  }
}

void connect(Node* node, PyObject* input) {
  Edge& edge = node->edges[node->inputs];
  edge.target = nullptr;
  edge.ndim = edge.output = 0;
  edge.dtype = DType::float32;
  edge.shape.clear();
  if (is_tensor(input)) {
    Tensor* x = as_tensor(input);
    if (!edge.shape.set(x->shape(), x->ndim, nullptr, 0)) throw PythonError{};
    edge.ndim = x->ndim;
    edge.dtype = x->dtype;
    edge.output = x->output;
    if (x->requires_grad) edge.target = Py_NewRef(x->node ? x->node : input);
  }
  ++node->inputs;
}

// What the rules of those inputs ask for that gradients flow to.
uint64_t bits_to_save(const Function* function, PyObject* const* inputs, int count) {
  uint64_t bits = 0;
  const std::vector<Rule>& rules = *function->rules;
  for (int i = 0; i < count; ++i)
    if (is_tensor(inputs[i]) && as_tensor(inputs[i])->requires_grad)
      bits |= rules[std::min(static_cast<size_t>(i), rules.size() - 1)].saves;
  return bits;
}

// Where some operand is a view, which may have to be recorded again first.
[[gnu::noinline]] bool ask_each(PyObject* const* inputs, int count) {
  bool is_asked = false;
  for (int i = 0; i < count; ++i)
    if (is_tensor(inputs[i])) is_asked |= asks_gradient(as_tensor(inputs[i]));
  return is_asked;
}

void attach(Tensor* out, Node* node, uint8_t output) {
  Py_XSETREF(out->node, Py_NewRef(reinterpret_cast<PyObject*>(node)));
  out->output = output;
  out->requires_grad = true;
}

}  // namespace

uint64_t recorded_nodes() { return recorded; }
bool is_grad_enabled() { return grad_enabled; }
void set_grad_enabled(bool enabled) { grad_enabled = enabled; }

bool needs_node(PyObject* const* inputs, int count) {
  if (!grad_enabled) return false;
  if (is_taping())
    for (int i = 0; i < count; ++i)
      if (is_tensor(inputs[i])) tape->note_asked(as_tensor(inputs[i]));
  bool is_asked = false;
  for (int i = 0; i < count; ++i) {
    if (!is_tensor(inputs[i])) continue;
    if (as_tensor(inputs[i])->base) return ask_each(inputs, count);
    is_asked |= as_tensor(inputs[i])->requires_grad;
  }
  return is_asked;
}

bool is_outdated(const Tensor* x) {
  if (x->is_blind && !x->node) return false;  // a constant
  PyObject* node = as_tensor(x->base)->node;
  return node && (!x->node || as_node(x->node)->sequence < as_node(node)->sequence);
}

void refresh(Tensor* x) {
  PyObject* done = PyObject_CallOneArg(hook(Hook::refresh), as_object(x));
  if (!done) throw PythonError{};
  Py_DECREF(done);
}

void link_view(Tensor* out, PyObject* x) {
  Tensor* source = as_tensor(x);
  if (!has_gradients(out->dtype) || source->buffer != out->buffer) return;
  Tensor* owner = source->base ? as_tensor(source->base) : source;
  out->is_blind = !grad_enabled || source->is_blind || out->dtype != owner->dtype;
  Py_XSETREF(out->base, Py_NewRef(source->base ? source->base : x));
}

bool record(Tensor* out, Function* function, PyObject* const* inputs, int count, PyObject* params) {
  Node* node = nullptr;
  try {
    node = make_node(function, params);
    uint64_t bits = bits_to_save(function, inputs, count);
    make_room(node, count, __builtin_popcountll(bits));
    node->saved_bits = bits;
    for (int i = 0; i < count; ++i) {
      connect(node, inputs[i]);
      if (i < SAVES_OUTPUT && bits >> i & 1) save(node, inputs[i], NO_OUTPUT);
    }
    if (bits >> SAVES_OUTPUT & 1) save(node, as_object(out), 0);
  } catch (const PythonError&) {
    Py_XDECREF(node);
    return false;
  }
  PyObject_GC_Track(node);
  attach(out, node, 0);
  Py_DECREF(node);
  return true;
}

bool record_call(std::span<PyObject* const> outs, Function* function,
                 std::span<PyObject* const> inputs, PyObject* params,
                 std::span<PyObject* const> kept) {
  if (outs.size() >= NO_OUTPUT) fail_too_many_results(static_cast<int64_t>(outs.size()));
  Node* node = nullptr;
  try {
    node = make_node(function, params);
    make_room(node, static_cast<int>(inputs.size()), static_cast<int>(kept.size()));
    node->outputs = static_cast<uint8_t>(outs.size());
    for (PyObject* input : inputs) connect(node, input);
    for (PyObject* value : kept) {
      size_t own = 0;
      while (own < outs.size() && outs[own] != value) ++own;
      save(node, value, own < outs.size() ? static_cast<uint8_t>(own) : NO_OUTPUT);
    }
  } catch (const PythonError&) {
    Py_XDECREF(node);
    return false;
  }
  PyObject_GC_Track(node);
  for (size_t i = 0; i < outs.size(); ++i)
    if (is_tensor(outs[i])) attach(as_tensor(outs[i]), node, static_cast<uint8_t>(i));
  Py_DECREF(node);
  return true;
}

PyObject* unpack(Node* node, const Saved& saved, bool attaches) {
  if (!saved.buffer) return Py_NewRef(saved.producer ? saved.producer : Py_None);
  if (saved.producer && is_tensor(saved.producer)) return Py_NewRef(saved.producer);
  Layout layout = Layout::of({saved.dims.data(), saved.ndim},
                             {saved.dims.data() + saved.ndim, saved.ndim}, saved.offset);
  Tensor* tensor = make_over(retain(saved.buffer), saved.dtype, layout);
  if (!attaches) return as_object(tensor);
  bool is_own = saved.own_output != NO_OUTPUT;
  PyObject* producer = is_own ? reinterpret_cast<PyObject*>(node) : saved.producer;
  tensor->node = Py_XNewRef(producer);
  tensor->output = is_own ? saved.own_output : saved.output;
  tensor->requires_grad = producer != nullptr;
  return as_object(tensor);
}

PyObject* unpack_strictly(Node* node, const Saved& saved, bool attaches) {
  if (saved.buffer && saved.buffer->version != saved.version) {
    auto* self = reinterpret_cast<PyObject*>(node);
    long place = &saved - node->saved;
    PyObject* error = PyObject_CallFunction(hook(Hook::overwritten), "Ol", self, place);
    if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
    Py_XDECREF(error);
    throw PythonError{};
  }
  return unpack(node, saved, attaches);
}

Visit::~Visit() {
  if (--node_->visitors == 0 && node_->is_used) free_contents(node_);
}

bool init_node_type(PyObject* module) {
  PyType_Slot slots[8] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_doc, const_cast<char*>("One recorded operation.")},
  };
  int used = 3;
  add_node_slots(slots, &used);
  slots[used] = {0, nullptr};
  PyType_Spec spec = {"tessella.Node", sizeof(Node), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return node_type &&
         PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(node_type)) == 0;
}

}  // namespace tessella
