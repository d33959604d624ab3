// Parts of a sum: where channels lie side by side a few rows, else a few runs of one channel.
#include "channels.h"

#include <math.h>

#include <algorithm>

#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t item_elements = 16384;
constexpr int64_t part_rows = 64;  // which are added up in the dtype itself

template <class T>
class Channels {
 public:
  Channels(const ChannelTask& task, void* scratch)
      : task_(task),
        has_rows_(task.length == 1),
        elements_(task.n * task.length),
        numbers_(static_cast<T*>(scratch)),
        sums_(numbers_ + 3 * task.channels) {
    const ChannelKernels& kernels = TS_CHOSEN(channel_kernels);
    kernel_ = sizeof(T) == 4 ? &kernels.float32 : &kernels.float64;
    int64_t length = std::max<int64_t>(task.length, 1);
    part_ = has_rows_ ? part_rows : std::max<int64_t>(item_elements / length, 1);
    parts_ = (task.n + part_ - 1) / part_;
  }

  // Three numbers of each channel, and for each part two sums of each.
  int64_t scratch_bytes() const { return (3 + 2 * parts_) * task_.channels * int64_t{sizeof(T)}; }

  void moments(char* out) {
    auto* mean = reinterpret_cast<T*>(out);
    T* variance = mean + task_.channels;
    auto count = static_cast<double>(elements_);
    each_part(
        [&](int64_t, const char* x, double* sums) { sums[0] += kernel_->sum(task_.length, x); },
        [&](int64_t rows, const char* x, T* sums) {
          kernel_->sum_rows(rows, task_.channels, sums, x);
        });
    for (int64_t c = 0; c < task_.channels; ++c) mean[c] = static_cast<T>(total(c, 0) / count);
    each_part(
        [&](int64_t c, const char* x, double* sums) {
          sums[0] += kernel_->squares(task_.length, x, static_cast<double>(mean[c]));
        },
        [&](int64_t rows, const char* x, T* sums) {
          kernel_->square_rows(rows, task_.channels, sums, x, mean);
        });
    for (int64_t c = 0; c < task_.channels; ++c) variance[c] = static_cast<T>(total(c, 0) / count);
  }

  void normalise(char* out) {
    T *scale = numbers_, *shift = scale + task_.channels;
    for (int64_t c = 0; c < task_.channels; ++c) {
      scale[c] = inverse(c) * weight(c);
      shift[c] = task_.bias ? reinterpret_cast<const T*>(task_.bias)[c] : 0;
    }
    auto* mean = reinterpret_cast<const T*>(task_.mean);
    each_run([&](int64_t first, int64_t c, int64_t n) {
      ChannelNumbers of{mean + c, scale + c, shift + c, nullptr};
      int64_t offset = first * int64_t{sizeof(T)};
      kernel_->apply(n, out + offset, task_.x + offset, of, has_rows_);
    });
  }

  void pull(char* out, const char* dout) {
    auto* dweight = reinterpret_cast<T*>(out) + task_.n * task_.channels * task_.length;
    T* dbias = dweight + task_.channels;
    sum_pulls(dout);
    T *scale = numbers_, *shift = scale + task_.channels, *level = shift + task_.channels;
    auto count = static_cast<double>(std::max<int64_t>(elements_, 1));
    for (int64_t c = 0; c < task_.channels; ++c) {
      double all = total(c, 0), moment = total(c, 1), r = static_cast<double>(inverse(c));
      dweight[c] = static_cast<T>(moment * r);
      dbias[c] = static_cast<T>(all);
      scale[c] = inverse(c) * weight(c);
      shift[c] = static_cast<T>(task_.is_batch ? moment * r * r / count : 0);
      level[c] = static_cast<T>(task_.is_batch ? all / count : 0);
    }
    auto* mean = reinterpret_cast<const T*>(task_.mean);
    each_run([&](int64_t first, int64_t c, int64_t n) {
      ChannelNumbers of{mean + c, scale + c, shift + c, level + c};
      int64_t offset = first * int64_t{sizeof(T)};
      kernel_->pull(n, out + offset, dout + offset, task_.x + offset, of, has_rows_);
    });
  }

