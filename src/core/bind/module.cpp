// The module tessella._core.
#include "../kernels/isa.h"
#include "../tensor/caller.h"
#include "../tensor/dynamic.h"
#include "../tensor/function.h"
#include "../tensor/method.h"
#include "../tensor/node.h"
#include "../tensor/run.h"
#include "../threads.h"
#include "bind.h"

namespace tessella {

namespace {

// Ctrl-C: called between chunks of long work, on the thread that asked for it. A handler may do
// anything, so none runs while the work holds the interpreter's lock: such work is short, and its
// operands are not pinned.
bool poll_signals() {
  if (PyGILState_Check()) return false;
  PyGILState_STATE state = take_interpreter(PyGILState_Ensure);
  Repeating handlers(false);  // may compute
  bool is_interrupted = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return is_interrupted;
}

// Errors have no Python classes yet when the module is made.
void choose_isa_or_fail_import() {
  try {
    isa = choose_isa();
    dots = choose_dots();
  } catch (const Error& error) {
    PyErr_Format(PyExc_ImportError, "%s\n  hint: %s", error.what.c_str(), error.hint.c_str());
    throw nb::python_error();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise_in_python(error);
  } catch (const PythonError&) {
  } catch (const Interrupted&) {
  }
}

}  // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);
  choose_isa_or_fail_import();
  set_interrupt_poll(poll_signals);
  if (!init_tensor_type(module.ptr()) || !init_node_type(module.ptr()) ||
      !init_function_type(module.ptr()) || !init_caller_type(module.ptr()) ||
      !init_method_type(module.ptr()) || !init_array_type(module.ptr()))
    throw nb::python_error();
  init_dtype(module);
  init_layout(module);
  init_tensor(module);
  init_exchange(module);
  init_elementwise(module);
  init_threads(module);
  init_memory(module);
  init_dynamic(module);
  init_creation(module);
  init_reduce(module);
  init_matmul(module);
  init_convolve(module);
  init_index(module);
  init_sort(module);
  init_random(module);
  init_recurrent(module);
  init_fused(module);
  init_graph(module);
  init_csv(module);
  init_updates(module);
  init_recording(module);
  init_program(module);
  init_rehearsal(module);
}

}  // namespace tessella
