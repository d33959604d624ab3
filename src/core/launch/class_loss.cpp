// Lines of classes that are runs in memory are read where they lie; all others are gathered and
// converted in scratch. A line's loss is a function of the line alone; losses are then summed in
// the order of `sum`.
#include "class_loss.h"

#include <string.h>

#include <algorithm>
#include <atomic>

#include "../kernels/cast.h"
#include "../kernels/reduce.h"
#include "../kernels/rows.h"
#include "../threads.h"
#include "lines.h"
#include "patch.h"

namespace tessella::launch {

namespace {

constexpr int64_t item_elements = 32768;
constexpr int64_t near_elements = 4096;  // of lines that are taken together: they stay in L1

// The axes but that of the classes: operand 0 is x, 1 its gradient, 2 the target.
Runs<3> lines_of(const ClassLossTask& task) {
  int64_t dx_strides[MAX_NDIM], target_strides[MAX_NDIM], dx_step = 1, target_step = 1;
  for (int i = task.ndim - 1; i >= 0; --i) {
    dx_strides[i] = dx_step;
    dx_step *= task.shape[i];
    target_strides[i] = target_step;
    if (i != task.axis) target_step *= task.shape[i];
  }
  return without_axis<3>(task.axis, task.ndim, task.shape,
                         {task.strides, dx_strides, target_strides});
}

int64_t inner_size(const ClassLossTask& task) {  // the stride of the classes in a contiguous x
  int64_t size = 1;
  for (int i = task.axis + 1; i < task.ndim; ++i) size *= task.shape[i];
  return size;
}

// What one number for each line is kept in while a few lines are worked on.
template <class T>
struct PerLine {
  alignas(64) T values[REDUCE_MAX_COLUMNS];
};

template <class T>
class ClassLoss {
 public:
  ClassLoss(const ClassLossTask& task, void* scratch)
      : task_(task),
        lines_(lines_of(task)),
        classes_(task.shape[task.axis]),
        dx_stride_(inner_size(task)),
        tile_(std::clamp<int64_t>(near_elements / std::max<int64_t>(classes_, 1), 1,
                                  REDUCE_MAX_COLUMNS)),
        is_plain_(task.dtype == COMPUTE),
        scratch_(static_cast<char*>(scratch)) {
    const RowsKernels& kernels = TS_CHOSEN(rows_kernels);
    kernel_ = COMPUTE == DType::float32 ? &kernels.float32 : &kernels.float64;
  }

  int64_t scratch_bytes(bool is_back) const {
    return weight_bytes() + tiles_bytes() * task_.workers +
           (is_back ? 0 : lines_.size * int64_t{sizeof(T)});
  }

  int64_t forward(char* out) {
    if (task_.weight) take_weights();
    auto* losses = reinterpret_cast<T*>(scratch_ + weight_bytes() + tiles_bytes() * task_.workers);
    bool is_direct = task_.reduction == Reduction::none && is_plain_;
    if (is_direct) losses = reinterpret_cast<T*>(out);
    std::atomic<int64_t> first_bad{lines_.size};
    for_each_tile([&](const Tile& tile) {
      int64_t bad = tile_losses(tile, losses);
      for (int64_t before = first_bad; bad < before;)
        if (first_bad.compare_exchange_weak(before, bad)) break;
    });
    if (first_bad < lines_.size) return first_bad;
    if (!is_direct) finish(losses, out);
    return ALL_CLASSES_GOOD;
  }

  void backward(char* dx, const char* dout) {
    if (task_.weight) take_weights();
    dx_ = dx;
    if (task_.reduction == Reduction::none) {
      dout_ = dout;
    } else {
      double total = task_.reduction == Reduction::mean ? total_weight() : 1;
      slope_ = static_cast<T>(read(dout, 0) / total);
    }
    if (task_.is_log) return picked_back();
    for_each_tile([&](const Tile& tile) { tile_back(tile); });
  }

 private:
  static constexpr DType COMPUTE = sizeof(T) == 4 ? DType::float32 : DType::float64;

  // A few lines as runs of T, with the places of the first line's target and dx.
  struct Tile {
    int64_t count;
    const T* x;
    int64_t step;
    int64_t target;
    int64_t dx;
    char* scratch;  // for results, where dx is not written directly
  };

  static int64_t aligned(int64_t elements) {
    return (elements * int64_t{sizeof(T)} + 63) / 64 * 64;
  }
  int64_t tile_bytes() const { return aligned(std::min(tile_, lines_.size) * classes_); }
  // Of one worker: lines, results, and results that are rounded.
  int64_t tiles_bytes() const { return has_runs() && is_direct() ? 0 : 3 * tile_bytes(); }
  int64_t weight_bytes() const { return task_.weight ? aligned(classes_) : 0; }

  void take_weights() {
    weights_ = reinterpret_cast<T*>(scratch_);
    cast_kernel(task_.dtype, COMPUTE)(classes_, weights_, task_.weight);
    if (task_.smoothing > 0)
      for (int64_t c = 0; c < classes_; ++c) all_weights_ += weights_[c];
  }

