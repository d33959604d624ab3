// Recording operations, and freeing what was recorded.
#include "node.h"

#include <structmember.h>

#include "function.h"
#include "guard.h"

namespace tessella {

PyTypeObject* node_type;

namespace {

thread_local bool grad_enabled __attribute__((tls_model("initial-exec"))) = true;

// Nodes whose reference count fell to zero while another was being freed: a chain of a million
// nodes is taken apart in a loop, not by a million nested calls.
thread_local Node* pending_nodes __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool is_freeing __attribute__((tls_model("initial-exec"))) = false;

void free_contents(Node* node) {
  for (int i = 0; i < node->inputs; ++i) {
    Py_CLEAR(node->edges[i].target);
    node->edges[i].shape.release();
  }
  for (int i = 0; i <= node->inputs; ++i) {
    Saved& saved = node->saved[i];
    if (saved.buffer) release(saved.buffer);
    saved.buffer = nullptr;
    saved.dims.release();
    Py_CLEAR(saved.producer);
  }
  if (node->edges != node->inline_edges) PyMem_Free(node->edges);
  if (node->saved != node->inline_saved) PyMem_Free(node->saved);
  node->inputs = -1;
  Py_CLEAR(node->function);
  Py_CLEAR(node->params);
  Py_CLEAR(node->code);
}

void deallocate(PyObject* self) {
  Node* node = reinterpret_cast<Node*>(self);
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
    PyObject_GC_Del(next);
    Py_DECREF(type);
  }
  is_freeing = false;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Node* node = reinterpret_cast<Node*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(node->function);
  Py_VISIT(node->params);
  for (int i = 0; i < node->inputs; ++i) Py_VISIT(node->edges[i].target);
  for (int i = 0; i <= node->inputs; ++i) Py_VISIT(node->saved[i].producer);
  return 0;
}

void save(Saved& saved, PyObject* value, bool is_output) {
  saved.is_output = is_output;
  if (!is_tensor(value)) {
    saved.producer = Py_NewRef(value);
    return;
  }
  Tensor* x = as_tensor(value);
  saved.buffer = retain(x->buffer);
  saved.offset = x->offset;
  saved.ndim = x->ndim;
  saved.dtype = x->dtype;
  saved.version = x->buffer->version;
  if (!saved.dims.set(x->dims)) throw PythonError{};
  if (!is_output && x->requires_grad) saved.producer = Py_NewRef(x->node ? x->node : value);
}

// A tensor again, attached to who made it.
PyObject* unpack(Node* node, const Saved& saved) {
  if (!saved.buffer) return Py_NewRef(saved.producer ? saved.producer : Py_None);
  Layout layout = Layout::of({saved.dims.data(), saved.ndim},
                             {saved.dims.data() + saved.ndim, saved.ndim}, saved.offset);
  if (saved.producer && is_tensor(saved.producer)) return Py_NewRef(saved.producer);
  Tensor* tensor = make_over(retain(saved.buffer), saved.dtype, layout);
  PyObject* producer = saved.is_output ? reinterpret_cast<PyObject*>(node) : saved.producer;
  tensor->node = Py_XNewRef(producer);
  tensor->requires_grad = producer != nullptr;
  return as_object(tensor);
}

PyObject* get_function(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<Node*>(self)->function);
}
PyObject* get_params(PyObject* self, void*) {
  PyObject* params = reinterpret_cast<Node*>(self)->params;
  return params ? PyDict_Copy(params) : PyDict_New();
}
PyObject* get_inputs(PyObject* self, void*) {
  Node* node = reinterpret_cast<Node*>(self);
  PyObject* tuple = PyTuple_New(node->inputs);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    PyObject* target = node->edges[i].target;
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(target ? target : Py_None));
  }
  return tuple;
}
// One entry for each input and one for the output: a tensor, a Python scalar, or None.
PyObject* get_saved(PyObject* self, void*) {
  Node* node = reinterpret_cast<Node*>(self);
  return guarded([&]() -> PyObject* {
    PyObject* tuple = PyTuple_New(node->inputs + 1);
    if (!tuple) throw PythonError{};
    for (int i = 0; i <= node->inputs; ++i)
      PyTuple_SET_ITEM(tuple, i, unpack(node, node->saved[i]));
    return tuple;
  });
}
PyObject* get_input_shapes(PyObject* self, void*) {
  Node* node = reinterpret_cast<Node*>(self);
  PyObject* tuple = PyTuple_New(node->inputs);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    PyObject* shape = PyTuple_New(node->edges[i].ndim);
    if (!shape) return Py_DECREF(tuple), nullptr;
    for (int axis = 0; axis < node->edges[i].ndim; ++axis)
      PyTuple_SET_ITEM(shape, axis, PyLong_FromLongLong(node->edges[i].shape.data()[axis]));
    PyTuple_SET_ITEM(tuple, i, shape);
  }
  return tuple;
}

