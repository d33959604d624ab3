// What attention and its gradients share: where the rows of a head are, as elements of the compute
// type, which keys a row sees, and tiles of products. Used by launch/attention*.cpp only.
#pragma once

#include <string.h>

#include <algorithm>

#include "../kernels/attention.h"
#include "../kernels/cast.h"
#include "../kernels/matmul.h"
#include "attention.h"
#include "matmul_plan.h"

namespace tessella::launch {

constexpr int64_t CHUNKS = 8;      // enough for threads of unequal speed to end together
constexpr int64_t TILE_ROWS = 16;  // of scores: few, as causal rows need few keys

constexpr double WEIGH_NS = 0.3;  // about, for each score; only decides how work is cut

// Rows of elements of the compute type.
template <class T>
struct RowsOf {
  const T* data;
  int64_t row;  // from one to the next
};

// Hands out parts of scratch, each aligned; with a null start it only counts.
class Carving {
 public:
  explicit Carving(char* start) : start_(start) {}
  template <class T>
  T* take(int64_t count) {
    int64_t at = bytes_;
    bytes_ += align64(count * int64_t{sizeof(T)});
    return start_ ? reinterpret_cast<T*>(start_ + at) : nullptr;
  }
  int64_t bytes() const { return bytes_; }

 private:
  char* start_;
  int64_t bytes_ = 0;
};

// One head of keys and values, and the queries that look at it.
struct Head {
  const char *q, *k, *v, *mask;
  int64_t keys;  // that are there
};

template <class T>
class Heads {
 public:
  explicit Heads(const AttentionTask& task)
      : task_(task),
        kind_(matmul_kernels().of[static_cast<int>(task.dtype)]),
        product_(*kind_.compute),
        item_(itemsize(task.dtype)) {
    const AttentionKernels& kernels = TS_CHOSEN(attention_kernels);
    kernel_ = sizeof(T) == 4 ? &kernels.float32 : &kernels.float64;
  }

  Head head(int64_t index) const {
    int64_t at = index, q = 0, k = 0, v = 0, mask = 0, length = 0;
    for (int i = task_.batch_ndim - 1; i >= 0; --i) {
      int64_t place = at % task_.batch_shape[i];
      at /= task_.batch_shape[i];
      q += place * task_.q.batch[i];
      k += place * task_.k.batch[i];
      v += place * task_.v.batch[i];
      mask += place * task_.mask.batch[i];
      length += place * task_.lengths_batch[i];
    }
    Head found{task_.q.data + q * item_, task_.k.data + k * item_, task_.v.data + v * item_,
               task_.mask.data ? task_.mask.data + mask * mask_width() : nullptr, task_.keys};
    if (task_.lengths) {  // read once: another thread may change it
      int64_t n = *static_cast<const volatile int64_t*>(task_.lengths + length);
      found.keys = std::clamp<int64_t>(n, 0, task_.keys);
    }
    return found;
  }

  // How many keys, from the first on, rows may look at: into `seen`, and the most of them.
  int64_t read_seen(const Head& head, int64_t first, int64_t rows, int64_t* seen) const {
    int64_t before = task_.lengths ? head.keys - task_.queries : 0, most = 0;
    int64_t query = first % task_.queries;
    for (int64_t r = 0; r < rows; ++r) {
      int64_t last = task_.is_causal ? before + query + 1 : head.keys;
      seen[r] = std::clamp<int64_t>(last, 0, head.keys);
      most = std::max(most, seen[r]);
      if (++query == task_.queries) query = 0;
    }
    return most;
  }

  // Whether a mask leaves nothing of what a row may look at.
  bool is_lost(const Head& head, int64_t row) const {
    int64_t n;
    read_seen(head, row, 1, &n);
    if (!head.mask) return n == 0;
    const char* mask = mask_row(head, row);
    for (int64_t j = 0; j < n; ++j) {
      const char* at = mask + j * task_.mask_col * mask_width();
      if (task_.is_bool ? *at != 0 : *reinterpret_cast<const T*>(at) != -__builtin_inff())
        return false;
    }
    return true;
  }

