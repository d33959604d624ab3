// Each block of rows has sums of its own for the gradients of weight and bias; they are joined in
// the order of `sum` over the blocks.
#include "norm.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../kernels/streaming.h"
#include "../threads.h"
#include "reduce.h"

namespace tessella::launch {

namespace {

constexpr int64_t item_elements = 32768;
constexpr int64_t tile_elements = 4096;  // converted at once, if a row is not longer

// Rows that share sums: so many that sums are small beside x, and few enough for several threads.
int64_t block_rows(const NormTask& task) {
  return std::clamp<int64_t>(item_elements / std::max<int64_t>(task.n, 1), 16, 64);
}
int64_t blocks_of(const NormTask& task) {
  return (task.rows + block_rows(task) - 1) / block_rows(task);
}

class Norm {
 public:
  Norm(const NormTask& task, void* scratch)
      : task_(task),
        compute_(compute_dtype(task.dtype)),
        is_plain_(task.dtype == compute_),
        width_(itemsize(task.dtype)),
        bytes_(itemsize(compute_)),
        tile_(std::clamp<int64_t>(tile_elements / std::max<int64_t>(task.n, 1), 1, 64)),
        scratch_(static_cast<char*>(scratch)) {
    const NormKernels& kernels = TS_CHOSEN(norm_kernels);
    kernel_ = compute_ == DType::float32 ? &kernels.float32 : &kernels.float64;
  }

  // Weight and bias, then for each worker three tiles and sums: none of it where nothing is
  // converted. Then the sums of blocks, and what joining them takes.
  int64_t scratch_bytes(bool is_back) const {
    int64_t bytes = is_plain_ ? 0 : vectors_bytes() + own_bytes() * task_.workers;
    if (!is_back || !task_.weight) return bytes;
    Joining joining(*this, nullptr);
    return bytes + sums_bytes() + 2 * task_.n * bytes_ + reduce_scratch_bytes(joining.task);
  }

  void forward(char* out) {
    take_vectors();
    int64_t group = std::max<int64_t>(item_elements / std::max<int64_t>(task_.n, 1), 1);
    auto body = [&](int64_t index, int worker) {
      int64_t first = index * group, last = std::min(task_.rows, first + group);
      each_tile(first, last, worker, [&](int64_t row, int64_t rows, char* own) {
        NormRows of = rows_of(row, rows, own);
        char* to = is_plain_ ? out + row * task_.n * width_ : own + tile_bytes();
        kernel_->forward(of, to);
        give(out, row, rows, to);
      });
    };
    run((task_.rows + group - 1) / group, group, body);
  }

  void backward(char* out, const char* dout) {
    take_vectors();
    char* sums = scratch_ + (is_plain_ ? 0 : vectors_bytes() + own_bytes() * task_.workers);
    int64_t group = block_rows(task_);
    auto body = [&](int64_t block, int worker) {
      int64_t first = block * group, last = std::min(task_.rows, first + group);
      char* own_sums = task_.weight ? sums + block * 2 * task_.n * bytes_ : nullptr;
      if (is_plain_) return pull(rows_of(first, last - first, nullptr), out, dout, first, own_sums);
      pull_tiles(first, last, worker, out, dout, own_sums);
    };
    run(blocks_of(task_), group, body);
    if (task_.weight) join(sums, out + task_.rows * task_.n * width_);
  }

 private:
  // The sums of blocks as a tensor (blocks, 2 n) that is reduced over its first axis.
  struct Joining {
    int64_t shape[2], strides[2];
    ReduceTask task;
    Joining(const Norm& norm, char* sums)
        : shape{blocks_of(norm.task_), 2 * norm.task_.n}, strides{2 * norm.task_.n, 1} {
      task = {.op = ReduceOp::sum,
              .dtype = norm.compute_,
              .ndim = 2,
              .shape = shape,
              .strides = strides,
              .data = sums,
              .reduced_axes = 1,
              .out = nullptr,
              .interruptible = norm.task_.interruptible};
    }
    Joining(const Joining&) = delete;
    Joining& operator=(const Joining&) = delete;
  };

  int64_t vectors_bytes() const { return 2 * task_.n * bytes_; }
  int64_t tile_bytes() const { return tile_ * task_.n * bytes_; }
  int64_t own_bytes() const { return 3 * tile_bytes() + 2 * task_.n * bytes_; }
  int64_t sums_bytes() const { return blocks_of(task_) * 2 * task_.n * bytes_; }

