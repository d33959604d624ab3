// Tensors to drivers.
#include "run.h"

#include <string.h>

#include <array>

#include "../launch/copy.h"
#include "../launch/elementwise.h"
#include "../system/system.h"
#include "anomaly.h"
#include "guard.h"
#include "result.h"
#include "tape.h"

namespace tessella {

namespace {

template <class T>
bool store_as(char* bytes, T value) {
  memcpy(bytes, &value, sizeof value);
  return true;
}

bool store_integer(PyObject* value, DType dtype, char* bytes) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  int width = static_cast<int>(itemsize(dtype)) * 8;
  if (kind(dtype) == DKind::signed_int) {
    if (overflow || (width < 64 && (number >> (width - 1)) + 1 > 1)) return false;
    if (width < 64 && number >> (width - 1) < -1) return false;
  } else {
    if (overflow < 0 || (!overflow && number < 0)) return false;
    if (overflow) {
      if (width < 64) return false;
      unsigned long long large = PyLong_AsUnsignedLongLong(value);
      if (PyErr_Occurred()) return PyErr_Clear(), false;
      return store_as(bytes, large);
    }
    if (width < 64 && number >> width != 0) return false;
  }
  memcpy(bytes, &number, static_cast<size_t>(width / 8));  // little endian: the low bytes
  return true;
}

// Rounds like a cast from float64.
void store_floating(double value, DType dtype, char* bytes) {
  cast_kernel(DType::float64, dtype)(1, bytes, &value);
}

bool store_real(PyObject* value, double* out) {
  if (PyFloat_Check(value)) return *out = PyFloat_AS_DOUBLE(value), true;
  *out = PyLong_AsDouble(value);  // an integer beyond the range of floats has no value here
  if (*out == -1.0 && PyErr_Occurred()) return PyErr_Clear(), false;
  return true;
}

PyObject* load_item(DType dtype, const char* element) {
  static PyObject* const unpack = PyUnicode_InternFromString("unpack");
  PyObject* bytes = PyBytes_FromStringAndSize(element, itemsize(dtype));
  PyObject* item = bytes ? PyObject_CallMethodOneArg(dtype_object(dtype), unpack, bytes) : nullptr;
  Py_XDECREF(bytes);
  if (!item) throw PythonError{};
  return item;
}

// Whose class may be changed by anybody.
void check_packed(PyObject* bytes, DType dtype) {
  if (PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == itemsize(dtype)) return;
  PyErr_Format(PyExc_TypeError, "dtype %s packs an item into something else than its %d bytes",
               info(dtype).name, static_cast<int>(itemsize(dtype)));
  throw PythonError{};
}

}  // namespace

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

void sleep_until_exit() {
  for (;;) pause();
}

thread_local bool is_repeating = false;
thread_local bool keeps_lock = false;
LongWork::Pins* LongWork::Pins::first;

LongWork::Pins::Pins()
    : next(first), previous(nullptr), thread(std::this_thread::get_id()), state(nullptr) {
  static bool is_told = (system::call_after_fork(forget_other_threads), true);
  (void)is_told;
  if (next) next->previous = this;
  first = this;
}

LongWork::Pins::~Pins() {
  if (next) next->previous = previous;
  (previous ? previous->next : first) = next;
  for (Buffer* buffer : buffers) {
    --buffer->pins;
    release(buffer);
  }
}

void LongWork::Pins::forget_other_threads() {
  for (Pins* work = first; work; work = work->next) {
    if (work->thread == std::this_thread::get_id()) continue;
    for (Buffer* buffer : work->buffers) --buffer->pins;
    if (work->next) work->next->previous = work->previous;
    (work->previous ? work->previous->next : first) = work->next;
  }
}

void LongWork::begin(std::initializer_list<const Tensor*> tensors, std::span<Tensor* const> more) {
  new (&pins_) Pins;
  is_long_ = true;
  if (!is_repeating) {
    pins_.buffers.reserve(tensors.size() + more.size());
    for (const Tensor* x : tensors) pins_.add(x);
    for (const Tensor* x : more) pins_.add(x);
  }
  pins_.state = PyEval_SaveThread();
}

void LongWork::end() {
  take_interpreter([this] { PyEval_RestoreThread(pins_.state); });
  pins_.~Pins();
}

