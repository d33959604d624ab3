// What Python sees of a recorded operation.
#include "node.h"

#include <structmember.h>

#include "collection.h"
#include "function.h"
#include "guard.h"

namespace tessella {

namespace {

PyObject* get_function(PyObject* self, void*) { return Py_NewRef(as_node(self)->function); }
PyObject* get_params(PyObject* self, void*) {
  PyObject* params = as_node(self)->params;
  return params ? PyDict_Copy(params) : PyDict_New();
}
PyObject* get_inputs(PyObject* self, void*) {
  Node* node = as_node(self);
  Visit visit(node);  // to make tuples may run any code
  PyObject* tuple = PyTuple_New(node->inputs);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    PyObject* target = node->edges[i].target;
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(target ? target : Py_None));
  }
  return tuple;
}
PyObject* unpacked(Node* node, int place) {
  return guarded([&] { return unpack(node, node->saved[place], true); });
}
// One entry for each input and one for the output: a tensor, a Python scalar, or None. Of a call
// that says itself what it keeps: that.
PyObject* get_saved(PyObject* self, void*) {
  Node* node = as_node(self);
  return guarded([&]() -> PyObject* {
    Visit visit(node);  // to make tensors may run any code
    uint64_t mask = node->saved_bits;
    bool is_listed = !mask || node->is_used;
    int count = is_listed ? node->saves : node->inputs + 1;
    if (!mask && !node->saves) count = node->inputs + 1;
    PyObject* tuple = PyTuple_New(count);
    if (!tuple) throw PythonError{};
    Unseen unseen(tuple);
    int next = 0;
    for (int i = 0; i < count; ++i) {
      int bit = i == node->inputs ? SAVES_OUTPUT : i;
      bool is_saved = is_listed ? next < node->saves : bit <= SAVES_OUTPUT && mask >> bit & 1;
      PyObject* value = is_saved ? unpacked(node, next++) : Py_NewRef(Py_None);
      if (!value) return Py_DECREF(tuple), nullptr;
      PyTuple_SET_ITEM(tuple, i, value);
    }
    unseen.show();
    return tuple;
  });
}
PyObject* get_input_shapes(PyObject* self, void*) {
  Node* node = as_node(self);
  Visit visit(node);  // to make tuples may run any code
  PyObject* tuple = PyTuple_New(node->inputs);
  Unseen unseen(tuple);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    PyObject* shape = PyTuple_New(node->edges[i].ndim);
    if (!shape) return Py_DECREF(tuple), nullptr;
    for (int axis = 0; axis < node->edges[i].ndim; ++axis)
      PyTuple_SET_ITEM(shape, axis, PyLong_FromLongLong(node->edges[i].shape.data()[axis]));
    PyTuple_SET_ITEM(tuple, i, shape);
  }
  unseen.show();
  return tuple;
}

// A scalar input has the dtype of the call and no gradient: None.
PyObject* get_input_dtypes(PyObject* self, void*) {
  Node* node = as_node(self);
  Visit visit(node);  // to make tuples may run any code
  PyObject* tuple = PyTuple_New(node->inputs);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    bool is_wanted = node->edges[i].target != nullptr;
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(is_wanted ? dtype_object(node->edges[i].dtype) : Py_None));
  }
  return tuple;
}

PyObject* get_site(PyObject* self, void*) {
  Node* node = as_node(self);
  if (!node->code) Py_RETURN_NONE;
  int line = PyCode_Addr2Line(node->code, node->instruction);
  return Py_BuildValue("(Oi)", node->code->co_filename, line);
}

PyObject* get_name(PyObject* self, void*) {
  return Py_NewRef(as_function(as_node(self)->function)->name);
}
PyObject* get_hooks(PyObject* self, void*) {
  PyObject* hooks = as_node(self)->hooks;
  return Py_NewRef(hooks ? hooks : Py_None);
}
PyGetSetDef properties[] = {
    {"name", get_name, nullptr, "The name of the operation.", nullptr},
    {"hooks", get_hooks, nullptr, "Called with the gradients of the results.", nullptr},
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
    {"sequence", T_ULONGLONG, offsetof(Node, sequence), READONLY, "The order of recording."},
    {"outputs", T_UBYTE, offsetof(Node, outputs), READONLY, "How many results it has."},
    {"is_used", T_BOOL, offsetof(Node, is_used), READONLY, "Whether backward has freed it."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Node, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

void add_node_slots(PyType_Slot* slots, int* used) {
  slots[(*used)++] = {Py_tp_getset, properties};
  slots[(*used)++] = {Py_tp_members, members};
}

}  // namespace tessella
