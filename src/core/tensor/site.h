// Where in the user's Python code something happened: a code object and an instruction. The line is
// looked up when an error needs it.
#pragma once

#include <Python.h>

#include <string>

namespace tessella {

struct Site {
  PyCodeObject* code;  // owned, or nullptr
  int instruction;     // byte offset, as for PyCode_Addr2Line
};

// The innermost frame whose file is not in the package. Never fails, and runs no other code.
Site current_site();

// "train.py:40", or "" if the site is unknown.
std::string to_text(const Site& site);

// Files whose names begin with this belong to the package.
void set_package_folder(PyObject* folder);

}  // namespace tessella
