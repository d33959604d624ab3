// Products with rows of x that were made int8, by the kernels of block_products.h; and exact ones,
// by the matrix product on tiles of rows of w that are expanded one after the other.
#include <string.h>

#include <algorithm>

#include "../kernels/cast.h"
#include "../threads.h"
#include "blocks.h"
#include "matmul_plan.h"

namespace tessella::launch {

namespace {

// --- rows of int8 --------------------------------------------------------------------------------

constexpr int64_t FEW_ROWS = 2;     // of x: beyond, blocks are worth unpacking
constexpr int64_t MOST_ROWS = 512;  // of x that are made int8 at once
// What a chunk takes: an eighth of the work, so that threads of unequal speed end together.
constexpr double LEAST_NS = 10e3, MOST_NS = 40e3;
constexpr double CHUNKS = 8;
// What a number of w takes: to be multiplied with one row of x where it lies; or to be unpacked,
// and then for each row of x.
constexpr double FEW_NS = 0.03, UNPACK_NS = 0.06, MANY_NS = 0.01;
constexpr double CODE_NS = 0.2;  // a number of x

class CodedProduct {
 public:
  CodedProduct(const BlockProductTask& task, void* scratch)
      : task_(task),
        kernels_(block_product_kernels()),
        kernel_(kernels_.of[static_cast<int>(task.format)]),
        stride_(kernel_.coded_bytes(task.k)),
        scratch_(static_cast<char*>(scratch)) {}

  // The rows of x that are coded at once, and what each worker needs beside them.
  int64_t scratch_bytes() const {
    int64_t own = task_.m > FEW_ROWS ? align64(kernels_.scratch_bytes) * task_.workers : 0;
    return coded_bytes() + own;
  }

  void run(float* out, const float* x) {
    for (int64_t m = 0; m < task_.m; m += MOST_ROWS)
      multiply(std::min(MOST_ROWS, task_.m - m), out + m * task_.n, x + m * task_.k);
  }

 private:
  int64_t coded_bytes() const { return align64(std::min(task_.m, MOST_ROWS) * stride_); }

  void multiply(int64_t rows, float* out, const float* x) {
    double k = static_cast<double>(task_.k), m = static_cast<double>(rows);
    double row_ns = k * (task_.m > FEW_ROWS ? UNPACK_NS + MANY_NS * m : FEW_NS * m);
    int64_t panels = ceil_div(task_.n, BLOCK_PANEL);
    double panel_ns = row_ns * BLOCK_PANEL;
    double chunk_ns =
        std::clamp(panel_ns * static_cast<double>(panels) / CHUNKS, LEAST_NS, MOST_NS);
    auto fitting = static_cast<int64_t>(chunk_ns / (panel_ns + 1));
    int64_t each = std::clamp<int64_t>(fitting, 1, std::max<int64_t>(panels, 1));
    int64_t chunks = ceil_div(panels, each);
    auto ns = static_cast<int64_t>(panel_ns * static_cast<double>(each)) + 1;
    code(rows, x, chunks > 1 ? ns * chunks : 0);
    parallel(
        chunks, ns, task_.interruptible,
        [&](int64_t chunk, int worker) {
          int64_t first = chunk * each * BLOCK_PANEL;
          multiply(first, std::min(task_.n - first, each * BLOCK_PANEL), rows, out, worker);
        },
        task_.workers);
  }

  void code(int64_t rows, const float* x, int64_t next_ns) {
    constexpr double few_ns = 10e3;
    double row_ns = CODE_NS * static_cast<double>(task_.k);
    auto group = std::max<int64_t>(static_cast<int64_t>(few_ns / (row_ns + 1)), 1);
    parallel(
        ceil_div(rows, group), static_cast<int64_t>(row_ns * static_cast<double>(group)) + 1,
        task_.interruptible,
        [&](int64_t index, int) {
          for (int64_t i = index * group; i < std::min(rows, (index + 1) * group); ++i)
            kernel_.code(task_.k, scratch_ + i * stride_, x + i * task_.k);
        },
        task_.workers, next_ns);
  }

  BlockRows rows_of(int64_t first, int64_t rows) const {
    int64_t bytes = row_bytes(task_.format, task_.k);
    auto* bias = reinterpret_cast<const float*>(task_.bias);
    return {task_.blocks + first * bytes, bytes, rows, task_.k, bias ? bias + first : nullptr};
  }

  // Rows of w from `first` on with all rows of x that are coded.
  void multiply(int64_t first, int64_t rows, int64_t x_rows, float* out, int worker) const {
    if (task_.m <= FEW_ROWS)
      return kernel_.few(rows_of(first, rows), {scratch_, stride_, x_rows}, out + first, task_.n);
    char* own = scratch_ + coded_bytes() + align64(kernels_.scratch_bytes) * worker;
    for (int64_t row = first; row < first + rows; row += BLOCK_PANEL) {
      BlockRows w = rows_of(row, std::min(BLOCK_PANEL, first + rows - row));
      for (int64_t m = 0; m < x_rows; m += BLOCK_PANEL_ROWS)
        kernel_.many(w, {scratch_ + m * stride_, stride_, std::min(BLOCK_PANEL_ROWS, x_rows - m)},
                     out + m * task_.n + row, task_.n, own);
    }
  }

