// Batch norm: moments of channels, the normalised tensor, and its gradient.
#include "../launch/channels.h"

#include "fused.h"

namespace tessella {

namespace {

// x is (N, C, …), contiguous, float32 or float64.
bool read_x(PyObject* value, Tensor** x, launch::ChannelTask* task) {
  *x = tensor_or_none(value);
  if (!*x || (*x)->ndim < 2 || !(*x)->is_contiguous) return false;
  task->dtype = (*x)->dtype;
  task->n = (*x)->shape()[0];
  task->channels = (*x)->shape()[1];
  task->length = 1;
  for (int i = 2; i < (*x)->ndim; ++i) task->length *= (*x)->shape()[i];
  return task->dtype == DType::float32 || task->dtype == DType::float64;
}

bool moments_outline(Values values, Outline* out) {
  Tensor* x;
  launch::ChannelTask task;
  if (!read_x(values[0], &x, &task)) return false;
  out->dtype = x->dtype;
  out->ndim = 2;
  out->shape[0] = 2;
  out->shape[1] = task.channels;
  return true;
}

void moments_run(Values values, Tensor* out, bool interruptible) {
  Tensor* x;
  launch::ChannelTask task{};
  read_x(values[0], &x, &task);
  task.x = x->data();
  task.interruptible = interruptible;
  Scratch scratch(static_cast<size_t>(launch::channel_scratch_bytes(task)));
  LongWork work(x->size, {x, out});
  launch::channel_moments(task, out->data(), scratch.data());
}

// x, weight, bias; mean, variance, eps, is_batch
struct ChannelValues {
  Tensor *x, *weight, *bias, *mean, *variance;
  launch::ChannelTask task;

  bool read(PyObject* x_value, PyObject* weight_value, PyObject* bias_value, Values params) {
    if (!read_x(x_value, &x, &task)) return false;
    weight = tensor_or_none(weight_value);
    bias = tensor_or_none(bias_value);
    mean = tensor_or_none(params[0]);
    variance = tensor_or_none(params[1]);
    auto fits = [&](PyObject* value) { return is_vector(value, x->dtype, task.channels); };
    return mean && variance && fits(params[0]) && fits(params[1]) && fits(weight_value) &&
           fits(bias_value) && read_real(params[2], &task.eps) &&
           read_truth(params[3], &task.is_batch);
  }

  void begin(bool interruptible) {
    task.x = x->data();
    task.mean = mean->data();
    task.variance = variance->data();
    task.weight = weight ? weight->data() : nullptr;
    task.bias = bias ? bias->data() : nullptr;
    task.interruptible = interruptible;
  }
};

bool norm_outline(Values values, Outline* out) {
  ChannelValues of;
  if (!of.read(values[0], values[1], values[2], values + 3)) return false;
  out->take(of.x);
  return true;
}

void norm_run(Values values, Tensor* out, bool interruptible) {
  ChannelValues of;
  of.read(values[0], values[1], values[2], values + 3);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::channel_scratch_bytes(of.task)));
  LongWork work(of.x->size, {of.x, out, of.mean, of.variance}, Present(of.weight, of.bias));
  launch::channel_norm(of.task, out->data(), scratch.data());
}

// dout, x, weight; mean, variance, eps, is_batch. The result is flat: dx, dweight, dbias.
bool back_outline(Values values, Outline* out) {
  ChannelValues of;
  Tensor* dout = tensor_or_none(values[0]);
  if (!of.read(values[1], values[2], Py_None, values + 3)) return false;
  if (!is_plain(dout, of.x->dtype) || !has_shape_of(dout, of.x)) return false;
  out->dtype = of.x->dtype;
  out->ndim = 1;
  out->shape[0] = of.x->size + 2 * of.task.channels;
  return true;
}

void back_run(Values values, Tensor* out, bool interruptible) {
  ChannelValues of;
  Tensor* dout = as_tensor(values[0]);
  of.read(values[1], values[2], Py_None, values + 3);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::channel_scratch_bytes(of.task)));
  LongWork work(of.x->size, {dout, of.x, out, of.mean, of.variance}, Present(of.weight, of.bias));
  launch::channel_norm_back(of.task, out->data(), dout->data(), scratch.data());
}

}  // namespace

const FusedOp CHANNEL_MOMENTS = {"channel_moments", 1, 0, moments_outline, moments_run};
const FusedOp CHANNEL_NORM = {"channel_norm", 3, 4, norm_outline, norm_run};
const FusedOp CHANNEL_NORM_BACK = {"channel_norm_back", 3, 4, back_outline, back_run};

}  // namespace tessella
