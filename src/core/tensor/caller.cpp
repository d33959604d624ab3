// What is plain is decided by types alone, exact ones but for tensors; nothing here raises because
// of an argument.
#include "caller.h"

#include <structmember.h>

#include "arguments.h"
#include "function.h"
#include "guard.h"
#include "method.h"

namespace tessella {

PyTypeObject* caller_type;

namespace {

// The annotations whose arguments can be plain, as composites.py spells them.
enum class Kind : uint8_t {
  none,
  any,
  tensor,
  tensors,
  operand,
  number,
  boolean,
  integer,
  integers,
  real,
  dtype,
  word
};
struct Spelling {
  const char* annotation;
  Kind kind;
};
constexpr Spelling SPELLINGS[] = {
    {"Any", Kind::any},         {"Tensor", Kind::tensor},  {"Sequence[Tensor]", Kind::tensors},
    {"Operand", Kind::operand}, {"Number", Kind::number},  {"Element", Kind::number},
    {"bool", Kind::boolean},    {"int", Kind::integer},    {"Offset", Kind::integer},
    {"Ints", Kind::integers},   {"Shape", Kind::integers}, {"float", Kind::real},
    {"DTypeLike", Kind::dtype},
};

struct Parameter {
  PyObject* name;
  PyObject* words;  // a tuple, for a word
  Kind kind;
  bool may_be_none, is_required;
};

constexpr int MOST = 16;  // parameters

struct Caller {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* slow;     // call(*args, **keywords)
  PyObject* body;     // takes arguments that have been checked
  PyObject* explain;  // explain(error, args, keywords): the error of the composite, or None
  PyObject* weak_references;
  int count;  // parameters
  int positional;
  int variadic;  // the parameter whose integers may be given as separate arguments, or -1
  Parameter parameters[MOST];
};

Caller* as_caller(PyObject* object) { return reinterpret_cast<Caller*>(object); }

bool is_near(PyObject* value) {
  constexpr int64_t NEAR = int64_t{1} << 62;  // as in arguments.py
  int64_t number;
  return PyLong_CheckExact(value) && parse_int(value, &number) && number >= -NEAR && number <= NEAR;
}

bool is_number(PyObject* value) {
  return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
         PyComplex_CheckExact(value);
}

bool are_tensors(PyObject* value) {
  if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
    if (!is_tensor(PySequence_Fast_GET_ITEM(value, i))) return false;
  return true;
}

// A tuple of integers, or one or a list of them as a tuple; nullptr: not plain.
PyObject* integers_of(PyObject* value) {
  if (is_near(value)) return PyTuple_Pack(1, value);
  if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
    if (!is_near(PySequence_Fast_GET_ITEM(value, i))) return nullptr;
  return PySequence_Tuple(value);
}

bool is_among(PyObject* words, PyObject* value) {
  if (!PyUnicode_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); ++i)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(words, i), value) == 0) return true;
  return false;
}

bool is_plain(const Parameter& parameter, PyObject* value) {
  switch (parameter.kind) {
    case Kind::any:
      return true;
    case Kind::tensor:
      return is_tensor(value);
    case Kind::tensors:
      return are_tensors(value);
    case Kind::operand:
      return is_tensor(value) || is_number(value);
    case Kind::number:
      return is_number(value);
    case Kind::boolean:
      return PyBool_Check(value);
    case Kind::integer:
      return is_near(value);
    case Kind::real:
      return PyFloat_CheckExact(value);
    case Kind::dtype:
      return Py_TYPE(value) == Py_TYPE(dtype_object(DType::float32));
    case Kind::word:
      return is_among(parameter.words, value);
    default:
      return false;
  }
}

// A new reference to what the body gets; nullptr: not plain.
PyObject* plain(const Parameter& parameter, PyObject* value) {
  if (value == Py_None && parameter.may_be_none) return Py_NewRef(value);
  if (parameter.kind == Kind::integers) return integers_of(value);
  return is_plain(parameter, value) ? Py_NewRef(value) : nullptr;
}

// The arguments of one call of the body, from `values[1]` on: the interpreter may use the place
// before them.
struct Plain {
  PyObject* values[MOST + 1];
  int count = 0;
  uint32_t given = 0;  // bit i: parameter i

