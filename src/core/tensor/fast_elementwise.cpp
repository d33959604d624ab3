// The fast path of elementwise operations: tensors of one dtype, Python scalars of its kind or a
// lower one, broadcasting, and the recording of gradients; into a fresh tensor or one that is
// there.
#include "../launch/elementwise.h"
#include "guard.h"
#include "lines.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

constexpr int64_t DIRECT_SIZE = 4096;   // elements up to which the kernel is called on the spot
constexpr int64_t SPREAD_BYTES = 2048;  // up to which operands are spread out on the stack

struct Operands {
  Input inputs[3];
  Scalar scalars[3];
  DType dtype;
  Tensor* first;  // a tensor operand, for its shape
  bool has_one_shape;
  bool is_contiguous;
  bool has_scalar;
};

bool same_shape(const Tensor* x, const Tensor* y) {
  if (x->ndim != y->ndim) return false;
  for (int i = 0; i < x->ndim; ++i)  // few: a call of memcmp would take longer
    if (x->shape()[i] != y->shape()[i]) return false;
  return true;
}

// `where` chooses by a bool first operand; its other operands share a dtype.
// Inlined, as every small operation passes here.
[[gnu::always_inline]] inline bool collect(Function* function, PyObject* const* args, int count,
                                           Operands* out) {
  bool is_choice = static_cast<Opcode>(function->opcode) == Opcode::where;
  int leader = is_choice;  // the first tensor among those that share a dtype
  while (leader < count && !is_tensor(args[leader])) ++leader;
  if (leader == count) return false;
  out->first = as_tensor(args[leader]);
  out->dtype = out->first->dtype;
  if (is_user(out->dtype)) return false;
  out->has_one_shape = out->is_contiguous = true;
  out->has_scalar = false;
  for (int i = 0; i < count; ++i) {
    bool chooses = is_choice && i == 0;
    if (is_tensor(args[i])) {
      Tensor* x = as_tensor(args[i]);
      if (!x->has_memory() || x->dtype != (chooses ? DType::boolean : out->dtype)) return false;
      out->inputs[i] = {x, nullptr, x->dtype};
      out->is_contiguous &= x->is_contiguous;
      out->has_one_shape &= x == out->first || same_shape(x, out->first);
    } else {
      if (chooses || !store_scalar(args[i], out->dtype, &out->scalars[i])) return false;
      out->inputs[i] = {nullptr, &out->scalars[i], out->dtype};
      out->has_scalar = true;
    }
  }
  return true;
}

Tensor* make_output(const Operands& operands, int count, DType dtype) {
  if (operands.has_one_shape) return make_like(dtype, operands.first);
  Shape shape = operands.first->sizes();
  Layout joint;
  for (int i = 0; i < count; ++i) {
    const Tensor* x = operands.inputs[i].tensor;
    if (!x || x == operands.first) continue;
    joint = broadcast_shapes(shape, x->sizes());
    shape = joint.sizes();
  }
  return make_tensor(dtype, shape);
}

// tile = x over `shape`, row-major; gives the end of what was written. Foreign memory need not be
// aligned, so elements are copied as bytes.
template <int64_t Bytes>
char* spread(char* tile, const char* x, int ndim, const int64_t* shape, const int64_t* strides) {
  int64_t count = ndim ? shape[0] : 1, step = ndim ? strides[0] * Bytes : 0;
  if (ndim > 1) {
    for (int64_t i = 0; i < count; ++i)
      tile = spread<Bytes>(tile, x + i * step, ndim - 1, shape + 1, strides + 1);
    return tile;
  }
  if (step == 0) {
    char element[Bytes];
    if (count) memcpy(element, x, Bytes);
    for (int64_t i = 0; i < count; ++i) memcpy(tile + i * Bytes, element, Bytes);
  } else {
    for (int64_t i = 0; i < count; ++i) memcpy(tile + i * Bytes, x + i * step, Bytes);
  }
  return tile + count * Bytes;
}

void spread_input(char* tile, const Input& input, const Tensor* out) {
  int64_t strides[MAX_NDIM], none = 0;
  int ndim = input.tensor ? out->ndim : 1;
  const int64_t* shape = input.tensor ? out->shape() : &out->size;
  const int64_t* steps = input.tensor ? strides : &none;
  const char* x = input.tensor ? input.tensor->data() : input.scalar->bytes;
  if (input.tensor) broadcast_strides(input.tensor, ndim, shape, strides);
  switch (itemsize(input.dtype)) {
    case 1:
      spread<1>(tile, x, ndim, shape, steps);
      break;
    case 2:
      spread<2>(tile, x, ndim, shape, steps);
      break;
    case 4:
      spread<4>(tile, x, ndim, shape, steps);
      break;
    case 8:
      spread<8>(tile, x, ndim, shape, steps);
      break;
    default:
      spread<16>(tile, x, ndim, shape, steps);
  }
}

