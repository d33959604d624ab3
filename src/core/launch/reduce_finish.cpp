// The last step of a reduction: division for mean, the test for any and all, rounding to the dtype
// of the result, and the way into the output.
#include <algorithm>

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

}  // namespace

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