  ~Plain() {
    for (int i = 1; i <= count; ++i) Py_DECREF(values[i]);
  }
  bool add(const Caller* caller, int parameter, PyObject* value) {
    if (given >> parameter & 1) return false;
    given |= 1u << parameter;
    PyObject* found = plain(caller->parameters[parameter], value);
    if (found) values[++count] = found;
    return found != nullptr;
  }
};

// -1: there is none of that name. What has to come by place has an empty one.
int find_parameter(const Caller* caller, PyObject* keyword) {
  if (PyUnicode_GET_LENGTH(keyword) == 0) return -1;
  for (int i = 0; i < caller->count; ++i)
    if (caller->parameters[i].name == keyword) return i;
  for (int i = 0; i < caller->count; ++i)
    if (PyUnicode_Compare(caller->parameters[i].name, keyword) == 0) return i;
  return -1;
}

// x.reshape(2, 3): the last positional parameter takes all that is left.
bool add_rest(const Caller* caller, PyObject* const* args, Py_ssize_t count, Plain& out) {
  int place = caller->variadic;
  if (place < 0 || place != caller->positional - 1) return false;
  PyObject* rest = PyTuple_New(count - place);
  for (Py_ssize_t i = place; rest && i < count; ++i)
    PyTuple_SET_ITEM(rest, i - place, Py_NewRef(args[i]));
  bool added = rest && out.add(caller, place, rest);
  Py_XDECREF(rest);
  return added;
}

bool collect(const Caller* caller, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
             Plain& out) {
  bool has_rest = count > caller->positional;
  Py_ssize_t first = has_rest ? caller->positional - 1 : count;
  for (int i = 0; i < first; ++i)
    if (!out.add(caller, i, args[i])) return false;
  if (has_rest && !add_rest(caller, args, count, out)) return false;
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    int parameter = find_parameter(caller, PyTuple_GET_ITEM(keywords, i));
    if (parameter < 0 || !out.add(caller, parameter, args[count + i])) return false;
  }
  for (int i = 0; i < caller->count; ++i)
    if (caller->parameters[i].is_required && !(out.given >> i & 1)) return false;
  return true;
}

