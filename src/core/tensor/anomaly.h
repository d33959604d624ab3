// Watching for results that are not finite. While a thread watches, every operation that it does
// looks at what it gives; who made the number is found out in Python (anomalies.py).
#pragma once

#include "function.h"

namespace tessella {

extern thread_local bool watches_values __attribute__((tls_model("initial-exec")));

// The buffer of the result that was just computed and found to be finite on the way, or nullptr.
extern thread_local const Buffer* known_finite __attribute__((tls_model("initial-exec")));

// Whether this thread watches, and x holds NaN or an infinity.
bool is_anomalous(PyObject* x);

// Gives the result of a fast path, or nullptr with a Python error set; takes it over.
PyObject* inspect_result(Function* function, PyObject* out, PyObject* const* args, int count);
inline PyObject* inspected(Function* function, PyObject* out, PyObject* const* args,
                           Py_ssize_t count) {
  if (!watches_values) [[likely]]
    return out;
  return inspect_result(function, out, args, static_cast<int>(count));
}

}  // namespace tessella
