// Gradients of operations on lines along one axis: softmax and log_softmax.
#include "../launch/rows_back.h"

#include "../threads.h"
#include "arguments.h"
#include "fused.h"

namespace tessella {

namespace {

// dy, y, axis
bool outline(Values values, Outline* out) {
  Tensor *dy = tensor_or_none(values[0]), *y = tensor_or_none(values[1]);
  int64_t axis;
  if (!dy || !y || y->ndim == 0 || kind(y->dtype) != DKind::floating) return false;
  if (dy->dtype != y->dtype || !has_shape_of(dy, y)) return false;
  out->take(y);
  return parse_axis(values[2], y->ndim, &axis);
}

template <bool IsLog>
void run(Values values, Tensor* out, bool interruptible) {
  constexpr int64_t PASSES = 3;
  Tensor *dy = as_tensor(values[0]), *y = as_tensor(values[1]);
  int64_t axis = 0;
  parse_axis(values[2], y->ndim, &axis);
  launch::RowsBackTask task{.is_log = IsLog,
                            .dtype = y->dtype,
                            .ndim = y->ndim,
                            .shape = y->shape(),
                            .axis = static_cast<int>(axis),
                            .y = {y->data(), y->dtype, y->strides()},
                            .dy = {dy->data(), dy->dtype, dy->strides()},
                            .out = out->data(),
                            .interruptible = interruptible,
                            .workers = num_threads()};
  Scratch scratch(static_cast<size_t>(launch::rows_back_scratch_bytes(task)));
  LongWork work(y->size * PASSES, {dy, y, out});
  launch::rows_back(task, scratch.data());
}

}  // namespace

const FusedOp SOFTMAX_BACK = {"softmax_back", 2, 1, outline, run<false>};
const FusedOp LOG_SOFTMAX_BACK = {"log_softmax_back", 2, 1, outline, run<true>};

}  // namespace tessella
