// Reading rules, and calling them.
#include "rules.h"

#include "arguments.h"
#include "collection.h"
#include "guard.h"

namespace tessella {

namespace {

constexpr size_t MOST_ARGUMENTS = 16;

bool read_rule(PyObject* entry, Rule* out) {
  out->callable = nullptr;
  out->saves = 0;
  out->is_listed = false;
  if (entry == Py_None) return true;
  PyObject *callable, *asked;
  if (!PyArg_ParseTuple(entry, "OO!", &callable, &PyTuple_Type, &asked)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(asked); ++i) {
    PyObject* item = PyTuple_GET_ITEM(asked, i);
    Argument argument{Argument::Source::param, 0, nullptr};
    if (PyUnicode_Check(item)) {
      argument.name = Py_NewRef(item);
    } else {
      long code = PyLong_AsLong(item);
      if (code == -1 && PyErr_Occurred()) return false;
      argument.source = static_cast<Argument::Source>(code >> 8);
      argument.index = static_cast<uint8_t>(code & 255);
    }
    if (argument.source == Argument::Source::input) out->saves |= uint64_t{1} << argument.index;
    if (argument.source == Argument::Source::output) out->saves |= uint64_t{1} << SAVES_OUTPUT;
    out->is_listed |= argument.source == Argument::Source::shapes;
    out->arguments.push_back(argument);
  }
  if (out->arguments.size() > MOST_ARGUMENTS) {
    PyErr_SetString(PyExc_ValueError, "a rule asks for too many arguments");
    return false;
  }
  out->callable = Py_NewRef(callable);
  return true;
}

// Where a saved input, or the output, stands among what the node has saved.
const Saved& saved_at(const Node* node, int bit) {
  uint64_t before = node->saved_bits & ((uint64_t{1} << bit) - 1);
  return node->saved[__builtin_popcountll(before)];
}

PyObject* shape_of(const Edge& edge) { return tuple_of(Shape{edge.shape.data(), edge.ndim}); }

PyObject* shapes_of(const Node* node) {
  PyObject* tuple = PyTuple_New(node->inputs);
  Unseen unseen(tuple);
  for (int i = 0; tuple && i < node->inputs; ++i) {
    PyObject* shape = shape_of(node->edges[i]);
    if (!shape) return Py_DECREF(tuple), nullptr;
    PyTuple_SET_ITEM(tuple, i, shape);
  }
  unseen.show();
  return tuple;
}

PyObject* param_of(const Node* node, PyObject* name) {
  PyObject* value = node->params ? PyDict_GetItemWithError(node->params, name) : nullptr;
  if (!value && !PyErr_Occurred())
    PyErr_Format(PyExc_KeyError, "%U was recorded without its parameter %U",
                 as_function(node->function)->name, name);
  return Py_XNewRef(value);
}

PyObject* find(Node* node, const Argument& argument, PyObject* g, bool attaches) {
  using Source = Argument::Source;
  switch (argument.source) {
    case Source::gradient:
      return Py_NewRef(g);
    case Source::output:
      return unpack_strictly(node, saved_at(node, SAVES_OUTPUT), attaches);
    case Source::input:
      return unpack_strictly(node, saved_at(node, argument.index), attaches);
    case Source::shape:
      return shape_of(node->edges[argument.index]);
    case Source::dtype:
      return Py_NewRef(dtype_object(node->edges[argument.index].dtype));
    case Source::shapes:
      return shapes_of(node);
    case Source::param:
      return param_of(node, argument.name);
  }
  return nullptr;
}

}  // namespace

std::vector<Rule>* read_rules(PyObject* source) {
  if (!PyTuple_Check(source) || PyTuple_GET_SIZE(source) == 0) {
    PyErr_SetString(PyExc_TypeError, "rules are a tuple, and not an empty one");
    return nullptr;
  }
  auto* rules = new std::vector<Rule>(static_cast<size_t>(PyTuple_GET_SIZE(source)));
  for (size_t i = 0; i < rules->size(); ++i)
    if (!read_rule(PyTuple_GET_ITEM(source, static_cast<Py_ssize_t>(i)), &(*rules)[i])) {
      forget_rules(*rules);
      delete rules;
      return nullptr;
    }
  return rules;
}

void forget_rules(std::vector<Rule>& rules) {
  for (Rule& rule : rules) {
    for (Argument& argument : rule.arguments) Py_XDECREF(argument.name);
    Py_CLEAR(rule.callable);
  }
}

PyObject* call_rule(Node* node, const Rule& rule, PyObject* g, bool attaches) {
  PyObject* values[MOST_ARGUMENTS] = {};
  size_t count = 0;
  PyObject* out = nullptr;
  try {
    for (const Argument& argument : rule.arguments) {
      PyObject* value = find(node, argument, g, attaches);
      if (!value) throw PythonError{};
      values[count++] = value;
    }
    out = PyObject_Vectorcall(rule.callable, values, count, nullptr);
  } catch (...) {
    for (size_t i = 0; i < count; ++i) Py_DECREF(values[i]);
    throw;
  }
  for (size_t i = 0; i < count; ++i) Py_DECREF(values[i]);
  if (!out) throw PythonError{};
  return out;
}

}  // namespace tessella