bool store_scalar(PyObject* value, DType dtype, Scalar* out) {
  DKind of = kind(dtype);
  if (of == DKind::user) return false;
  if (PyBool_Check(value)) {
    uint8_t truth = value == Py_True;
    cast_kernel(DType::boolean, dtype)(1, out->bytes, &truth);
    return true;
  }
  if (PyLong_Check(value)) {
    if (of == DKind::boolean) return false;
    if (of == DKind::signed_int || of == DKind::unsigned_int)
      return store_integer(value, dtype, out->bytes);
  } else if (PyFloat_Check(value)) {
    if (of != DKind::floating && of != DKind::complex) return false;
  } else if (PyComplex_Check(value)) {
    if (of != DKind::complex) return false;
    Py_complex number = PyComplex_AsCComplex(value);
    double parts[2] = {number.real, number.imag};
    cast_kernel(DType::complex128, dtype)(1, out->bytes, parts);
    return true;
  } else {
    return false;
  }
  double number;
  if (!store_real(value, &number)) return false;
  if (dtype == DType::float32) return store_as(out->bytes, static_cast<float>(number));
  store_floating(number, dtype, out->bytes);
  return true;
}

PyObject* load_scalar(DType dtype, const char* element) {
  if (is_user(dtype)) return load_item(dtype, element);
  switch (kind(dtype)) {
    case DKind::boolean:
      return PyBool_FromLong(*element);
    case DKind::signed_int: {
      int64_t value;
      cast_kernel(dtype, DType::int64)(1, &value, element);
      return PyLong_FromLongLong(value);
    }
    case DKind::unsigned_int: {
      uint64_t value;
      cast_kernel(dtype, DType::uint64)(1, &value, element);
      return PyLong_FromUnsignedLongLong(value);
    }
    case DKind::floating: {
      double value;
      cast_kernel(dtype, DType::float64)(1, &value, element);
      return PyFloat_FromDouble(value);
    }
    default: {
      double parts[2];
      cast_kernel(dtype, DType::complex128)(1, parts, element);
      return PyComplex_FromDoubles(parts[0], parts[1]);
    }
  }
}

Tensor* make_item(PyObject* value, DType dtype) {
  static PyObject* const pack = PyUnicode_InternFromString("pack");
  PyObject* bytes = PyObject_CallMethodOneArg(dtype_object(dtype), pack, value);
  if (!bytes) throw PythonError{};
  try {
    check_packed(bytes, dtype);
    Tensor* out = make_tensor(dtype, Shape{});
    run_fill(out, PyBytes_AS_STRING(bytes), false);
    Py_DECREF(bytes);
    return out;
  } catch (...) {
    Py_DECREF(bytes);
    throw;
  }
}

void broadcast_strides(const Tensor* x, int ndim, const int64_t* shape, int64_t* strides) {
  int added = ndim - x->ndim;
  for (int i = 0; i < ndim; ++i) {
    bool repeats = i < added || (x->shape()[i - added] == 1 && shape[i] != 1);
    strides[i] = repeats ? 0 : x->strides()[i - added];
  }
}

namespace {

// Does a call again.
void repeat_elementwise(const ElementwiseCall& call, Tensor* const* operands) {
  Input inputs[3];
  int next = 1;
  for (int i = 0; i < call.arity; ++i) {
    Tensor* x = call.is_tensor[i] ? operands[next++] : nullptr;
    inputs[i] = {x, x ? nullptr : &call.scalars[i], call.dtypes[i]};
  }
  run_elementwise(call.opcode, call.dtype, operands[0], inputs, call.arity, call.interruptible);
}

void note_elementwise(Noted* noted, Opcode opcode, DType dtype, Tensor* out, const Input* inputs,
                      int arity, bool interruptible) {
  Tensor* read[3];
  size_t reads = 0;
  ElementwiseCall call{opcode, dtype, arity, interruptible, {}, {}, {}};
  std::string params = std::string(" ") + info(dtype).name;
  for (int i = 0; i < arity; ++i) {
    call.is_tensor[i] = inputs[i].tensor != nullptr;
    call.dtypes[i] = inputs[i].dtype;
    if (inputs[i].tensor) {
      read[reads++] = inputs[i].tensor;
      continue;
    }
    PyObject* number = load_scalar(inputs[i].dtype, inputs[i].scalar->bytes);
    params += name_object(number) + "@" + std::to_string(i);
    Py_DECREF(number);
    call.scalars[i] = *inputs[i].scalar;
  }
  noted->take(OPCODES[static_cast<int>(opcode)].name, std::move(params),
              std::span<Tensor* const>(&out, 1), std::span<Tensor* const>(read, reads),
              [call](Tensor* const* operands, const Draw&) { repeat_elementwise(call, operands); });
  noted->is_elementwise(call);
}

}  // namespace