  double read(const char* values, int64_t at) const {
    double out;
    cast_kernel(task_.dtype, DType::float64)(1, &out, values + at * itemsize(task_.dtype));
    return out;
  }

  bool has_runs() const { return is_plain_ && task_.strides[task_.axis] == 1; }
  bool is_direct() const { return is_plain_ && dx_stride_ == 1; }  // dx is written where it is

  // Tiles do not depend on the threads.
  template <class F>
  void for_each_tile(F&& body) {
    int64_t total = lines_.size, classes = std::max<int64_t>(classes_, 1);
    if (total == 0) return;
    int64_t group = std::max<int64_t>(item_elements / classes / tile_, 1) * tile_;
    auto chunk = [&](int64_t index, int worker) {
      char* own = scratch_ + weight_bytes() + tiles_bytes() * worker;
      int64_t first = index * group;
      lines_.walk(first, std::min(first + group, total),
                  [&](const int64_t (&offsets)[3], int64_t count) {
                    for (int64_t i = 0; i < count; i += tile_)
                      body(take(offsets, i, std::min(tile_, count - i), own));
                  });
    };
    parallel((total + group - 1) / group, group * classes, task_.interruptible, chunk,
             task_.workers);
  }

  // Makes lines runs of T, in scratch where they are not.
  Tile take(const int64_t (&offsets)[3], int64_t i, int64_t count, char* own) const {
    int64_t width = itemsize(task_.dtype), step = lines_.inner_stride(0);
    const char* from = task_.data + (offsets[0] + i * step) * width;
    Tile tile{count,
              nullptr,
              step,
              offsets[2] + i * lines_.inner_stride(2),
              offsets[1] + i * lines_.inner_stride(1),
              own + tile_bytes()};
    if (has_runs()) {
      tile.x = reinterpret_cast<const T*>(from);
      return tile;
    }
    char* raw = is_plain_ ? own : tile.scratch;
    copy_patch(width, count, classes_, raw, {classes_, 1}, from, {step, task_.strides[task_.axis]});
    if (!is_plain_) cast_kernel(task_.dtype, COMPUTE)(count * classes_, own, raw);
    tile.x = reinterpret_cast<const T*>(own);
    tile.step = classes_;
    return tile;
  }

  int64_t place(const Tile& tile, int64_t line) const {
    return tile.target + line * lines_.inner_stride(2);
  }
  // Read once: another thread may change it after it was looked at.
  int64_t class_at(int64_t at) const {
    return *static_cast<const volatile int64_t*>(task_.target + at);
  }
  bool is_class(int64_t c) const { return c >= 0 && c < classes_; }
  bool counts(int64_t c) const { return c != task_.ignore_index && is_class(c); }
  T weight_of(int64_t c) const { return weights_ ? weights_[c] : 1; }

  // The greatest, and the logarithm of the sum of exponentials, of each line.
  RowsRuns measure(const Tile& tile, T* out, int64_t step, PerLine<T>& shift,
                   PerLine<T>& sum) const {
    RowsRuns runs{tile.count, classes_, out, step, tile.x, tile.step, false};
    reduce_kernel(ReduceOp::max, COMPUTE)
        .rows(tile.count, classes_, tile.step, {shift.values, nullptr}, tile.x, 0);
    kernel_->exponential_sums(runs, shift.values, sum.values);
    return runs;
  }

  // Gives the first place whose class is bad, or one beyond all.
  int64_t tile_losses(const Tile& tile, T* losses) const {
    PerLine<T> shift, sum, spread;
    bool is_smoothed = task_.smoothing > 0;
    int64_t bad = lines_.size;
    if (classes_ > 0 && !task_.is_log) {
      RowsRuns runs = measure(tile, nullptr, 0, shift, sum);
      kernel_->logarithms(tile.count, sum.values);
      if (is_smoothed) kernel_->weighted_sums(runs, shift.values, weights_, spread.values);
    }
    auto kept = static_cast<T>(1 - task_.smoothing);
    auto share = static_cast<T>(task_.smoothing / static_cast<double>(classes_));
    T all = weights_ ? all_weights_ : static_cast<T>(classes_);
    for (int64_t r = 0; r < tile.count; ++r) {
      int64_t at = place(tile, r), c = class_at(at);
      losses[at] = 0;
      if (c == task_.ignore_index) continue;
      if (!is_class(c)) {
        bad = std::min(bad, at);
        continue;
      }
      T chosen = tile.x[r * tile.step + c];
      T loss = task_.is_log ? -chosen : sum.values[r] - (chosen - shift.values[r]);
      loss = loss * weight_of(c);
      if (is_smoothed) loss = kept * loss + share * (all * sum.values[r] - spread.values[r]);
      losses[at] = loss;
    }
    return bad;
  }

  void finish(const T* losses, char* out) {
    auto round_to = cast_kernel(COMPUTE, task_.dtype);
    if (task_.reduction == Reduction::none) return round_to(lines_.size, out, losses);
    T sum = 0;
    if (lines_.size > 0)
      reduce_kernel(ReduceOp::sum, COMPUTE)
          .rows(1, lines_.size, lines_.size, {&sum, nullptr}, losses, 0);
    if (task_.reduction == Reduction::mean) sum = sum / static_cast<T>(total_weight());
    round_to(1, out, &sum);
  }

