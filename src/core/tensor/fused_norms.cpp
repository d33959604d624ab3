// Layer norm and RMS norm over the last axis, and their gradients.
#include "../launch/norm.h"

#include "../threads.h"
#include "fused.h"

namespace tessella {

namespace {

// x, weight, bias, eps, is_centred
struct NormValues {
  Tensor *x, *weight, *bias;
  launch::NormTask task;

  bool read(PyObject* x_value, PyObject* weight_value, PyObject* bias_value, PyObject* eps,
            PyObject* is_centred) {
    x = tensor_or_none(x_value);
    if (!x || x->ndim == 0 || kind(x->dtype) != DKind::floating || !is_plain(x, x->dtype))
      return false;
    task.n = x->shape()[x->ndim - 1];
    task.rows = task.n ? x->size / task.n : 0;
    weight = tensor_or_none(weight_value);
    bias = tensor_or_none(bias_value);
    return is_vector(weight_value, x->dtype, task.n) && is_vector(bias_value, x->dtype, task.n) &&
           read_real(eps, &task.eps) && read_truth(is_centred, &task.is_centred);
  }

  void begin(bool interruptible) {
    task.dtype = x->dtype;
    task.x = x->data();
    task.weight = weight ? weight->data() : nullptr;
    task.bias = bias ? bias->data() : nullptr;
    task.interruptible = interruptible;
    task.workers = num_threads();
  }
};

constexpr int64_t PASSES = 3;

bool norm_outline(Values values, Outline* out) {
  NormValues of;
  if (!of.read(values[0], values[1], values[2], values[3], values[4])) return false;
  out->take(of.x);
  return true;
}

void norm_run(Values values, Tensor* out, bool interruptible) {
  NormValues of;
  of.read(values[0], values[1], values[2], values[3], values[4]);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::norm_scratch_bytes(of.task)));
  LongWork work(of.x->size * PASSES, {of.x, out}, Present(of.weight, of.bias));
  launch::norm(of.task, out->data(), scratch.data());
}

// dout, x, weight, eps, is_centred. The result is flat: dx, dweight, dbias.
bool back_outline(Values values, Outline* out) {
  NormValues of;
  Tensor* dout = tensor_or_none(values[0]);
  if (!of.read(values[1], values[2], Py_None, values[3], values[4])) return false;
  if (!is_plain(dout, of.x->dtype) || !has_shape_of(dout, of.x)) return false;
  out->dtype = of.x->dtype;
  out->ndim = 1;
  out->shape[0] = of.x->size + (of.weight ? 2 * of.task.n : 0);
  return true;
}

void back_run(Values values, Tensor* out, bool interruptible) {
  NormValues of;
  Tensor* dout = as_tensor(values[0]);
  of.read(values[1], values[2], Py_None, values[3], values[4]);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::norm_back_scratch_bytes(of.task)));
  LongWork work(of.x->size * PASSES, {of.x, out, dout}, Present(of.weight, of.bias));
  launch::norm_back(of.task, out->data(), dout->data(), scratch.data());
}

}  // namespace

const FusedOp NORM = {"norm_rows", 3, 2, norm_outline, norm_run};
const FusedOp NORM_BACK = {"norm_rows_back", 3, 2, back_outline, back_run};

}  // namespace tessella
