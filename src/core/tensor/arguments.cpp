// Arguments of calls on the fast path.
#include "arguments.h"

namespace tessella {

namespace {

struct Keyword {
  const char* text;
  Param param;
};
constexpr Keyword KEYWORDS[] = {
    {"axis", Param::axis},        {"dim", Param::axis},    {"keepdims", Param::keepdims},
    {"keepdim", Param::keepdims}, {"dtype", Param::dtype}, {"shape", Param::shape},
};
constexpr const char* NAMES[] = {"axis", "keepdims", "dtype", "shape", "axes",
                                 "a",    "b",        "key",   "copy"};
static_assert(sizeof NAMES / sizeof NAMES[0] == static_cast<int>(Param::count));
PyObject* names[static_cast<int>(Param::count)];

bool parse_items(PyObject* const* items, Py_ssize_t count, Ints* out) {
  if (count > MAX_NDIM) return false;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!parse_int(items[i], &out->values[i])) return false;
  out->count = static_cast<int>(count);
  return true;
}

Param param_of(PyObject* keyword) {
  for (const Keyword& known : KEYWORDS)
    if (PyUnicode_CompareWithASCIIString(keyword, known.text) == 0) return known.param;
  return Param::count;
}

}  // namespace

PyObject* name_of(Param param) {
  PyObject*& name = names[static_cast<int>(param)];
  if (!name) name = PyUnicode_InternFromString(NAMES[static_cast<int>(param)]);
  return name;
}

bool is_own_keyword(PyObject* keyword) {
  for (const char* name : NAMES)
    if (PyUnicode_CompareWithASCIIString(keyword, name) == 0) return true;
  return false;
}

bool parse_int(PyObject* value, int64_t* out) {
  if (!PyLong_CheckExact(value) && (!PyLong_Check(value) || PyBool_Check(value))) return false;
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0;
}

bool parse_ints(PyObject* value, Ints* out) {
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value))
    return parse_items(PySequence_Fast_ITEMS(value), PySequence_Fast_GET_SIZE(value), out);
  return parse_items(&value, 1, out);
}

bool parse_ints(PyObject* const* args, Py_ssize_t count, Ints* out) {
  if (count == 1) return parse_ints(args[0], out);
  return count > 1 && parse_items(args, count, out);
}

bool parse_axis(PyObject* value, int ndim, int64_t* out) {
  if (!parse_int(value, out) || *out < -ndim || *out >= ndim) return false;
  *out += *out < 0 ? ndim : 0;
  return true;
}

bool bind_params(PyObject* const* args, Py_ssize_t count, PyObject* keywords, const Param* params,
                 int total, int positional, PyObject** values) {
  if (count > positional) return false;
  for (Py_ssize_t i = 0; i < count; ++i) values[i] = args[i];
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  uint32_t given = (1u << count) - 1;
  for (Py_ssize_t i = 0; i < named; ++i) {
    Param param = param_of(PyTuple_GET_ITEM(keywords, i));
    int at = 0;
    while (at < total && params[at] != param) ++at;
    if (at == total || given >> at & 1) return false;
    given |= 1u << at;
    values[at] = args[count + i];
  }
  return true;
}

PyObject* tuple_of(Shape numbers) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(numbers.size()));
  for (size_t i = 0; tuple && i < numbers.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(numbers[i]);
    if (!number)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), number);
  }
  return tuple;
}

bool add_to(PyObject* dict, Param name, PyObject* value) {
  PyObject* key = name_of(name);
  bool is_added = key && value && PyDict_SetItem(dict, key, value) == 0;
  Py_XDECREF(value);
  return is_added;
}

PyObject* dict_of(Param name, PyObject* value) {
  PyObject* dict = PyDict_New();
  if (!dict) {
    Py_XDECREF(value);
    return nullptr;
  }
  if (!add_to(dict, name, value)) Py_CLEAR(dict);
  return dict;
}

}  // namespace tessella