  double total_weight() const {
    if (!weights_) {
      int64_t count = 0;
      for (int64_t i = 0; i < lines_.size; ++i) count += counts(class_at(i));
      return static_cast<double>(count);
    }
    double total = 0;
    for (int64_t i = 0; i < lines_.size; ++i)
      if (int64_t c = class_at(i); counts(c)) total += static_cast<double>(weight_of(c));
    return total;
  }

  T slope_at(int64_t at) const { return dout_ ? static_cast<T>(read(dout_, at)) : slope_; }

  void tile_back(const Tile& tile) const {
    PerLine<T> shift, sum, share;
    T* out = is_direct() ? reinterpret_cast<T*>(dx_) + tile.dx : reinterpret_cast<T*>(tile.scratch);
    int64_t step = is_direct() ? lines_.inner_stride(1) : classes_;
    RowsRuns runs = measure(tile, out, step, shift, sum);
    auto kept = static_cast<T>(1 - task_.smoothing);
    auto part = static_cast<T>(task_.smoothing / static_cast<double>(classes_));
    T all = weights_ ? all_weights_ : static_cast<T>(classes_);
    bool is_smoothed = task_.smoothing > 0;
    for (int64_t r = 0; r < tile.count; ++r) {
      int64_t at = place(tile, r), c = class_at(at);
      T slope = counts(c) ? slope_at(at) : 0, own = counts(c) ? slope * weight_of(c) * kept : 0;
      share.values[r] = slope * part;
      sum.values[r] = (own + (is_smoothed ? share.values[r] * all : 0)) / sum.values[r];
    }
    kernel_->scaled(runs, sum.values, is_smoothed ? share.values : nullptr, weights_);
    for (int64_t r = 0; r < tile.count; ++r) {
      int64_t at = place(tile, r), c = class_at(at);
      if (counts(c))
        out[r * step + c] -= slope_at(at) * weight_of(c) * kept;
      else
        std::fill_n(out + r * step, classes_, T{0});
    }
    if (!is_direct()) put(tile);
  }

  // Results out of scratch, to where dx is.
  void put(const Tile& tile) const {
    int64_t width = itemsize(task_.dtype);
    char* from = tile.scratch;
    if (!is_plain_) {
      char* rounded = from + tile_bytes();
      cast_kernel(COMPUTE, task_.dtype)(tile.count * classes_, rounded, from);
      from = rounded;
    }
    copy_patch(width, tile.count, classes_, dx_ + tile.dx * width,
               {lines_.inner_stride(1), dx_stride_}, from, {classes_, 1});
  }

  // Zeros, and one number for each line.
  void picked_back() const {
    int64_t width = itemsize(task_.dtype), bytes = lines_.size * classes_ * width;
    constexpr int64_t part = 1 << 18;
    parallel((bytes + part - 1) / part, part / 16, task_.interruptible, [&](int64_t i, int) {
      memset(dx_ + i * part, 0, static_cast<size_t>(std::min(part, bytes - i * part)));
    });
    lines_.walk(0, lines_.size, [&](const int64_t (&offsets)[3], int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t at = offsets[2] + i * lines_.inner_stride(2), c = class_at(at);
        if (!counts(c)) continue;
        T value = -slope_at(at) * weight_of(c);
        int64_t to = offsets[1] + i * lines_.inner_stride(1) + c * dx_stride_;
        cast_kernel(COMPUTE, task_.dtype)(1, dx_ + to * width, &value);
      }
    });
  }

  const ClassLossTask& task_;
  Runs<3> lines_;
  int64_t classes_, dx_stride_, tile_;
  bool is_plain_;
  char* scratch_;
  const RowsKernel* kernel_;
  T* weights_ = nullptr;
  T all_weights_ = 0;
  char* dx_ = nullptr;
  const char* dout_ = nullptr;  // one gradient for each line
  T slope_ = 0;                 // or one for all
};

bool is_wide(const ClassLossTask& task) { return task.dtype == DType::float64; }

}  // namespace

int64_t class_loss_scratch_bytes(const ClassLossTask& task) {
  return is_wide(task) ? ClassLoss<double>(task, nullptr).scratch_bytes(false)
                       : ClassLoss<float>(task, nullptr).scratch_bytes(false);
}

int64_t class_loss(const ClassLossTask& task, char* out, void* scratch) {
  return is_wide(task) ? ClassLoss<double>(task, scratch).forward(out)
                       : ClassLoss<float>(task, scratch).forward(out);
}

int64_t class_loss_back_scratch_bytes(const ClassLossTask& task) {
  return is_wide(task) ? ClassLoss<double>(task, nullptr).scratch_bytes(true)
                       : ClassLoss<float>(task, nullptr).scratch_bytes(true);
}

void class_loss_back(const ClassLossTask& task, char* dx, const char* dout, void* scratch) {
  is_wide(task) ? ClassLoss<double>(task, scratch).backward(dx, dout)
                : ClassLoss<float>(task, scratch).backward(dx, dout);
}

}  // namespace tessella::launch