 private:
  T inverse(int64_t c) const {
    T variance = reinterpret_cast<const T*>(task_.variance)[c];
    return 1 / sqrt(variance + static_cast<T>(task_.eps));
  }
  T weight(int64_t c) const {
    return task_.weight ? reinterpret_cast<const T*>(task_.weight)[c] : 1;
  }

  // The parts of a channel, in order.
  double total(int64_t c, int which) const {
    double sum = 0;
    for (int64_t part = 0; part < parts_; ++part)
      sum += static_cast<double>(sums_[(2 * part + which) * task_.channels + c]);
    return sum;
  }

  void sum_pulls(const char* dout) {
    auto* mean = reinterpret_cast<const T*>(task_.mean);
    each_part(
        [&](int64_t c, const char* x, double* sums) {
          double pulled[2];
          kernel_->pulls(task_.length, dout + (x - task_.x), x, static_cast<double>(mean[c]),
                         pulled);
          sums[0] += pulled[0];
          sums[1] += pulled[1];
        },
        [&](int64_t rows, const char* x, T* sums) {
          kernel_->pull_rows(rows, task_.channels, sums, dout + (x - task_.x), x, mean);
        });
  }

  // Fills the sums of all parts: run(channel, x, sums) adds a run's two sums, rows(count, x, sums)
  // those of rows, the first of all channels and behind them the second.
  template <class Run, class Rows>
  void each_part(Run&& run, Rows&& rows) {
    int64_t width = int64_t{sizeof(T)}, channels = task_.channels;
    if (has_rows_)
      return parallel(parts_, part_ * channels, task_.interruptible, [&](int64_t part, int) {
        int64_t first = part * part_, count = std::min(part_, task_.n - first);
        T* sums = sums_ + 2 * part * channels;
        std::fill_n(sums, 2 * channels, T{0});
        rows(count, task_.x + first * channels * width, sums);
      });
    auto body = [&](int64_t index, int) {
      int64_t part = index / channels, c = index % channels;
      int64_t first = part * part_, last = std::min(task_.n, first + part_);
      double sums[2] = {0, 0};
      for (int64_t i = first; i < last; ++i)
        run(c, task_.x + (i * channels + c) * task_.length * width, sums);
      for (int which = 0; which < 2; ++which)
        sums_[(2 * part + which) * channels + c] = static_cast<T>(sums[which]);
    };
    parallel(parts_ * channels, part_ * task_.length, task_.interruptible, body);
  }

  // body(first element, channel, elements): runs of one channel, or rows of all.
  template <class F>
  void each_run(F&& body) const {
    int64_t n = has_rows_ ? task_.channels : task_.length;
    int64_t runs = has_rows_ ? task_.n : task_.n * task_.channels;
    int64_t group = std::max<int64_t>(2 * item_elements / std::max<int64_t>(n, 1), 1);
    if (n == 0) return;
    parallel((runs + group - 1) / group, group * n, task_.interruptible, [&](int64_t index, int) {
      int64_t last = std::min(runs, (index + 1) * group);
      for (int64_t run = index * group; run < last; ++run)
        body(run * n, has_rows_ ? 0 : run % task_.channels, n);
    });
  }

  const ChannelTask& task_;
  bool has_rows_;
  int64_t elements_, part_, parts_;
  const ChannelKernel* kernel_;
  T *numbers_, *sums_;
};

bool is_wide(const ChannelTask& task) { return task.dtype == DType::float64; }

}  // namespace

int64_t channel_scratch_bytes(const ChannelTask& task) {
  return is_wide(task) ? Channels<double>(task, nullptr).scratch_bytes()
                       : Channels<float>(task, nullptr).scratch_bytes();
}

void channel_moments(const ChannelTask& task, char* out, void* scratch) {
  is_wide(task) ? Channels<double>(task, scratch).moments(out)
                : Channels<float>(task, scratch).moments(out);
}

void channel_norm(const ChannelTask& task, char* out, void* scratch) {
  is_wide(task) ? Channels<double>(task, scratch).normalise(out)
                : Channels<float>(task, scratch).normalise(out);
}

void channel_norm_back(const ChannelTask& task, char* out, const char* dout, void* scratch) {
  is_wide(task) ? Channels<double>(task, scratch).pull(out, dout)
                : Channels<float>(task, scratch).pull(out, dout);
}

}  // namespace tessella::launch
