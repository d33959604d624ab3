// Finding the user's frame. See site.h.
#include "site.h"

#include <string.h>

#include "collection.h"

namespace tessella {

namespace {

const char* package_folder = nullptr;  // of a string that is kept for ever
size_t package_length = 0;

bool is_of_package(PyCodeObject* code) {
  // Most file names are ASCII, whose characters can be read where they lie.
  PyObject* name = code->co_filename;
  if (!PyUnicode_IS_COMPACT_ASCII(name)) return false;
  size_t length = static_cast<size_t>(PyUnicode_GET_LENGTH(name));
  return length > package_length && !memcmp(PyUnicode_DATA(name), package_folder, package_length);
}

}  // namespace

Site current_site() {
  NoCollection guard;  // Python makes its frames objects when they are asked for
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (!package_folder || !is_of_package(code)) {
      Site site{code, PyFrame_GetLasti(frame)};
      Py_DECREF(frame);
      return site;
    }
    Py_DECREF(code);
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  return {nullptr, 0};
}

std::string to_text(const Site& site) {
  if (!site.code) return "";
  const char* path = PyUnicode_AsUTF8(site.code->co_filename);
  if (!path) return PyErr_Clear(), "";
  const char* slash = strrchr(path, '/');
  int line = PyCode_Addr2Line(site.code, site.instruction);
  return std::string(slash ? slash + 1 : path) + ":" + std::to_string(line);
}

void set_package_folder(PyObject* folder) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(folder, &length);
  if (!text) return PyErr_Clear();
  Py_INCREF(folder);
  package_folder = text;
  package_length = static_cast<size_t>(length);
}

}  // namespace tessella
