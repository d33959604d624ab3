// Operations with a kernel of their own over several operands: losses, normalisation, attention.
// Each is a row of one table: what its result looks like, and how it is computed. Records
// (fusions.py) check and explain; here a call that is not in its normal form is declined.
#pragma once

#include "../launch/class_loss.h"
#include "function.h"
#include "run.h"

namespace tessella {

// The operands of a call, which are tensors or None, and behind them its parameters, which may be
// tensors that no gradient flows to.
using Values = PyObject* const*;

// Those of two tensors that are there.
class Present {
 public:
  Present(Tensor* x, Tensor* y) {
    if (x) tensors_[count_++] = x;
    if (y) tensors_[count_++] = y;
  }
  operator std::span<Tensor* const>() const { return {tensors_, count_}; }

 private:
  Tensor* tensors_[2];
  size_t count_ = 0;
};

struct Outline {
  DType dtype;
  int ndim = 0;
  int64_t shape[MAX_NDIM];

  void take(const Tensor* x);  // its dtype and shape
  Shape sizes() const { return {shape, static_cast<size_t>(ndim)}; }
};

struct FusedOp {
  const char* name;
  int operands, params;
  // From shapes, dtypes and parameters alone; false: not in its normal form.
  bool (*outline)(Values values, Outline* out);
  void (*run)(Values values, Tensor* out, bool interruptible);
};

// Of one family in each file.
extern const FusedOp SOFTMAX_BACK, LOG_SOFTMAX_BACK;
extern const FusedOp PAIR_LOSS, PAIR_LOSS_BACK, CLASS_LOSS, CLASS_LOSS_BACK;
extern const FusedOp NORM, NORM_BACK, CHANNEL_MOMENTS, CHANNEL_NORM, CHANNEL_NORM_BACK;
extern const FusedOp DROPOUT, EMBED, EMBED_BACK, ATTENTION, ATTENTION_BACK;
extern const FusedOp DEQUANTIZE, QUANTIZE, BLOCK_PRODUCT, BLOCK_PRODUCT_BACK;
constexpr const FusedOp* FUSED[] = {&SOFTMAX_BACK,   &LOG_SOFTMAX_BACK,  &PAIR_LOSS,
                                    &PAIR_LOSS_BACK, &CLASS_LOSS,        &CLASS_LOSS_BACK,
                                    &NORM,           &NORM_BACK,         &CHANNEL_MOMENTS,
                                    &CHANNEL_NORM,   &CHANNEL_NORM_BACK, &DROPOUT,
                                    &EMBED,          &EMBED_BACK,        &ATTENTION,
                                    &ATTENTION_BACK, &DEQUANTIZE,        &QUANTIZE,
                                    &BLOCK_PRODUCT,  &BLOCK_PRODUCT_BACK};
constexpr int FUSED_COUNT = sizeof FUSED / sizeof FUSED[0];

// Runs an operation whose values are in their normal form.
void run_fused(const FusedOp& op, Values values, Tensor* out, bool interruptible);

// --- reading values: false where they are of another type ----------------------------------------

inline Tensor* tensor_or_none(PyObject* value) {
  return is_tensor(value) ? as_tensor(value) : nullptr;
}
bool is_plain(const Tensor* x, DType dtype);  // contiguous, of that dtype
// None, or contiguous, of that dtype and one axis of that size.
bool is_vector(PyObject* value, DType dtype, int64_t size);
bool has_shape_of(const Tensor* x, const Tensor* y);
bool read_int(PyObject* value, int64_t* out);
bool read_real(PyObject* value, double* out);
bool read_truth(PyObject* value, bool* out);
bool read_reduction(PyObject* value, launch::Reduction* out);

}  // namespace tessella