// The body failed: its error becomes the composite's, where it is one of ours.
void relocate(const Caller* caller, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  PyObject* given = PyTuple_New(count);
  PyObject* named = PyDict_New();
  for (Py_ssize_t i = 0; given && i < count; ++i) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
  bool is_ready = given && named;
  for (Py_ssize_t i = 0; is_ready && keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    is_ready = PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, i), args[count + i]) == 0;
  PyObject* found =
      is_ready ? PyObject_CallFunctionObjArgs(caller->explain, error, given, named, nullptr)
               : nullptr;
  if (found == error) PyException_SetCause(error, nullptr);  // `from None`: what it was before
  if (found) PyErr_Restore(type, error, traceback);
  Py_XDECREF(found);
  Py_XDECREF(given);
  Py_XDECREF(named);
  if (found) return;
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* keywords) {
  Caller* self = as_caller(object);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  Plain arguments;
  if (modes || !collect(self, args, count, keywords, arguments)) {
    if (PyErr_Occurred()) return nullptr;
    return PyObject_Vectorcall(self->slow, args, flags, keywords);
  }
  size_t named = keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0;
  size_t by_place = static_cast<size_t>(arguments.count) - named;
  PyObject* out = PyObject_Vectorcall(self->body, arguments.values + 1,
                                      by_place | PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  if (!out) relocate(self, args, count, keywords);
  return out;
}

// Names, document and record are those of the function in Python.
PyObject* get_attribute(PyObject* object, PyObject* name) {
  return own_attribute_or(object, name, as_caller(object)->slow);
}

// Those of the type would be found first.
PyObject* get_own(PyObject* object, void* name) {
  return PyObject_GetAttrString(as_caller(object)->slow, static_cast<const char*>(name));
}

PyObject* represent(PyObject* object) {
  PyObject* name = PyObject_GetAttrString(as_caller(object)->slow, "__qualname__");
  PyObject* out = name ? PyUnicode_FromFormat("<composite %U>", name) : nullptr;
  Py_XDECREF(name);
  return out;
}

PyObject* reduce(PyObject* object, PyObject*) {
  return PyObject_GetAttrString(as_caller(object)->slow, "__qualname__");
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(as_caller(object)->slow);
  Py_VISIT(as_caller(object)->body);
  Py_VISIT(as_caller(object)->explain);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(as_caller(object)->slow);
  Py_CLEAR(as_caller(object)->body);
  Py_CLEAR(as_caller(object)->explain);
  return 0;
}

void deallocate(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  PyObject_ClearWeakRefs(object);
  clear(object);
  for (int i = 0; i < as_caller(object)->count; ++i) {
    Py_DECREF(as_caller(object)->parameters[i].name);
    Py_XDECREF(as_caller(object)->parameters[i].words);
  }
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

Kind kind_of(const char* annotation, size_t length) {
  for (const Spelling& each : SPELLINGS)
    if (strlen(each.annotation) == length && !strncmp(each.annotation, annotation, length))
      return each.kind;
  return Kind::none;
}

// The words of Literal['mean', 'sum'], as a tuple; an annotation without one has none.
PyObject* words_of(const char* annotation) {
  PyObject* list = PyList_New(0);
  for (const char* begin = strchr(annotation, '\''); list && begin;) {
    const char* end = strchr(begin + 1, '\'');
    if (!end) break;
    PyObject* word = PyUnicode_FromStringAndSize(begin + 1, end - begin - 1);
    if (!word || PyList_Append(list, word) != 0) Py_CLEAR(list);
    Py_XDECREF(word);
    begin = strchr(end + 1, '\'');
  }
  PyObject* words = list ? PyList_AsTuple(list) : nullptr;
  Py_XDECREF(list);
  return words;
}

// (name, annotation, is_required)
bool read_parameter(PyObject* item, Parameter* out) {
  const char* annotation;
  int is_required;
  if (!PyArg_ParseTuple(item, "Usp", &out->name, &annotation, &is_required)) return false;
  constexpr char OPTIONAL[] = " | None";
  size_t length = strlen(annotation), suffix = sizeof OPTIONAL - 1;
  out->may_be_none = length > suffix && !strcmp(annotation + length - suffix, OPTIONAL);
  out->kind = kind_of(annotation, length - (out->may_be_none ? suffix : 0));
  out->is_required = is_required;
  out->words = nullptr;
  if (!strncmp(annotation, "Literal[", 8)) {
    out->kind = Kind::word;
    if (!(out->words = words_of(annotation))) return false;
  }
  Py_INCREF(out->name);
  PyUnicode_InternInPlace(&out->name);
  return true;
}

// Caller(slow, body, explain, positional, variadic, parameters)
PyObject* make_instance(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *slow, *body, *explain, *parameters;
  int positional, variadic;
  if (!PyArg_ParseTuple(args, "OOOiiO!", &slow, &body, &explain, &positional, &variadic,
                        &PyTuple_Type, &parameters))
    return nullptr;
  Py_ssize_t count = PyTuple_GET_SIZE(parameters);
  if (count > MOST || positional < 0 || positional > count || variadic >= count) {
    PyErr_Format(PyExc_ValueError, "a composite has at most %d parameters, and places among them",
                 MOST);
    return nullptr;
  }
  Caller* self = PyObject_GC_New(Caller, type);
  if (!self) return nullptr;
  self->vectorcall = call;
  self->slow = Py_NewRef(slow);
  self->body = Py_NewRef(body);
  self->explain = Py_NewRef(explain);
  self->weak_references = nullptr;
  self->positional = positional;
  self->variadic = variadic;
  self->count = 0;
  PyObject_GC_Track(self);
  for (Py_ssize_t i = 0; i < count; ++i, ++self->count)
    if (!read_parameter(PyTuple_GET_ITEM(parameters, i), &self->parameters[i])) {
      Py_DECREF(self);
      return nullptr;
    }
  return reinterpret_cast<PyObject*>(self);
}

PyGetSetDef properties[] = {
    {"__doc__", get_own, nullptr, nullptr, const_cast<char*>("__doc__")},
    {"__module__", get_own, nullptr, nullptr, const_cast<char*>("__module__")},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Caller, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

bool init_caller_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_new, reinterpret_cast<void*>(make_instance)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void*>(bind_function)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_repr, reinterpret_cast<void*>(represent)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {0, nullptr},
  };
  PyType_Spec spec = {"tessella.Caller", sizeof(Caller), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR,
                      slots};
  caller_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return caller_type &&
         PyModule_AddObjectRef(module, "Caller", reinterpret_cast<PyObject*>(caller_type)) == 0;
}

}  // namespace tessella