  void take_vectors() {
    weight_ = task_.weight;
    bias_ = task_.bias;
    if (is_plain_) return;
    auto convert = cast_kernel(task_.dtype, compute_);
    if (weight_) convert(task_.n, scratch_, weight_), weight_ = scratch_;
    char* second = scratch_ + task_.n * bytes_;
    if (bias_) convert(task_.n, second, bias_), bias_ = second;
  }

  template <class F>
  void run(int64_t chunks, int64_t group, F&& body) const {
    if (task_.n > 0) parallel(chunks, group * task_.n, task_.interruptible, body, task_.workers);
  }

  // body(first row, rows, scratch of this worker): all rows at once where nothing is converted.
  template <class F>
  void each_tile(int64_t first, int64_t last, int worker, F&& body) const {
    if (is_plain_) return body(first, last - first, static_cast<char*>(nullptr));
    char* own = scratch_ + vectors_bytes() + own_bytes() * worker;
    for (int64_t row = first; row < last; row += tile_) body(row, std::min(tile_, last - row), own);
  }

  NormRows rows_of(int64_t row, int64_t rows, char* own) const {
    const char* x = task_.x + row * task_.n * width_;
    if (!is_plain_) {
      cast_kernel(task_.dtype, compute_)(rows * task_.n, own, x);
      x = own;
    }
    bool is_streamed = is_plain_ && task_.rows * task_.n * width_ >= STREAMED_BYTES;
    return {rows, task_.n, x, weight_, bias_, task_.eps, task_.is_centred, is_streamed};
  }

  void give(char* out, int64_t row, int64_t rows, const char* from) const {
    if (!is_plain_)
      cast_kernel(compute_, task_.dtype)(rows * task_.n, out + row * task_.n * width_, from);
  }

  void pull(const NormRows& of, char* out, const char* dout, int64_t row, char* sums) const {
    int64_t offset = row * task_.n * width_;
    kernel_->backward(of, dout + offset, out + offset, sums,
                      sums ? sums + task_.n * bytes_ : nullptr);
  }

  // Converted tiles give sums of their own, which are added up.
  void pull_tiles(int64_t first, int64_t last, int worker, char* out, const char* dout,
                  char* sums) const {
    int64_t n = task_.n;
    if (sums) std::fill_n(reinterpret_cast<float*>(sums), 2 * n, 0.0f);
    each_tile(first, last, worker, [&](int64_t row, int64_t rows, char* own) {
      NormRows of = rows_of(row, rows, own);
      char *g = own + tile_bytes(), *dx = g + tile_bytes(), *part = dx + tile_bytes();
      cast_kernel(task_.dtype, compute_)(rows * n, g, dout + row * n * width_);
      kernel_->backward(of, g, dx, sums ? part : nullptr, sums ? part + n * bytes_ : nullptr);
      give(out, row, rows, dx);
      if (!sums) return;
      auto *to = reinterpret_cast<float*>(sums), *from = reinterpret_cast<float*>(part);
      for (int64_t i = 0; i < 2 * n; ++i) to[i] += from[i];
    });
  }

  void join(char* sums, char* out) const {
    Joining joining(*this, sums);
    char* results = sums + sums_bytes();
    joining.task.out = is_plain_ ? out : results;
    reduce(joining.task, results + 2 * task_.n * bytes_);
    if (!is_plain_) cast_kernel(compute_, task_.dtype)(2 * task_.n, out, results);
  }

  const NormTask& task_;
  DType compute_;
  bool is_plain_;
  int64_t width_, bytes_, tile_;
  char* scratch_;
  const NormKernel* kernel_;
  const char *weight_ = nullptr, *bias_ = nullptr;
};

}  // namespace

int64_t norm_scratch_bytes(const NormTask& task) {
  return Norm(task, nullptr).scratch_bytes(false);
}

void norm(const NormTask& task, char* out, void* scratch) { Norm(task, scratch).forward(out); }

int64_t norm_back_scratch_bytes(const NormTask& task) {
  return Norm(task, nullptr).scratch_bytes(true);
}

void norm_back(const NormTask& task, char* out, const char* dout, void* scratch) {
  Norm(task, scratch).backward(out, dout);
}

}  // namespace tessella::launch
