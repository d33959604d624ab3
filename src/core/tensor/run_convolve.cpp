// Tensors to the driver of convolutions.
#include "../threads.h"
#include "images.h"
#include "run.h"

namespace tessella {

namespace {

launch::ConvolveAxis axis_of(const Convolution& call, int axis) {
  return {.image = image_size(call.x, axis),
          .kernel = image_size(call.w, axis),
          .out = image_size(call.y, axis),
          .stride = image_value(call.stride, axis, 1),
          .pad = image_value(call.pad, axis, 0),
          .dilation = image_value(call.dilation, axis, 1)};
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
                            .x = image_operand(call.x),
                            .w = image_operand(call.w),
                            .y = image_operand(call.y),
                            .bias = call.bias ? call.bias->data() : nullptr,
                            .bias_stride = call.bias ? call.bias->strides()[0] : 0,
                            .interruptible = call.interruptible};
  int threads = num_threads();
  Scratch scratch(static_cast<size_t>(launch::convolve_scratch_bytes(task, threads)));
  LongWork work(work_of(task), {call.x, call.w, call.y, call.bias ? call.bias : call.w});
  launch::convolve(task, scratch.data(), threads);
}

}  // namespace tessella
