// Pairs are taken a tile at a time, whose losses stay in L1. A tile is a power of two of the blocks
// of a sum (kernels/reduce.h), so that the sums of tiles, joined pairwise, have the bits of `sum`.
#include "pair_loss.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../kernels/reduce.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t tile_elements = 2048;
constexpr int64_t run_tiles = 16;  // of a chunk

int64_t tiles_of(const PairLossTask& task) { return (task.n + tile_elements - 1) / tile_elements; }

template <class T>
class Pairs {
 public:
  explicit Pairs(const PairLossTask& task) : task_(task), is_plain_(task.dtype == COMPUTE) {
    const PairLossKernels& kernels = TS_CHOSEN(pair_loss_kernels);
    auto& of = COMPUTE == DType::float32 ? kernels.float32 : kernels.float64;
    kernel_ = &of[static_cast<int>(task.loss)];
  }

  void losses(char* out) const {
    each_tile([&](int64_t, int64_t first, int64_t n) {
      alignas(64) T xs[tile_elements], ys[tile_elements], results[tile_elements];
      const T *x = taken(task_.x, first, n, xs), *y = taken(task_.y, first, n, ys);
      kernel_->losses(n, target(out, first, results), x, y, task_.p);
      give(out, first, n, results);
    });
  }

  T sum(T* sums) const {
    const ReduceKernel& add = reduce_kernel(ReduceOp::sum, COMPUTE);
    each_tile([&](int64_t tile, int64_t first, int64_t n) {
      alignas(64) T xs[tile_elements], ys[tile_elements], results[tile_elements];
      const T *x = taken(task_.x, first, n, xs), *y = taken(task_.y, first, n, ys);
      kernel_->losses(n, results, x, y, task_.p);
      add.rows(1, n, n, {sums + tile, nullptr}, results, 0);
    });
    int64_t count = tiles_of(task_);
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step) sums[i] = sums[i] + sums[i + step];
    return count ? sums[0] : 0;
  }

  void reduced(char* out, void* scratch) const {
    T value = sum(static_cast<T*>(scratch));
    if (task_.reduction == Reduction::mean) value = value / static_cast<T>(task_.n);
    cast_kernel(COMPUTE, task_.dtype)(1, out, &value);
  }

  void slopes(char* dx, const char* dout) const {
    bool is_each = task_.reduction == Reduction::none;
    double all = 0;
    if (!is_each) cast_kernel(task_.dtype, DType::float64)(1, &all, dout);
    if (task_.reduction == Reduction::mean) all /= static_cast<double>(task_.n);
    each_tile([&](int64_t, int64_t first, int64_t n) {
      alignas(64) T xs[tile_elements], ys[tile_elements], gs[tile_elements], results[tile_elements];
      const T *x = taken(task_.x, first, n, xs), *y = taken(task_.y, first, n, ys);
      const T* g = is_each ? taken(dout, first, n, gs) : nullptr;
      kernel_->slopes(n, target(dx, first, results), g, all, x, y, task_.p);
      give(dx, first, n, results);
    });
  }

 private:
  static constexpr DType COMPUTE = sizeof(T) == 4 ? DType::float32 : DType::float64;

  // body(tile, first element, elements)
  template <class F>
  void each_tile(F&& body) const {
    int64_t tiles = tiles_of(task_), runs = (tiles + run_tiles - 1) / run_tiles;
    parallel(runs, run_tiles * tile_elements, task_.interruptible, [&](int64_t run, int) {
      int64_t last = std::min(tiles, (run + 1) * run_tiles);
      for (int64_t tile = run * run_tiles; tile < last; ++tile) {
        int64_t first = tile * tile_elements;
        body(tile, first, std::min(tile_elements, task_.n - first));
      }
    });
  }

  // Elements of an operand as numbers to compute with: where they are, or converted.
  const T* taken(const char* from, int64_t first, int64_t n, T* space) const {
    const char* at = from + first * itemsize(task_.dtype);
    if (is_plain_) return reinterpret_cast<const T*>(at);
    cast_kernel(task_.dtype, COMPUTE)(n, space, at);
    return space;
  }
  T* target(char* out, int64_t first, T* space) const {
    return is_plain_ ? reinterpret_cast<T*>(out) + first : space;
  }
  void give(char* out, int64_t first, int64_t n, const T* results) const {
    if (is_plain_) return;
    cast_kernel(COMPUTE, task_.dtype)(n, out + first * itemsize(task_.dtype), results);
  }

  const PairLossTask& task_;
  bool is_plain_;
  const PairLossKernel* kernel_;
};

template <class T>
void forward(const PairLossTask& task, char* out, void* scratch) {
  Pairs<T> pairs(task);
  task.reduction == Reduction::none ? pairs.losses(out) : pairs.reduced(out, scratch);
}

}  // namespace

int64_t pair_loss_scratch_bytes(const PairLossTask& task) {
  if (task.reduction == Reduction::none) return 0;
  return tiles_of(task) * itemsize(compute_dtype(task.dtype));
}

void pair_loss(const PairLossTask& task, char* out, void* scratch) {
  task.dtype == DType::float64 ? forward<double>(task, out, scratch)
                               : forward<float>(task, out, scratch);
}

void pair_loss_back(const PairLossTask& task, char* dx, const char* dout) {
  task.dtype == DType::float64 ? Pairs<double>(task).slopes(dx, dout)
                               : Pairs<float>(task).slopes(dx, dout);
}

}  // namespace tessella::launch