// A scalar input has the dtype of the call and no gradient: None.
PyObject* get_input_dtypes(PyObject* self, void*) {
  Node* node = reinterpret_cast<Node*>(self);
  PyObject* tuple = PyTuple_New(node->inputs);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    bool is_wanted = node->edges[i].target != nullptr;
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(is_wanted ? dtype_object(node->edges[i].dtype) : Py_None));
  }
  return tuple;
}

PyObject* get_site(PyObject* self, void*) {
  Node* node = reinterpret_cast<Node*>(self);
  if (!node->code) Py_RETURN_NONE;
  int line = PyCode_Addr2Line(node->code, node->instruction);
  return Py_BuildValue("(Oi)", node->code->co_filename, line);
}

PyGetSetDef properties[] = {
    {"function", get_function, nullptr, "The operation that was recorded.", nullptr},
    {"params", get_params, nullptr, "The parameters it was called with.", nullptr},
    {"inputs", get_inputs, nullptr, "Node or leaf for each input that takes a gradient.", nullptr},
    {"input_shapes", get_input_shapes, nullptr, "Shape of each input.", nullptr},
    {"input_dtypes", get_input_dtypes, nullptr, "dtype of each input that takes a gradient.",
     nullptr},
    {"saved", get_saved, nullptr, "What the rule asked for: each input, then the output.", nullptr},
    {"site", get_site, nullptr, "File and line of the call, outside of this package.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Node, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

Node* make_node(Function* function, int inputs, PyObject* params) {
  Node* node = PyObject_GC_New(Node, node_type);
  if (!node) throw PythonError{};
  node->function = Py_NewRef(reinterpret_cast<PyObject*>(function));
  node->params = Py_XNewRef(params);
  Site site = current_site();
  node->code = site.code;
  node->instruction = site.instruction;
  node->weakrefs = nullptr;
  node->inputs = inputs;
  node->edges = node->inline_edges;
  node->saved = node->inline_saved;
  if (inputs > INLINE_INPUTS) {
    node->edges = static_cast<Edge*>(PyMem_Calloc(static_cast<size_t>(inputs), sizeof(Edge)));
    node->saved = static_cast<Saved*>(PyMem_Calloc(static_cast<size_t>(inputs) + 1, sizeof(Saved)));
    if (!node->edges || !node->saved) {
      PyMem_Free(node->edges);
      PyMem_Free(node->saved);
      node->edges = node->inline_edges;
      node->saved = node->inline_saved;
      node->inputs = -1;
      Py_DECREF(node);
      PyErr_NoMemory();
      throw PythonError{};
    }
  }
  for (int i = 0; i < inputs; ++i) {
    node->edges[i].target = nullptr;
    node->edges[i].shape.clear();
    node->edges[i].ndim = 0;
  }
  for (int i = 0; i <= inputs; ++i) {
    node->saved[i].buffer = nullptr;
    node->saved[i].producer = nullptr;
    node->saved[i].dims.clear();
  }
  return node;
}

}  // namespace

bool is_grad_enabled() { return grad_enabled; }
void set_grad_enabled(bool enabled) { grad_enabled = enabled; }

bool needs_node(PyObject* const* inputs, int count) {
  if (!grad_enabled) return false;
  for (int i = 0; i < count; ++i)
    if (is_tensor(inputs[i]) && as_tensor(inputs[i])->requires_grad) return true;
  return false;
}

bool record(Tensor* out, Function* function, PyObject* const* inputs, int count, PyObject* params) {
  Node* node = nullptr;
  try {
    node = make_node(function, count, params);
    for (int i = 0; i < count; ++i) {
      if (function->saves >> i & 1) save(node->saved[i], inputs[i], false);
      if (!is_tensor(inputs[i])) continue;
      Tensor* x = as_tensor(inputs[i]);
      Edge& edge = node->edges[i];
      if (!edge.shape.set(x->shape(), x->ndim, nullptr, 0)) throw PythonError{};
      edge.ndim = x->ndim;
      edge.dtype = x->dtype;
      if (x->requires_grad) edge.target = Py_NewRef(x->node ? x->node : inputs[i]);
    }
    if (function->saves >> SAVES_OUTPUT & 1) save(node->saved[count], as_object(out), true);
  } catch (const PythonError&) {
    Py_XDECREF(node);
    return false;
  }
  PyObject_GC_Track(node);
  Py_XSETREF(out->node, reinterpret_cast<PyObject*>(node));
  out->requires_grad = true;
  // A result in its operand's memory is a view of it: writes to the view are writes to the base.
  Tensor* first = count > 0 && is_tensor(inputs[0]) ? as_tensor(inputs[0]) : nullptr;
  if (first && first->buffer == out->buffer)
    Py_XSETREF(out->base, Py_NewRef(first->base ? first->base : inputs[0]));
  return true;
}

bool init_node_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>("One recorded operation.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessella.Node", sizeof(Node), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return node_type &&
         PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(node_type)) == 0;
}

}  // namespace tessella
