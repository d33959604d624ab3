// Lines that are runs in memory are computed where they are; all others are gathered and converted
// in scratch.
#include "rows_back.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../kernels/rows.h"
#include "../threads.h"
#include "lines.h"
#include "patch.h"

namespace tessella::launch {

namespace {

constexpr int64_t item_elements = 32768;
constexpr int64_t tile_elements = 4096;  // gathered at once, if a line is not longer

struct OutStrides {
  int64_t values[MAX_NDIM];
  explicit OutStrides(const RowsBackTask& task) {
    int64_t step = 1;
    for (int i = task.ndim - 1; i >= 0; --i) {
      values[i] = step;
      step *= task.shape[i];
    }
  }
};

class RowsBack {
 public:
  explicit RowsBack(const RowsBackTask& task)
      : task_(task),
        out_strides_(task),
        compute_(compute_dtype(task.dtype)),
        length_(task.shape[task.axis]),
        lines_(without_axis<3>(task.axis, task.ndim, task.shape,
                               {task.y.strides, task.dy.strides, out_strides_.values})) {
    const RowsKernels& kernels = TS_CHOSEN(rows_kernels);
    const RowsKernel& kernel = compute_ == DType::float32 ? kernels.float32 : kernels.float64;
    back_ = task.is_log ? kernel.log_softmax_back : kernel.softmax_back;
    int64_t n = std::max<int64_t>(length_, 1);
    group_ = std::max<int64_t>(item_elements / n, 1);
    tile_ = std::clamp<int64_t>(tile_elements / n, 1, group_);
    is_plain_ = task.dtype == compute_;
    has_runs_ = is_plain_ && task.y.strides[task.axis] == 1 && task.dy.strides[task.axis] == 1 &&
                out_strides_.values[task.axis] == 1;
  }

  // Of one worker: y, its gradient, the result, and elements before they are converted.
  int64_t scratch_each() const { return has_runs_ ? 0 : 4 * tile_bytes(); }

  void run(char* scratch) const {
    int64_t total = lines_.size;
    if (total == 0 || length_ == 0) return;
    auto body = [&](int64_t index, int worker) {
      int64_t first = index * group_;
      lines_.walk(first, std::min(total, first + group_),
                  [&](const int64_t (&offsets)[3], int64_t count) {
                    if (has_runs_) return runs(offsets, count);
                    gathered(offsets, count, scratch + worker * scratch_each());
                  });
    };
    parallel((total + group_ - 1) / group_, group_ * length_, task_.interruptible, body,
             task_.workers);
  }

 private:
  int64_t width() const { return itemsize(task_.dtype); }
  int64_t tile_bytes() const { return tile_ * length_ * itemsize(compute_); }

  void runs(const int64_t (&offsets)[3], int64_t count) const {
    RowsRuns runs{count,
                  length_,
                  task_.out + offsets[2] * width(),
                  lines_.inner_stride(2),
                  task_.dy.data + offsets[1] * width(),
                  lines_.inner_stride(1),
                  false};
    back_(runs, task_.y.data + offsets[0] * width(), lines_.inner_stride(0));
  }

  // `count` lines of an operand, as runs of the dtype that is computed in.
  void take(char* to, char* raw, int64_t count, const Operand& from, int64_t offset,
            int64_t step) const {
    copy_patch(width(), count, length_, is_plain_ ? to : raw, {length_, 1},
               from.data + offset * width(), {step, from.strides[task_.axis]});
    if (!is_plain_) cast_kernel(task_.dtype, compute_)(count * length_, to, raw);
  }

  void gathered(const int64_t (&offsets)[3], int64_t count, char* scratch) const {
    char *y = scratch, *dy = y + tile_bytes(), *out = dy + tile_bytes(), *raw = out + tile_bytes();
    for (int64_t i = 0; i < count; i += tile_) {
      int64_t part = std::min(tile_, count - i), steps[3];
      for (int k = 0; k < 3; ++k) steps[k] = lines_.inner_stride(k);
      take(y, raw, part, task_.y, offsets[0] + i * steps[0], steps[0]);
      take(dy, raw, part, task_.dy, offsets[1] + i * steps[1], steps[1]);
      back_({part, length_, out, length_, dy, length_, false}, y, length_);
      if (!is_plain_) cast_kernel(compute_, task_.dtype)(part * length_, raw, out);
      copy_patch(width(), part, length_, task_.out + (offsets[2] + i * steps[2]) * width(),
                 {steps[2], out_strides_.values[task_.axis]}, is_plain_ ? out : raw, {length_, 1});
    }
  }

  const RowsBackTask& task_;
  OutStrides out_strides_;
  DType compute_;
  int64_t length_;
  Runs<3> lines_;
  void (*back_)(const RowsRuns& runs, const void* y, int64_t y_step);
  int64_t group_, tile_;
  bool is_plain_, has_runs_;
};

}  // namespace

int64_t rows_back_scratch_bytes(const RowsBackTask& task) {
  return RowsBack(task).scratch_each() * task.workers;
}

void rows_back(const RowsBackTask& task, void* scratch) {
  RowsBack(task).run(static_cast<char*>(scratch));
}

}  // namespace tessella::launch