void run_spread(ElementwiseFn kernel, const Operands& operands, int count, Tensor* out) {
  alignas(64) char tiles[3][SPREAD_BYTES];
  const char* data[3] = {};
  for (int i = 0; i < count; ++i) {
    const Tensor* x = operands.inputs[i].tensor;
    bool lies_plain = x && x->is_contiguous && same_shape(x, out);
    data[i] = lies_plain ? x->data() : tiles[i];
    if (!lies_plain) spread_input(tiles[i], operands.inputs[i], out);
  }
  kernel(out->size, out->data(), data[0], data[1], data[2]);
}

bool broadcasts_to(const Tensor* x, const Tensor* out) {
  int lead = out->ndim - x->ndim;
  for (int i = 0; i < x->ndim; ++i)
    if (lead < 0 || (x->shape()[i] != 1 && x->shape()[i] != out->shape()[lead + i])) return false;
  return lead >= 0;
}

// Whether the result has out's shape (one operand has it, the others broadcast to it), and each
// element is read before its place in out is written.
bool can_write(const Operands& operands, int count, const Tensor* out) {
  bool is_whole = false;
  for (int i = 0; i < count; ++i) {
    const Tensor* x = operands.inputs[i].tensor;
    if (!x) continue;
    bool is_same = same_shape(x, out);
    bool is_same_place = is_same && x->is_contiguous && x->data() == out->data();
    if (may_overlap(x->buffer, out->buffer) && !(is_same_place && x->dtype == out->dtype))
      return false;
    if (!is_same && !broadcasts_to(x, out)) return false;
    is_whole |= is_same;
  }
  return is_whole;
}

// Small work on operands that the kernel can read as they lie, or spread out on the stack.
[[gnu::always_inline]] inline bool run_direct(ElementwiseFn kernel, const Operands& operands,
                                              int count, Tensor* out) {
  if (compute_dtype(operands.dtype) != operands.dtype || out->size > DIRECT_SIZE || is_taping())
    return false;
  if (operands.has_one_shape && operands.is_contiguous && !operands.has_scalar) {
    const char* x = operands.inputs[0].tensor->data();
    const char* y = count > 1 ? operands.inputs[1].tensor->data() : nullptr;
    const char* z = count > 2 ? operands.inputs[2].tensor->data() : nullptr;
    return kernel(out->size, out->data(), x, y, z), true;
  }
  if (out->size == 0) return true;
  if (out->size * itemsize(operands.dtype) > SPREAD_BYTES) return false;
  return run_spread(kernel, operands, count, out), true;
}

const ElementwiseKernel& kernel_of(const Function* function, DType dtype) {
  return elementwise_table().kernels[function->opcode][static_cast<int>(dtype)];
}

DType result_dtype(const ElementwiseKernel& kernel, DType dtype) {
  return kernel.out == compute_dtype(dtype) ? dtype : kernel.out;
}

}  // namespace

PyObject* fast_elementwise_into(Function* function, PyObject* const* args, int count,
                                PyObject* target) {
  if (count != function->arity || !is_tensor(target)) return nullptr;
  Tensor* out = as_tensor(target);
  if (!out->is_contiguous) return nullptr;
  Operands operands;
  if (!collect(function, args, count, &operands) || !can_write(operands, count, out))
    return nullptr;
  const ElementwiseKernel& kernel = kernel_of(function, operands.dtype);
  if (!kernel.fn || result_dtype(kernel, operands.dtype) != out->dtype) return nullptr;
  return attempted([&]() -> PyObject* {
    if (!is_writable(out) || needs_node(args, count)) return nullptr;
    if (!run_direct(kernel.fn, operands, count, out))
      run_elementwise(static_cast<Opcode>(function->opcode), operands.dtype, out, operands.inputs,
                      count, false);
    mark_written(out->buffer);
    return Py_NewRef(target);
  });
}

PyObject* fast_elementwise(Function* function, PyObject* const* args, int count) {
  Operands operands;
  if (!collect(function, args, count, &operands)) return nullptr;
  const ElementwiseKernel& kernel = kernel_of(function, operands.dtype);
  if (!kernel.fn) return nullptr;
  return attempted([&]() -> PyObject* {
    Result out(make_output(operands, count, result_dtype(kernel, operands.dtype)));
    if (!run_direct(kernel.fn, operands, count, out.get()))
      run_elementwise(static_cast<Opcode>(function->opcode), operands.dtype, out.get(),
                      operands.inputs, count, true);
    if (is_recorded(function, args, count) && !record(out.get(), function, args, count, nullptr))
      return nullptr;
    return out.give();
  });
}

}  // namespace tessella
