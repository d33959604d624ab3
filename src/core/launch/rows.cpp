// Softmax and log_softmax. Lines that are runs in memory, or lie side by side, are computed where
// they are; all others are gathered and converted in scratch.
#include "rows.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../kernels/reduce.h"
#include "../kernels/rows.h"
#include "../threads.h"
#include "lines.h"
#include "patch.h"

namespace tessella::launch {

namespace {

constexpr int64_t few_columns = 8;
constexpr int64_t item_elements = 32768;
constexpr int64_t tile_elements = 8192;  // gathered at once, if a line is not longer
constexpr int64_t near_elements = 2048;  // arguments and results stay in L1 together

// How many lines side by side are taken together. Each row may lie in a page of its own, so long
// lines are taken as wide as can be; very long ones would have too many levels of partial sums.
constexpr int64_t column_group(int64_t length) {
  if (length > 1 << 20) return 16;
  return std::clamp<int64_t>(length > 512 ? REDUCE_MAX_COLUMNS : item_elements / length, 64,
                             REDUCE_MAX_COLUMNS);
}

enum class Path : uint8_t { runs, columns, gathered };

struct Plan {
  bool is_log;
  Path path;
  DType dtype, compute;
  Lines lines;
  const ReduceKernel *max, *sum;
  const RowsKernel* kernel;
  int64_t bytes;  // of an element in `compute`
  int64_t group;  // lines of an item
  int64_t tile;   // lines that are gathered at once

  explicit Plan(const RowsTask& task);
  int64_t scratch_each() const {  // of one worker: raw elements, arguments, results
    return path == Path::gathered ? tile * lines.length * bytes * 3 : 0;
  }
};

Plan::Plan(const RowsTask& task)
    : is_log(task.is_log),
      dtype(task.dtype),
      compute(compute_dtype(task.dtype)),
      lines(task.ndim, task.shape, task.strides, task.out.strides, task.axis),
      max(&reduce_kernel(ReduceOp::max, compute)),
      sum(&reduce_kernel(ReduceOp::sum, compute)),
      bytes(itemsize(compute)) {
  const RowsKernels& kernels = TS_CHOSEN(rows_kernels);
  kernel = compute == DType::float32 ? &kernels.float32 : &kernels.float64;
  int64_t n = std::max<int64_t>(lines.length, 1);
  bool is_plain = dtype == compute;
  group = std::clamp<int64_t>(item_elements / n, 1, REDUCE_MAX_COLUMNS);
  tile = std::clamp<int64_t>(tile_elements / n, 1, group);
  if (is_plain && lines.stride == 1 && lines.out_stride == 1) {
    path = Path::runs;
  } else if (is_plain && lines.step() == 1 && lines.out_step() == 1 &&
             lines.others.inner_size() >= few_columns) {
    path = Path::columns;
    group = column_group(n);
  } else {
    path = Path::gathered;
  }
}

// Lines that are runs in memory. Short ones are taken several at a time, which stay in L1.
void softmax_runs(const Plan& plan, int64_t count, char* out, int64_t out_step, const char* x,
                  int64_t step) {
  alignas(64) char shift[REDUCE_MAX_COLUMNS * 8];
  alignas(64) char sum[REDUCE_MAX_COLUMNS * 8];
  int64_t n = plan.lines.length;
  int64_t most = std::clamp<int64_t>(near_elements / n, 1, REDUCE_MAX_COLUMNS);
  for (int64_t i = 0; i < count; i += most) {
    int64_t part = std::min(most, count - i);
    RowsRuns runs{part, n,    out + i * out_step * plan.bytes, out_step, x + i * step * plan.bytes,
                  step, false};
    plan.max->rows(part, n, step, {shift, nullptr}, runs.x, 0);
    plan.kernel->exponential_sums(runs, shift, sum);
    if (plan.is_log) {
      plan.kernel->logarithms(part, sum);
      plan.kernel->differences(runs, shift, sum);
    } else {
      plan.kernel->reciprocals(part, sum);
      plan.kernel->products(runs, sum);
    }
  }
}

// Reduces columns of any length: blocks, then the tree over blocks, as a stack of columns.
class ColumnReduction {
 public:
  ColumnReduction(const ReduceKernel& kernel, int64_t columns, int64_t bytes)
      : kernel_(kernel), columns_(columns), bytes_(bytes), block_(reduce_block(bytes)) {}

