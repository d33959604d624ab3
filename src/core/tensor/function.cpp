// The callable type of operations, and the choice of its fast path.
#include "function.h"

#include <structmember.h>

#include "anomaly.h"
#include "arguments.h"
#include "guard.h"
#include "method.h"
#include "rules.h"

namespace tessella {

PyTypeObject* function_type;
thread_local uint32_t modes = 0;
Counts counts;

namespace {

PyObject* apply;  // records.apply, given at import
Function* slot_functions[static_cast<int>(Slot::count)];

#define SLOT(name) #name,
constexpr const char* SLOT_NAMES[] = {SLOTS(SLOT)};
#undef SLOT

// Parameters by keyword, in our spelling: what no refusal of a record is about.
bool is_plain_call(const Function* self, Py_ssize_t count, PyObject* keywords) {
  if (count > self->arity) return false;
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    if (!is_own_keyword(PyTuple_GET_ITEM(keywords, i))) return false;
  return true;
}

PyObject* call_fast(Function* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (self->is_strict && !is_plain_call(self, count, keywords)) return nullptr;
  switch (self->kind) {
    case FastKind::elementwise:
      if (keywords || count != self->arity) return nullptr;
      return fast_elementwise(self, args, static_cast<int>(count));
    case FastKind::reduce:
      return fast_reduce(self, args, count, keywords);
    case FastKind::view:
      return fast_view(self, args, count, keywords);
    case FastKind::matmul:
      if (keywords || count != 2) return nullptr;
      return fast_matmul(self, args[0], args[1]);
    case FastKind::linear:
      return keywords ? nullptr : fast_linear(self, args, count);
    case FastKind::cast:
      return fast_cast(self, args, count, keywords);
    case FastKind::rows:
      return fast_rows(self, args, count, keywords);
    case FastKind::concat:
      return fast_concat(self, args, count, keywords);
    case FastKind::fused:
      return fast_fused(self, args, count, keywords);
    case FastKind::update:
      return fast_update(self, args, count, keywords);
    case FastKind::none:
      break;
  }
  return nullptr;
}

bool is_out_alone(PyObject* keywords) {
  return keywords && PyTuple_GET_SIZE(keywords) == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0;
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* keywords) {
  Function* self = as_function(object);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (!modes) {
    PyObject* out = is_out_alone(keywords) ? fast_into(self, args, count, args[count])
                                           : call_fast(self, args, count, keywords);
    if (out) return ++counts.fast, inspected(self, out, args, count);
    if (PyErr_Occurred()) return nullptr;
  }
  return call_slow(self, args, count, keywords);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_function(self)->record);
  if (as_function(self)->rules)
    for (const Rule& rule : *as_function(self)->rules) Py_VISIT(rule.callable);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_function(self)->record);
  std::vector<Rule>* rules = as_function(self)->rules;
  as_function(self)->rules = nullptr;
  if (rules) forget_rules(*rules);
  delete rules;
  return 0;
}

