// Bridges tensors and the drivers in launch/: builds their tasks from tensors, lets go of the
// interpreter's lock for long work, and turns Ctrl-C into its exception. Used by the fast path and
// by bind/ alike, so that both run the same kernels.
#pragma once

#include <initializer_list>
#include <span>
#include <thread>
#include <vector>

#include "../kernels/cast.h"
#include "../kernels/elementwise.h"
#include "../kernels/recurrent.h"
#include "../launch/matmul.h"
#include "../launch/reduce.h"
#include "tensor.h"

namespace tessella {

// Whether the interpreter ends or has ended: then its lock is no longer to be had.
bool is_finalizing();

// Sleeps until the process is gone.
[[noreturn]] void sleep_until_exit();

// Calls `take`, which takes the interpreter's lock. CPython before 3.14 ends a thread that asks for
// the lock while the interpreter ends, or waited for it when that began, by unwinding its stack:
// destructors would run without the lock. Such a thread sleeps instead, its frames as they are.
template <class Take>
auto take_interpreter(Take take) {
  if (is_finalizing()) sleep_until_exit();
  try {
    return take();
  } catch (...) {
    sleep_until_exit();
  }
}

// Pins the memory of a tensor while it lives: for work in the middle of which Python code runs.
class InUse {
 public:
  explicit InUse(const Tensor* x) : buffer_(x->buffer) {
    check_values(x);
    ++retain(buffer_)->pins;
  }
  ~InUse() {
    --buffer_->pins;
    release(buffer_);
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  Buffer* buffer_;
};

constexpr int64_t SHORT_WORK = 1 << 16;  // elements, for which to let go of the lock costs too much

// Whether this thread runs a program, which holds all memory that its instructions use.
extern thread_local bool is_repeating __attribute__((tls_model("initial-exec")));

extern thread_local bool keeps_lock __attribute__((tls_model("initial-exec")));

// Sets both while it lives: also whether the interpreter's lock is kept, so that nobody can
// disturb.
class Repeating {
 public:
  explicit Repeating(bool is_now, bool keeps = false)
      : before_(is_repeating), kept_before_(keeps_lock) {
    is_repeating = is_now, keeps_lock = keeps;
  }
  ~Repeating() { is_repeating = before_, keeps_lock = kept_before_; }
  Repeating(const Repeating&) = delete;
  Repeating& operator=(const Repeating&) = delete;

 private:
  bool before_, kept_before_;
};

// Releases the interpreter's lock while it lives, if the work is worth it; the memory of the
// tensors that are worked on is pinned meanwhile. Throws if one has no memory.
class LongWork {
 public:
  LongWork(int64_t elements, std::initializer_list<const Tensor*> tensors,
           std::span<Tensor* const> more = {}) {
    for (const Tensor* x : tensors) check_values(x);
    for (const Tensor* x : more) check_values(x);
    if (elements > SHORT_WORK && !keeps_lock) begin(tensors, more);
  }
  ~LongWork() {
    if (is_long_) end();
  }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 private:
  // What work holds that has let go of the lock; all of it is in a list, for the child of a fork.
  struct Pins {
    Pins *next, *previous;
    std::thread::id thread;
    PyThreadState* state;
    std::vector<Buffer*> buffers;

    Pins();
    ~Pins();
    void add(const Tensor* x) {
      ++x->buffer->pins;
      buffers.push_back(retain(x->buffer));
    }
    static Pins* first;
    static void forget_other_threads();  // in the child: their work never ends
  };

  void begin(std::initializer_list<const Tensor*> tensors, std::span<Tensor* const> more);
  void end();

  bool is_long_ = false;
  union {
    Pins pins_;  // if it is long
  };
};

// A Python scalar as one element of a dtype.
struct Scalar {
  alignas(16) char bytes[16];
};
// True if `value` (bool, int, float or complex) belongs to the dtype's kind or a lower
// one and fits; then it is stored. False without an error otherwise, and for dtypes of users.
bool store_scalar(PyObject* value, DType dtype, Scalar* out);

// Whether a value is of one of Python's own types of numbers: what derives from them may have a
// dtype, as NumPy's float64 does.
inline bool is_plain_number(PyObject* value) {
  return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
         PyComplex_CheckExact(value);
}

// The element as a Python number; one of a user's dtype as that unpacks it. Throws PythonError.
PyObject* load_scalar(DType dtype, const char* element);

// A 0-d tensor of one item of a user's dtype, as that packs a Python value. Throws PythonError.
Tensor* make_item(PyObject* value, DType dtype);

// An operand of an elementwise call: a tensor, or a scalar already stored in its dtype.
struct Input {
  Tensor* tensor;
  const Scalar* scalar;
  DType dtype;
};

// Strides of x over the axes of a shape it broadcasts to: 0 where it repeats.
void broadcast_strides(const Tensor* x, int ndim, const int64_t* shape, int64_t* strides);

// out[...] = op(inputs...), broadcasting inputs to out's shape; checked by the caller.
void run_elementwise(Opcode opcode, DType dtype, Tensor* out, const Input* inputs, int arity,
                     bool interruptible, bool keeps_lock = false);
// out[...] = x, converted and broadcast; they do not overlap. Throws for two dtypes of which one is
// a user's.
void run_copy(Tensor* out, Tensor* x, bool interruptible);
// out[...] = one element, stored in out's dtype.
void run_fill(Tensor* out, const char* element, bool interruptible);

// out = x reduced over `axes` (bit i: axis i). out is contiguous and holds the kept axes in their
// order, with or without the reduced ones as sizes of 1; its dtype is reduce_out_dtype's.
void run_reduce(launch::ReduceOp op, Tensor* x, uint64_t axes, Tensor* out, bool interruptible);

// out (..., m, n) = a (..., m, k) @ b (..., k, n), or out + a @ b. The batch axes of a and b
// broadcast to those of out; all three share a dtype; out overlaps neither itself nor a nor b.
// A vector a (k,) counts as (1, k), a vector b (k,) as (k, 1), and out has no axis for that 1.
void run_matmul(Tensor* a, Tensor* b, Tensor* out, bool accumulate, bool interruptible,
                const launch::MatmulTail* tail = nullptr);

// out (..., m, n) = x (..., m, k) @ weight (n, k).T, plus bias (n) unless that is nullptr: the bits
// of the two operations.
void run_linear(Tensor* x, Tensor* weight, Tensor* bias, Tensor* out, bool interruptible);

// Operations on whole lines along one axis. out has the shape and dtype of x.
enum class RowsOp : uint8_t { softmax, log_softmax };
constexpr const char* ROWS_NAMES[] = {"softmax", "log_softmax"};
void run_rows(RowsOp op, Tensor* x, int axis, Tensor* out, bool interruptible);

// A recurrent layer and its slopes (launch/recurrent.h). All tensors are contiguous, of one dtype
// and of the sizes that those of `gates` (T, B, G * H), or g (T, B, H), ask for.
struct StatesOperands {
  Tensor *gates, *weight, *bias_ih, *bias_hh, *h;
  Tensor* c;  // of an LSTM; else nullptr
};
int64_t states_size(Cell cell, int64_t steps, int64_t batch, int64_t hidden, bool keeps);
void run_states(Cell cell, const StatesOperands& of, bool is_reversed, bool keeps, Tensor* out);
struct SlopesOperands {
  Tensor *g, *states, *weight;
  Tensor* g_c;  // of an LSTM; else nullptr
};
int64_t slopes_size(Cell cell, int64_t steps, int64_t batch, int64_t hidden);
void run_slopes(Cell cell, const SlopesOperands& of, bool is_reversed, Tensor* out);

}  // namespace tessella