void run_elementwise(Opcode opcode, DType dtype, Tensor* out, const Input* inputs, int arity,
                     bool interruptible, bool keeps_lock) {
  Noted noted;
  if (is_taping()) note_elementwise(&noted, opcode, dtype, out, inputs, arity, interruptible);
  if (noted.is_rehearsed()) return;
  launch::ElementwiseTask task{.opcode = opcode,
                               .dtype = dtype,
                               .ndim = out->ndim,
                               .shape = out->shape(),
                               .out = {out->data(), out->dtype, out->strides()},
                               .in = {},
                               .interruptible = interruptible};
  int64_t strides[3][MAX_NDIM];
  for (int i = 0; i < arity; ++i) {
    task.in[i].dtype = inputs[i].dtype;
    task.in[i].strides = strides[i];
    if (inputs[i].tensor) {
      task.in[i].data = inputs[i].tensor->data();
      broadcast_strides(inputs[i].tensor, out->ndim, out->shape(), strides[i]);
    } else {
      task.in[i].data = const_cast<char*>(inputs[i].scalar->bytes);
      memset(strides[i], 0, sizeof(int64_t) * static_cast<size_t>(out->ndim));
    }
  }
  Tensor* tensors[3];
  size_t count = 0;
  for (int i = 0; i < arity; ++i)
    if (inputs[i].tensor) tensors[count++] = inputs[i].tensor;
  std::atomic<bool> is_finite{true};
  bool is_watched = watches_values && out->is_contiguous && has_gradients(out->dtype) &&
                    compute_dtype(out->dtype) == out->dtype;
  if (is_watched) task.is_finite = &is_finite;
  {
    LongWork work(keeps_lock ? 0 : out->size, {out}, {tensors, count});
    launch::elementwise(task);
  }
  known_finite = is_watched && is_finite ? out->buffer : nullptr;
}

void run_fill(Tensor* out, const char* element, bool interruptible) {
  Noted noted;
  if (is_taping()) {
    std::string bytes(element, static_cast<size_t>(itemsize(out->dtype)));
    PyObject* value = load_scalar(out->dtype, element);
    std::string params = name_object(value);
    Py_DECREF(value);
    noted.take("fill", std::move(params), {out}, {}, [=](Tensor* const* operands, const Draw&) {
      run_fill(operands[0], bytes.data(), interruptible);
    });
    Scalar number{};
    if (bytes.size() <= sizeof number.bytes) {
      memcpy(number.bytes, bytes.data(), bytes.size());
      noted.is_filling(number);
    }
  }
  if (noted.is_rehearsed()) return;
  int64_t strides[MAX_NDIM];
  memset(strides, 0, sizeof(int64_t) * out->ndim);
  launch::Operand from{const_cast<char*>(element), out->dtype, strides};
  LongWork work(out->size, {out});
  launch::copy(out->ndim, out->shape(), {out->data(), out->dtype, out->strides()}, from,
               interruptible);
}

void run_copy(Tensor* out, Tensor* x, bool interruptible) {
  if (out->dtype != x->dtype && (is_user(out->dtype) || is_user(x->dtype)))
    fail_user_dtype(info(is_user(x->dtype) ? x->dtype : out->dtype).name);
  Noted noted;
  if (is_taping()) {
    noted.take("copy", "", {out}, {x}, [=](Tensor* const* operands, const Draw&) {
      run_copy(operands[0], operands[1], interruptible);
    });
    noted.is_copy();
  }
  if (noted.is_rehearsed()) return;
  int64_t strides[MAX_NDIM];
  broadcast_strides(x, out->ndim, out->shape(), strides);
  LongWork work(out->size, {out, x});
  launch::copy(out->ndim, out->shape(), {out->data(), out->dtype, out->strides()},
               {x->data(), x->dtype, strides}, interruptible);
}

}  // namespace tessella
