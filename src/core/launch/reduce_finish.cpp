// The last steps of a reduction: the tree over spans, division for mean, the test for any and all,
// rounding to the dtype of the result, and the way into the output.
#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "patch.h"
#include "reduce_plan.h"

namespace tessella::launch {

namespace {

void put(int64_t count, int64_t bytes, const void* values, char* out, int64_t stride) {
  copy_patch(bytes, 1, count, out, {0, stride}, static_cast<const char*>(values), {0, 1});
}

template <class T>
void divide(int64_t count, void* values, int64_t n) {
  auto* x = static_cast<T*>(values);
  for (int64_t i = 0; i < count; ++i) x[i] /= static_cast<T>(n);
}

void to_truth(int64_t count, void* values) {
  auto* x = static_cast<uint8_t*>(values);
  for (int64_t i = 0; i < count; ++i) x[i] = x[i] != 0;
}

// Partial results lie in scratch as [spans][outputs], indices behind the values.
Partials partials_at(const ReducePlan& plan, void* scratch, int64_t at) {
  char* values = static_cast<char*>(scratch);
  auto* indices = reinterpret_cast<int64_t*>(values + plan.value_bytes());
  return {values + at * itemsize(plan.compute), indices + at};
}

void join_outputs(const ReducePlan& plan, char* out, void* scratch, int64_t first, int64_t count) {
  auto of = [&](int64_t span) { return partials_at(plan, scratch, span * plan.outputs + first); };
  for (int64_t step = 1; step < plan.spans; step *= 2)
    for (int64_t i = 0; i + step < plan.spans; i += 2 * step)
      plan.kernel->join(count, of(i), of(i + step));
  reduce_finish(plan, count, of(0), out + first * itemsize(plan.out), 1);
}

}  // namespace

void reduce_keep(const ReducePlan& plan, void* scratch, int64_t span, int64_t first, int64_t stride,
                 int64_t count, Partials values) {
  auto bytes = itemsize(plan.compute);
  for (int64_t i = 0; i < count; ++i) {
    Partials to = partials_at(plan, scratch, span * plan.outputs + first + i * stride);
    memcpy(to.values, static_cast<char*>(values.values) + i * bytes, static_cast<size_t>(bytes));
    if (plan.has_indices) *to.indices = values.indices[i];
  }
}

void reduce_join(const ReducePlan& plan, char* out, void* scratch, bool interruptible) {
  constexpr int64_t range = 1024;
  int64_t ranges = (plan.outputs + range - 1) / range;
  parallel(ranges, plan.spans * 128, interruptible, [&](int64_t i, int) {
    join_outputs(plan, out, scratch, i * range, std::min(range, plan.outputs - i * range));
  });
}

void reduce_finish(const ReducePlan& plan, int64_t count, Partials values, char* out,
                   int64_t out_stride) {
  if (plan.has_indices) return put(count, sizeof(int64_t), values.indices, out, out_stride);
  if (plan.op == ReduceOp::mean)
    plan.compute == DType::float32 ? divide<float>(count, values.values, plan.n)
                                   : divide<double>(count, values.values, plan.n);
  if (plan.op == ReduceOp::any || plan.op == ReduceOp::all) to_truth(count, values.values);
  if (plan.compute == plan.out)
    return put(count, itemsize(plan.out), values.values, out, out_stride);
  CastFn round = cast_kernel(plan.compute, plan.out);
  uint16_t halves[256];
  for (int64_t i = 0; i < count; i += 256) {
    int64_t part = std::min<int64_t>(256, count - i);
    round(part, halves, static_cast<const float*>(values.values) + i);
    put(part, sizeof halves[0], halves, out + i * out_stride * 2, out_stride);
  }
}

void reduce_fill_empty(const ReducePlan& plan, char* out) {
  bool is_one = plan.op == ReduceOp::prod || plan.op == ReduceOp::all;
  double zero = 0.0;
  double value = is_one ? 1.0 : plan.op == ReduceOp::mean ? zero / zero : 0.0;
  CastFn cast = cast_kernel(DType::float64, plan.out);
  for (int64_t i = 0; i < plan.outputs; ++i) cast(1, out + i * itemsize(plan.out), &value);
}

}  // namespace tessella::launch