  bool is_plain() const { return kind_.is_native; }

  // Rows [first, first + count) of a matrix of queries whose head's part begins at `data`: in place
  // where they are of the compute type and of one head, else in `space`.
  RowsOf<T> queries(const AttentionMatrix& x, const char* data, int64_t size, int64_t first,
                    int64_t count, T* space) const {
    int64_t queries = task_.queries, row = first, last = first + count;
    if (is_plain() && row / queries == (last - 1) / queries)
      return {reinterpret_cast<const T*>(data) + offset(x, row), x.row};
    auto convert = cast_kernel(task_.dtype, sizeof(T) == 4 ? DType::float32 : DType::float64);
    for (T* to = space; row < last; ++row, to += size)
      convert(size, to, data + offset(x, row) * item_);
    return {space, size};
  }

  // Rows [first, first + count) of keys or values.
  RowsOf<T> keys(const AttentionMatrix& x, const char* data, int64_t size, int64_t first,
                 int64_t count, T* space) const {
    const char* from = data + first * x.row * item_;
    if (is_plain()) return {reinterpret_cast<const T*>(from), x.row};
    auto convert = cast_kernel(task_.dtype, DType::float32);
    for (int64_t i = 0; i < count; ++i) convert(size, space + i * size, from + i * x.row * item_);
    return {space, size};
  }

  // Keys or values as panels [size][tile_cols], for products with their transpose.
  void pack(const AttentionMatrix& x, const char* data, int64_t size, int64_t first, int64_t count,
            T* panels) const {
    kind_.pack_b(
        {panels, data + first * x.row * item_, x.row, 1, count, size, product_.tile_cols, false});
  }
  int64_t panels_size(int64_t count, int64_t size) const {
    return ceil_div(count, product_.tile_cols) * product_.tile_cols * size;
  }

  // c (m, n) = a (m, k) times panels of pack().
  void multiply_packed(int64_t m, int64_t n, int64_t k, RowsOf<T> a, const T* panels, T* c,
                       int64_t c_row) const {
    int64_t width = product_.tile_cols;
    product_.direct({m, n, k, a.data, a.row, 1, panels, width, width * k, c, c_row, false, false});
  }
  // c (m, n) = a (m, k) @ b (k, n), or c goes on; a has any strides.
  void multiply(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_k,
                RowsOf<T> b, T* c, int64_t c_row, bool resumes) const {
    product_.direct(
        {m, n, k, a, a_row, a_k, b.data, b.row, product_.tile_cols, c, c_row, resumes, false});
  }

  // The keys that rows see, of those from `key` on, for a tile: null if they see all of them.
  const int64_t* seen_of(const int64_t* seen, int64_t rows, int64_t key, int64_t cols) const {
    if (!task_.is_causal || *std::min_element(seen, seen + rows) >= key + cols) return nullptr;
    return seen;
  }

  // The mask of rows from `row` and keys from `key` on, into rows of `step` elements.
  void read_mask(const Head& head, int64_t row, int64_t rows, int64_t key, int64_t keys, T* added,
                 int64_t step) const {
    for (int64_t i = 0; i < rows; ++i)
      kernel_->read_mask(added + i * step,
                         {keys, mask_row(head, row + i) + key * task_.mask_col * mask_width(),
                          task_.mask_col, task_.is_bool});
  }

 protected:
  int64_t mask_width() const { return task_.is_bool ? 1 : int64_t{sizeof(T)}; }
  const char* mask_row(const Head& head, int64_t row) const {
    return head.mask + offset(task_.mask, row) * mask_width();
  }
  int64_t offset(const AttentionMatrix& x, int64_t row) const {
    return row / task_.queries * x.head + row % task_.queries * x.row;
  }

  const AttentionTask& task_;
  const MatmulDtype& kind_;
  const MatmulCompute& product_;
  int64_t item_;  // bytes of an element
  const AttentionKernel* kernel_;
};

}  // namespace tessella::launch
