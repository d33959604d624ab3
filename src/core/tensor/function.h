// The type Function: an operation as Python sees it, the same object as ts.exp and Tensor.exp.
// Calling it tries the fast path of its kind; what that declines goes to apply() in Python.
#pragma once

#include <vector>

#include "tensor.h"

namespace tessella {

// What a rule of gradients asks for.
struct Argument {
  enum class Source : uint8_t { gradient, output, input, shape, dtype, shapes, param };
  Source source;
  uint8_t index;   // of the input
  PyObject* name;  // of the parameter
};

struct Rule {
  PyObject* callable;  // nullptr: this input has no gradient
  uint64_t saves;      // what is saved for it: bit i: input i; bit 63: the output
  bool is_listed;      // it gives a list: the gradients of all inputs
  std::vector<Argument> arguments;
};

// Each kind has its fast path; `none` always goes through apply().
// clang-format off
#define FAST_KINDS(F) \
  F(none) F(elementwise) F(reduce) F(view) F(matmul) F(cast) F(rows) F(concat) F(linear) F(fused) \
  F(update)
// clang-format on
#define FAST_KIND(name) name,
enum class FastKind : uint8_t { FAST_KINDS(FAST_KIND) };
#undef FAST_KIND

struct Function {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* record;  // the Python record
  PyObject* name;
  PyObject* doc;
  PyObject* signature;
  FastKind kind;
  uint8_t opcode;  // within the kind
  uint8_t arity;   // tensor operands
  bool is_differentiable;
  bool is_strict;  // some calls mean something else in PyTorch, and the record must look at them
  std::vector<Rule>* rules;  // one for each input, or one for a list of them; nullptr: its record
                             // has a method `pull`
};
constexpr int SAVES_OUTPUT = 63;

extern PyTypeObject* function_type;

inline Function* as_function(PyObject* object) { return reinterpret_cast<Function*>(object); }

// What stops the fast path on this thread: capture, anomaly detection, profiling, tests.
extern thread_local uint32_t modes __attribute__((tls_model("initial-exec")));

// Calls callable(first, *args).
PyObject* call_with(PyObject* callable, PyObject* first, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords);

// Calls apply(record, *args) in Python: the slow path, which explains.
PyObject* call_slow(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords);

// The fast paths. nullptr without a Python error: declined.
PyObject* fast_elementwise(Function* function, PyObject* const* args, int count);
// Writes the result into `target` and gives it, for functions of any kind: most decline.
PyObject* fast_into(Function* function, PyObject* const* args, Py_ssize_t count, PyObject* target);
PyObject* fast_elementwise_into(Function* function, PyObject* const* args, int count,
                                PyObject* target);
PyObject* fast_reduce(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords);
PyObject* fast_view(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords);
PyObject* fast_matmul(Function* function, PyObject* a, PyObject* b);
PyObject* fast_matmul_into(PyObject* const* args, int count, PyObject* target);
PyObject* fast_linear(Function* function, PyObject* const* args, Py_ssize_t count);
PyObject* fast_cast(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords);
PyObject* fast_rows(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords);
PyObject* fast_fused(Function* function, PyObject* const* args, Py_ssize_t count,
                     PyObject* keywords);
PyObject* fast_getitem(PyObject* x, PyObject* key);
PyObject* fast_gather(PyObject* x, PyObject* key);  // by index tensors and masks
// x[key] = value. True when it was done; false without a Python error: declined.
bool fast_setitem(PyObject* x, PyObject* key, PyObject* value);
bool fast_scatter(PyObject* x, PyObject* key, PyObject* value);  // by index tensors and masks
PyObject* fast_concat(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords);
PyObject* fast_update(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords);  // gives None

// Operators: which Function each slot of Tensor calls. Set when the records are made.
// clang-format off
#define SLOTS(F) \
  F(add) F(sub) F(mul) F(div) F(floor_divide) F(remainder) F(pow) F(matmul) F(neg) F(positive) \
  F(abs) F(bitwise_invert) F(bitwise_and) F(bitwise_or) F(bitwise_xor) F(bitwise_left_shift) \
  F(bitwise_right_shift) F(less) F(less_equal) F(equal) F(not_equal) F(greater) F(greater_equal) \
  F(transpose) F(getitem) F(conj)
// clang-format on
#define SLOT(name) name,
enum class Slot : uint8_t { SLOTS(SLOT) count };
#undef SLOT
// Given by records.py at import.
void set_apply(PyObject* callable);
bool set_slot(const char* name, PyObject* function);
Function* function_of(Slot slot);

struct Counts {
  int64_t fast, declined;
};
extern Counts counts;

bool init_function_type(PyObject* module);

}  // namespace tessella
