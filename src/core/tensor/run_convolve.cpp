// Tensors to the driver of convolutions. One axis of places is a column axis under one row.
#include "../threads.h"
#include "run.h"

namespace tessella {

namespace {

// The operand's axis `axis` of two: rows or columns; one that is not there has size 1.
int64_t size_at(const Tensor* x, int axis) {
  int at = x->ndim - 2 + axis;
  return at < 2 ? 1 : x->shape()[at];
}

int64_t value_at(Shape values, int axis, int64_t absent) {
  size_t missing = 2 - values.size();
  return static_cast<size_t>(axis) < missing ? absent : values[static_cast<size_t>(axis) - missing];
}

launch::ConvolveOperand operand_of(const Tensor* x) {
  const int64_t* strides = x->strides();
  int64_t row = x->ndim == 4 ? strides[2] : 0;
  return {x->data(), {strides[0], strides[1], row, strides[x->ndim - 1]}};
}

launch::ConvolveAxis axis_of(const Convolution& call, int axis) {
  return {.image = size_at(call.x, axis),
          .kernel = size_at(call.w, axis),
          .out = size_at(call.y, axis),
          .stride = value_at(call.stride, axis, 1),
          .pad = value_at(call.pad, axis, 0),
          .dilation = value_at(call.dilation, axis, 1)};
}

// Multiply-adds in units of an element of elementwise work; a float, so that it cannot overflow.
int64_t work_of(const launch::ConvolveTask& task) {
  constexpr double PRODUCTS_PER_ELEMENT = 8;
  double work = static_cast<double>(task.batch * task.groups) *
                static_cast<double>(task.in_channels * task.out_channels);
  for (const launch::ConvolveAxis& axis : {task.rows, task.cols})
    work *= static_cast<double>(axis.kernel) * static_cast<double>(axis.out);
  work /= PRODUCTS_PER_ELEMENT;
  return work < 1e18 ? static_cast<int64_t>(work) : INT64_MAX;
}

}  // namespace

void run_convolve(const Convolution& call) {
  launch::ConvolveTask task{.result = call.result,
                            .dtype = call.x->dtype,
                            .batch = call.x->shape()[0],
                            .groups = call.groups,
                            .in_channels = call.w->shape()[1],
                            .out_channels = call.w->shape()[0] / call.groups,
                            .rows = axis_of(call, 0),
                            .cols = axis_of(call, 1),
                            .x = operand_of(call.x),
                            .w = operand_of(call.w),
                            .y = operand_of(call.y),
                            .bias = call.bias ? call.bias->data() : nullptr,
                            .bias_stride = call.bias ? call.bias->strides()[0] : 0,
                            .interruptible = call.interruptible};
  int threads = num_threads();
  Scratch scratch(static_cast<size_t>(launch::convolve_scratch_bytes(task, threads)));
  LongWork work(work_of(task), {call.x, call.w, call.y, call.bias ? call.bias : call.w});
  launch::convolve(task, scratch.data(), threads);
}

}  // namespace tessella
