// Tensors to the driver of convolutions.
#include "../threads.h"
#include "images.h"
#include "run.h"
#include "tape.h"

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

// One of x, w and y is written, the others are read.
void note_convolve(Noted* noted, const Convolution& call) {
  auto result = call.result;
  Tensor* all[] = {call.y, call.x, call.w};
  int at = static_cast<int>(result);
  std::vector<Tensor*> read;
  for (int i = 0; i < 3; ++i)
    if (i != at) read.push_back(all[i]);
  bool has_bias = call.bias != nullptr;
  if (has_bias) read.push_back(call.bias);
  std::vector<int64_t> stride(call.stride.begin(), call.stride.end());
  std::vector<int64_t> pad(call.pad.begin(), call.pad.end());
  std::vector<int64_t> dilation(call.dilation.begin(), call.dilation.end());
  constexpr const char* NAMES[] = {"convolve", "convolve_x", "convolve_w"};
  noted->take(
      NAMES[at],
      name_values("stride", stride) + name_values("pad", pad) + name_values("dilation", dilation) +
          name_value("groups", call.groups),
      std::span<Tensor* const>(&all[at], 1), read,
      [=, groups = call.groups, interruptible = call.interruptible](Tensor* const* x, const Draw&) {
        Tensor* again[3];
        int next = 1;
        for (int i = 0; i < 3; ++i) again[i] = i == at ? x[0] : x[next++];
        run_convolve({result, again[1], again[2], again[0], has_bias ? x[3] : nullptr, stride, pad,
                      dilation, groups, interruptible});
      });
}

}  // namespace

void run_convolve(const Convolution& call) {
  Noted noted;
  if (is_taping()) note_convolve(&noted, call);
  if (noted.is_rehearsed()) return;
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