void deallocate(PyObject* self) {
  Function* function = as_function(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_XDECREF(function->name);
  Py_XDECREF(function->doc);
  Py_XDECREF(function->signature);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<operation %U>", as_function(self)->name);
}

// Pickled and copied by name.
PyObject* reduce(PyObject* self, PyObject*) { return Py_NewRef(as_function(self)->name); }

// into(*args): the operation, written into the first of them; None: declined, nothing was done.
PyObject* into(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (modes || count == 0) Py_RETURN_NONE;
  PyObject* out = fast_into(as_function(self), args, count, args[0]);
  if (out) return ++counts.fast, inspected(as_function(self), out, args, count);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"into", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(into)), METH_FASTCALL,
     "into(*args)\n\nThe fast path, written into the first of args; None where it declines."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr},
    {"__name__", T_OBJECT, offsetof(Function, name), READONLY, nullptr},
    {"__qualname__", T_OBJECT, offsetof(Function, name), READONLY, nullptr},
    {"__doc__", T_OBJECT, offsetof(Function, doc), READONLY, nullptr},
    {"__text_signature__", T_OBJECT, offsetof(Function, signature), READONLY, nullptr},
    {"record", T_OBJECT, offsetof(Function, record), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

bool kind_from_name(const char* name, FastKind* out) {
#define FAST_KIND(kind) \
  if (!strcmp(name, #kind)) return *out = FastKind::kind, true;
  FAST_KINDS(FAST_KIND)
#undef FAST_KIND
  return false;
}

// Function(record, name, doc, signature, kind, opcode, arity, is_differentiable, is_strict, rules)
PyObject* make_instance(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *record, *name, *doc, *signature, *rules;
  const char* kind_name;
  int opcode, arity, is_differentiable, is_strict;
  if (!PyArg_ParseTuple(args, "OUUUsiippO", &record, &name, &doc, &signature, &kind_name, &opcode,
                        &arity, &is_differentiable, &is_strict, &rules))
    return nullptr;
  FastKind kind;
  if (!kind_from_name(kind_name, &kind)) {
    PyErr_Format(PyExc_ValueError, "unknown kind of fast path: %s", kind_name);
    return nullptr;
  }
  std::vector<Rule>* read = nullptr;
  if (rules != Py_None && !(read = read_rules(rules))) return nullptr;
  Function* self = PyObject_GC_New(Function, type);
  if (!self) return delete read, nullptr;
  self->rules = read;
  self->vectorcall = call;
  self->record = Py_NewRef(record);
  self->name = Py_NewRef(name);
  self->doc = Py_NewRef(doc);
  self->signature = Py_NewRef(signature);
  self->kind = kind;
  self->opcode = static_cast<uint8_t>(opcode);
  self->arity = static_cast<uint8_t>(arity);
  self->is_differentiable = is_differentiable;
  self->is_strict = is_strict;
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject*>(self);
}

}  // namespace

PyObject* call_with(PyObject* callable, PyObject* first, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords) {
  Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  PyObject* small[8];
  PyObject** all = total + 1 <= 8 ? small
                                  : static_cast<PyObject**>(PyMem_Malloc(
                                        sizeof(PyObject*) * static_cast<size_t>(total + 1)));
  if (!all) return PyErr_NoMemory();
  all[0] = first;
  for (Py_ssize_t i = 0; i < total; ++i) all[i + 1] = args[i];
  PyObject* out = PyObject_Vectorcall(callable, all, static_cast<size_t>(count + 1), keywords);
  if (all != small) PyMem_Free(all);
  return out;
}

PyObject* fast_into(Function* function, PyObject* const* args, Py_ssize_t count, PyObject* target) {
  if (function->kind == FastKind::elementwise)
    return fast_elementwise_into(function, args, static_cast<int>(count), target);
  if (function->kind == FastKind::matmul)
    return fast_matmul_into(args, static_cast<int>(count), target);
  return nullptr;
}

PyObject* call_slow(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords) {
  ++counts.declined;
  return call_with(apply, function->record, args, count, keywords);
}

bool set_slot(const char* name, PyObject* function) {
  if (Py_TYPE(function) != function_type) return false;
  for (int i = 0; i < static_cast<int>(Slot::count); ++i)
    if (!strcmp(name, SLOT_NAMES[i])) {
      Py_INCREF(function);
      slot_functions[i] = as_function(function);
      return true;
    }
  return false;
}

Function* function_of(Slot slot) { return slot_functions[static_cast<int>(slot)]; }

void set_apply(PyObject* callable) { Py_XSETREF(apply, Py_NewRef(callable)); }

bool init_function_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_new, reinterpret_cast<void*>(make_instance)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void*>(bind_function)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessella.Function", sizeof(Function), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR,
                      slots};
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return function_type &&
         PyModule_AddObjectRef(module, "Function", reinterpret_cast<PyObject*>(function_type)) == 0;
}

}  // namespace tessella
