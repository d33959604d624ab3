// Rows are copied in chunks of points. Sums are cut along the rows, and every part takes all points
// in order: so they have one order at any thread count.
#include "embedding.h"

#include <string.h>

#include <algorithm>
#include <atomic>

#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t chunk_bytes = 65536;
constexpr int64_t part_elements = 256;  // of a row

// Once: another thread may change it after it was looked at.
int64_t read(const EmbeddingTask& task, int64_t i) {
  return *static_cast<const volatile int64_t*>(task.indices + i);
}

bool is_row(const EmbeddingTask& task, int64_t index) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(task.rows);
}

void clear(char* out, int64_t bytes, bool interruptible) {
  constexpr int64_t part = 1 << 18;
  parallel((bytes + part - 1) / part, part / 16, interruptible, [&](int64_t i, int) {
    memset(out + i * part, 0, static_cast<size_t>(std::min(part, bytes - i * part)));
  });
}

template <class T>
class Sums {
 public:
  Sums(const EmbeddingBackTask& task, const char* dout, char* dtable, void* scratch)
      : task_(task),
        width_(task.of.row_bytes / static_cast<int64_t>(sizeof(T))),
        dout_(reinterpret_cast<const T*>(dout)),
        dtable_(reinterpret_cast<T*>(dtable)),
        counts_(static_cast<int64_t*>(scratch)) {}

  void run() {
    clear(reinterpret_cast<char*>(dtable_), task_.of.rows * task_.of.row_bytes,
          task_.of.interruptible);
    int64_t part = std::max(part_elements, (width_ + 63) / 64), parts = (width_ + part - 1) / part;
    parallel(parts, task_.of.points * part, task_.of.interruptible,
             [&](int64_t index, int) { add(index * part, std::min(width_, (index + 1) * part)); });
    if (task_.is_mean) divide();
  }

 private:
  bool counts(int64_t index) const { return is_row(task_.of, index) && index != task_.padding; }

  void add(int64_t begin, int64_t end) {
    for (int64_t i = 0; i < task_.of.points; ++i) {
      int64_t index = read(task_.of, i);
      if (!counts(index)) continue;
      T* __restrict to = dtable_ + index * width_;
      const T* __restrict from = dout_ + i * width_;
      for (int64_t k = begin; k < end; ++k) to[k] += from[k];
    }
  }

  void divide() {
    std::fill_n(counts_, task_.of.rows, 0);
    for (int64_t i = 0; i < task_.of.points; ++i)
      if (int64_t index = read(task_.of, i); counts(index)) ++counts_[index];
    for (int64_t r = 0; r < task_.of.rows; ++r)
      for (int64_t k = 0; counts_[r] > 1 && k < width_; ++k)
        dtable_[r * width_ + k] /= static_cast<T>(counts_[r]);
  }

  const EmbeddingBackTask& task_;
  int64_t width_;
  const T* dout_;
  T* dtable_;
  int64_t* counts_;
};

}  // namespace

int64_t embed(const EmbeddingTask& task, const char* table, char* out) {
  int64_t group = std::max<int64_t>(chunk_bytes / std::max<int64_t>(task.row_bytes, 1), 1);
  std::atomic<int64_t> first_bad{task.points};
  parallel((task.points + group - 1) / group, chunk_bytes / 8, task.interruptible,
           [&](int64_t chunk, int) {
             int64_t last = std::min(task.points, (chunk + 1) * group);
             for (int64_t i = chunk * group; i < last; ++i) {
               int64_t index = read(task, i);
               if (is_row(task, index)) {
                 memcpy(out + i * task.row_bytes, table + index * task.row_bytes,
                        static_cast<size_t>(task.row_bytes));
                 continue;
               }
               for (int64_t before = first_bad; i < before;)
                 if (first_bad.compare_exchange_weak(before, i)) break;
             }
           });
  return first_bad < task.points ? first_bad.load() : ALL_ROWS_GOOD;
}

void embed_back(const EmbeddingBackTask& task, const char* dout, char* dtable, void* scratch) {
  bool is_wide = task.dtype == DType::float64 || task.dtype == DType::complex128;
  is_wide ? Sums<double>(task, dout, dtable, scratch).run()
          : Sums<float>(task, dout, dtable, scratch).run();
}

}  // namespace tessella::launch
