// Bound methods that cost no allocation. See method.h.
#include "method.h"

#include <structmember.h>

#include "function.h"

namespace tessella {

namespace {

struct Method {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* self;
};

PyTypeObject* method_type;

constexpr int KEPT = 16;  // methods that wait to be used again
Method* kept[KEPT];
int kept_count = 0;

Method* as_method(PyObject* object) { return reinterpret_cast<Method*>(object); }

// Where the caller leaves room for an argument before the first, self goes there.
PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* keywords) {
  Method* method = as_method(object);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (!(flags & PY_VECTORCALL_ARGUMENTS_OFFSET))
    return call_with(method->function, method->self, args, count, keywords);
  PyObject** all = const_cast<PyObject**>(args) - 1;
  PyObject* before = all[0];
  all[0] = method->self;
  // Every function that is bound here has a vectorcall (see bind_to): without Python's checks.
  vectorcallfunc function = PyVectorcall_Function(method->function);
  PyObject* out = function(method->function, all, static_cast<size_t>(count + 1), keywords);
  all[0] = before;
  return out;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(as_method(object)->function);
  Py_VISIT(as_method(object)->self);
  return 0;
}

// Names, document and record are the function's.
PyObject* get_attribute(PyObject* object, PyObject* name) {
  return own_attribute_or(object, name, as_method(object)->function);
}

PyObject* get_doc(PyObject* object, void*) {
  return PyObject_GetAttrString(as_method(object)->function, "__doc__");
}

// The ordinary bound method, which Python's own modules know how to look at.
PyObject* as_python_method(PyObject* object) {
  return PyMethod_New(as_method(object)->function, as_method(object)->self);
}

PyObject* get_signature(PyObject* object, void*) {
  PyObject* inspect = PyImport_ImportModule("inspect");
  PyObject* bound = inspect ? as_python_method(object) : nullptr;
  PyObject* out = bound ? PyObject_CallMethod(inspect, "signature", "O", bound) : nullptr;
  Py_XDECREF(bound);
  Py_XDECREF(inspect);
  return out;
}

PyObject* represent(PyObject* object) {
  PyObject* name = PyObject_GetAttrString(as_method(object)->function, "__name__");
  if (!name) return nullptr;
  PyObject* out = PyUnicode_FromFormat("<method %S of %R>", name, as_method(object)->self);
  Py_DECREF(name);
  return out;
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != method_type) Py_RETURN_NOTIMPLEMENTED;
  const Method *x = as_method(a), *y = as_method(b);
  bool is_same = x->self == y->self && x->function == y->function;
  return PyBool_FromLong(is_same == (op == Py_EQ));
}

Py_hash_t hash(PyObject* object) {
  auto bits = reinterpret_cast<uintptr_t>(as_method(object)->self) ^
              reinterpret_cast<uintptr_t>(as_method(object)->function);
  auto found = static_cast<Py_hash_t>(bits >> 4);
  return found == -1 ? -2 : found;
}

PyObject* reduce(PyObject* object, PyObject*) {
  PyObject* builtins = PyEval_GetBuiltins();
  PyObject* getter = PyDict_GetItemString(builtins, "getattr");
  PyObject* name = PyObject_GetAttrString(as_method(object)->function, "__name__");
  return name ? Py_BuildValue("O(ON)", getter, as_method(object)->self, name) : nullptr;
}

void deallocate(PyObject* object) {
  Method* method = as_method(object);
  PyObject_GC_UnTrack(object);
  PyObject *function = method->function, *self = method->self;
  PyTypeObject* type = Py_TYPE(object);
  if (kept_count < KEPT) {
    kept[kept_count++] = method;
  } else {
    PyObject_GC_Del(object);
    Py_DECREF(type);
  }
  Py_DECREF(function);
  Py_DECREF(self);
}

PyGetSetDef properties[] = {
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Method, vectorcall), READONLY, nullptr},
    {"__func__", T_OBJECT, offsetof(Method, function), READONLY, nullptr},
    {"__self__", T_OBJECT, offsetof(Method, self), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

PyObject* make_method(PyObject* function, PyObject* self) {
  Method* method;
  if (kept_count > 0) {
    method = kept[--kept_count];  // which still holds its type
    _Py_NewReference(reinterpret_cast<PyObject*>(method));
  } else {
    method = PyObject_GC_New(Method, method_type);
    if (!method) return nullptr;
    method->vectorcall = call;
  }
  method->function = Py_NewRef(function);
  method->self = Py_NewRef(self);
  PyObject_GC_Track(method);
  return reinterpret_cast<PyObject*>(method);
}

PyObject* bind_function(PyObject* function, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(function);
  return PyMethod_New(function, object);
}

PyObject* own_attribute_or(PyObject* object, PyObject* name, PyObject* other) {
  PyObject* found = PyObject_GenericGetAttr(object, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(other, name);
}

bool init_method_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessella.Method", sizeof(Method), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  method_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return method_type &&
         PyModule_AddObjectRef(module, "Method", reinterpret_cast<PyObject*>(method_type)) == 0;
}

}  // namespace tessella