  const BlockProductTask& task_;
  const BlockProductKernels& kernels_;
  const BlockProductKernel& kernel_;
  int64_t stride_;
  char* scratch_;
};

// --- exact ---------------------------------------------------------------------------------------

constexpr int64_t tile_elements = 1 << 18;

class ExactProduct {
 public:
  ExactProduct(const BlockProductTask& task, bool is_back, void* scratch)
      : task_(task),
        is_back_(is_back),
        bytes_(itemsize(task.dtype)),
        rows_(std::clamp<int64_t>(tile_elements / std::max<int64_t>(task.k, 1), 1,
                                  std::max<int64_t>(task.n, 1))),
        scratch_(static_cast<char*>(scratch)) {}

  // A tile, what expanding it takes, and what multiplying with it takes; the last may be smaller.
  int64_t scratch_bytes() const {
    int64_t last = task_.n % rows_ ? task_.n % rows_ : rows_;
    auto bytes = [&](int64_t rows, bool accumulate) {
      MatmulTask task = product(nullptr, nullptr, nullptr, rows, accumulate);
      return plan_matmul(task).scratch_bytes(task_.workers);
    };
    bool accumulates = is_back_ && task_.n > rows_;
    return tile_bytes() + own_bytes() +
           std::max({bytes(rows_, false), bytes(rows_, accumulates), bytes(last, accumulates)});
  }

  void run(char* out, const char* x) {
    if (task_.n == 0 && is_back_)
      each_row([&](int64_t i) { memset(out + i * task_.k * bytes_, 0, row_size()); });
    char* own = scratch_ + tile_bytes();
    for (int64_t first = 0; first < task_.n; first += rows_) {
      int64_t rows = std::min(rows_, task_.n - first), place = first * bytes_;
      dequantize(blocks_of(rows), scratch_, task_.blocks + first * row_bytes(task_.format, task_.k),
                 own);
      MatmulTask task = is_back_ ? product(scratch_, out, x + place, rows, first > 0)
                                 : product(scratch_, out + place, x, rows, false);
      matmul(task, plan_matmul(task), own + own_bytes(), task_.workers);
    }
    if (task_.bias) task_.dtype == DType::float32 ? add_bias<float>(out) : add_bias<double>(out);
  }

 private:
  int64_t tile_bytes() const { return align64(rows_ * task_.k * bytes_); }
  int64_t own_bytes() const { return align64(blocks_scratch_bytes(blocks_of(rows_))); }

  BlocksTask blocks_of(int64_t rows) const {
    return {task_.format, task_.dtype, rows * task_.k / info(task_.format).elements,
            task_.interruptible, task_.workers};
  }

  // x @ tile.T, or x @ tile of a gradient, where a tile is `rows` rows of w.
  MatmulTask product(char* tile, char* out, const char* x, int64_t rows, bool accumulate) const {
    MatmulTask task{.dtype = task_.dtype,
                    .m = task_.m,
                    .n = rows,
                    .k = task_.k,
                    .batch_ndim = 0,
                    .batch_shape = nullptr,
                    .a = {const_cast<char*>(x), task_.k, 1, nullptr},
                    .b = {tile, 1, task_.k, nullptr},
                    .c = {out, task_.n, 1, nullptr},
                    .accumulate = accumulate,
                    .interruptible = task_.interruptible};
    if (!is_back_) return task;
    task.n = task_.k, task.k = rows;
    task.a.row_stride = task_.n;
    task.b = {tile, task_.k, 1, nullptr};
    task.c.row_stride = task_.k;
    return task;
  }

  size_t row_size() const { return static_cast<size_t>(task_.k * bytes_); }

  // of(row) for every row of the result.
  template <class F>
  void each_row(F&& of) const {
    parallel(
        task_.m, std::max(task_.n, task_.k), task_.interruptible, [&](int64_t i, int) { of(i); },
        task_.workers);
  }

  template <class T>
  void add_bias(char* out) const {
    auto* bias = reinterpret_cast<const T*>(task_.bias);
    each_row([&](int64_t i) {
      T* to = reinterpret_cast<T*>(out) + i * task_.n;
      for (int64_t j = 0; j < task_.n; ++j) to[j] += bias[j];
    });
  }

  const BlockProductTask& task_;
  bool is_back_;
  int64_t bytes_, rows_;
  char* scratch_;
};

bool is_coded(const BlockProductTask& task) {
  return task.dtype == DType::float32 && !task.is_exact;
}

}  // namespace

int64_t block_product_scratch_bytes(const BlockProductTask& task) {
  return is_coded(task) ? CodedProduct(task, nullptr).scratch_bytes()
                        : ExactProduct(task, false, nullptr).scratch_bytes();
}

void block_product(const BlockProductTask& task, char* out, const char* x, void* scratch) {
  if (is_coded(task))
    CodedProduct(task, scratch)
        .run(reinterpret_cast<float*>(out), reinterpret_cast<const float*>(x));
  else
    ExactProduct(task, false, scratch).run(out, x);
}

int64_t block_product_back_scratch_bytes(const BlockProductTask& task) {
  return ExactProduct(task, true, nullptr).scratch_bytes();
}

void block_product_back(const BlockProductTask& task, char* out, const char* x, void* scratch) {
  ExactProduct(task, true, scratch).run(out, x);
}

}  // namespace tessella::launch