  // out[j] = the n elements at x + j, `stride` apart. prepare(begin, end) is called before those
  // elements are read.
  template <class Prepare>
  void reduce(int64_t n, const char* x, int64_t stride, void* out, Prepare prepare) {
    int top = 0;
    int64_t offsets[REDUCE_MAX_BLOCK];
    for (int64_t i = 0; i < std::min(block_, n); ++i) offsets[i] = i * stride;
    for (int64_t b = 0; b * block_ < n; ++b) {
      int64_t begin = b * block_, end = std::min(n, begin + block_);
      prepare(begin, end);
      kernel_.columns(end - begin, columns_, offsets, level(top), x + begin * stride * bytes_, 0);
      for (int64_t bits = b; bits & 1; bits >>= 1) join(top--);
      ++top;
    }
    for (--top; top > 0;) join(top--);
    memcpy(out, stack_, static_cast<size_t>(columns_ * bytes_));
  }

 private:
  Partials level(int i) { return {stack_ + i * columns_ * bytes_, nullptr}; }
  void join(int top) { kernel_.join(columns_, level(top - 1), level(top)); }

  // 2^20 float64 are 2^11 blocks, so at most 12 levels of 512; 16 columns may have 64 levels.
  alignas(64) char stack_[12 * REDUCE_MAX_COLUMNS * 8];
  const ReduceKernel& kernel_;
  int64_t columns_, bytes_, block_;
};

// `count` lines side by side.
void softmax_columns(const Plan& plan, int64_t count, char* out, const char* x) {
  alignas(64) char shift[REDUCE_MAX_COLUMNS * 8];
  alignas(64) char sum[REDUCE_MAX_COLUMNS * 8];
  int64_t n = plan.lines.length;
  int64_t stride = plan.lines.stride * plan.bytes, out_stride = plan.lines.out_stride * plan.bytes;
  ColumnReduction(*plan.max, count, plan.bytes)
      .reduce(n, x, plan.lines.stride, shift, [](int64_t, int64_t) {});
  auto row = [&](int64_t i) {
    return RowsRuns{1, count, out + i * out_stride, 0, x + i * stride, 0, true};
  };
  auto exponentials = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) plan.kernel->exponentials(row(i), shift);
  };
  ColumnReduction(*plan.sum, count, plan.bytes)
      .reduce(n, out, plan.lines.out_stride, sum, exponentials);
  plan.is_log ? plan.kernel->logarithms(count, sum) : plan.kernel->reciprocals(count, sum);
  for (int64_t i = 0; i < n; ++i)
    plan.is_log ? plan.kernel->differences(row(i), shift, sum) : plan.kernel->products(row(i), sum);
}

// `count` lines of any layout, through scratch of scratch_each() bytes.
void softmax_gathered(const Plan& plan, int64_t count, char* out, const char* x, char* scratch) {
  int64_t n = plan.lines.length, size = plan.tile * n * plan.bytes;
  char *raw = scratch, *arguments = scratch + size, *results = scratch + 2 * size;
  bool is_plain = plan.dtype == plan.compute;
  for (int64_t i = 0; i < count; i += plan.tile) {
    int64_t part = std::min(plan.tile, count - i);
    int64_t width = itemsize(plan.dtype);
    copy_patch(width, part, n, is_plain ? arguments : raw, {n, 1},
               x + i * plan.lines.step() * width, {plan.lines.step(), plan.lines.stride});
    if (!is_plain) cast_kernel(plan.dtype, plan.compute)(part * n, arguments, raw);
    softmax_runs(plan, part, results, n, arguments, n);
    if (!is_plain) cast_kernel(plan.compute, plan.dtype)(part * n, raw, results);
    copy_patch(width, part, n, out + i * plan.lines.out_step() * width,
               {plan.lines.out_step(), plan.lines.out_stride}, is_plain ? results : raw, {n, 1});
  }
}

}  // namespace

int64_t rows_scratch_bytes(const RowsTask& task) {
  return Plan(task).scratch_each() * task.workers;
}

void rows(const RowsTask& task, void* scratch) {
  Plan plan(task);
  int64_t total = plan.lines.others.size;
  if (total == 0 || plan.lines.length == 0) return;
  int64_t groups = (total + plan.group - 1) / plan.group;
  auto body = [&](int64_t index, int worker) {
    char* own = static_cast<char*>(scratch) + worker * plan.scratch_each();
    int64_t first = index * plan.group, last = std::min(total, first + plan.group);
    int64_t width = itemsize(plan.dtype);
    plan.lines.others.walk(first, last, [&](const int64_t (&offsets)[2], int64_t count) {
      const char* x = task.data + offsets[0] * width;
      char* out = task.out.data + offsets[1] * width;
      if (plan.path == Path::runs)
        return softmax_runs(plan, count, out, plan.lines.out_step(), x, plan.lines.step());
      if (plan.path == Path::columns) return softmax_columns(plan, count, out, x);
      softmax_gathered(plan, count, out, x, own);
    });
  };
  parallel(groups, plan.group * plan.lines.length, task.interruptible, body, task.workers);
}

}  // namespace tessella::launch
