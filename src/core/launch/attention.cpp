// A chunk is a run of rows and a part of the keys. It walks over tiles of keys, packs each once,
// and brings the rows up to date with it, a tile of scores at a time.
#include "attention.h"

#include <limits>

#include "../threads.h"
#include "attention_heads.h"

namespace tessella::launch {

namespace {

constexpr int64_t MOST_ROWS = 256;  // of a chunk: their sums stay in L2
constexpr int64_t PART_KEYS = 512;  // at least, of one part
constexpr int64_t FEW_ROWS = 8;     // for these keys are not packed: they are read once
constexpr int64_t TILE_KEYS = 128;
constexpr int64_t MOST_TILES = MOST_ROWS / TILE_ROWS;

template <class T>
class Forward : public Heads<T> {
  using Heads<T>::task_;
  using Heads<T>::kernel_;
  using Heads<T>::product_;

 public:
  Forward(const AttentionTask& task, bool keeps)
      : Heads<T>(task), keeps_(keeps), is_few_(task.rows() <= FEW_ROWS) {
    int64_t rows = task.rows(), heads = task.heads();
    int64_t wanted = ceil_div(ceil_div(rows * heads, CHUNKS), TILE_ROWS) * TILE_ROWS;
    rows_ = std::clamp(wanted, TILE_ROWS, MOST_ROWS);
    blocks_ = ceil_div(rows, rows_);
    int64_t chunks = std::max<int64_t>(heads * blocks_, 1);
    int64_t most = std::max<int64_t>(task.keys / PART_KEYS, 1);
    int64_t parts = chunks < CHUNKS ? std::min(ceil_div(CHUNKS, chunks), most) : 1;
    part_keys_ = ceil_div(ceil_div(task.keys, parts), TILE_KEYS) * TILE_KEYS;
    parts_ = part_keys_ ? ceil_div(task.keys, part_keys_) : 1;
    is_direct_ = parts_ == 1 && (keeps || this->is_plain());
  }

  int64_t scratch_bytes() {
    Carving all(nullptr);
    take_sums(all);
    Space space(*this, nullptr);
    return all.bytes() + space.bytes * task_.workers;
  }

  void run(char* out, char* scratch) {
    Carving all(scratch);
    take_sums(all);
    out_ = out;
    int64_t rows = task_.rows(), total = task_.heads() * rows;
    kept_ = keeps_ ? reinterpret_cast<T*>(out) + total * task_.width : nullptr;
    int64_t chunks = task_.heads() * blocks_ * parts_;
    char* own = scratch + all.bytes();
    int64_t own_bytes = Space(*this, nullptr).bytes;
    auto body = [&](int64_t chunk, int worker) {
      Space space(*this, own + own_bytes * worker);
      int64_t part = chunk % parts_, block = chunk / parts_ % blocks_;
      attend(chunk / parts_ / blocks_, block * rows_, std::min(rows, (block + 1) * rows_), part,
             space);
    };
    parallel(chunks, chunk_ns(), task_.interruptible, body, task_.workers);
    if (parts_ == 1) return;
    auto join = [&](int64_t index, int) {
      int64_t block = index % blocks_;
      join_parts(index / blocks_, block * rows_, std::min(rows, (block + 1) * rows_));
    };
    parallel(task_.heads() * blocks_, rows_ * parts_ * task_.width, task_.interruptible, join,
             task_.workers);
  }

 private:
  // Of one worker.
  struct Space {
    T *q, *panels, *keys, *values, *scores, *added;
    int64_t* seen;
    T *out, *most, *sum;
    int64_t bytes;
    Space(const Forward& of, char* start) {
      Carving own(start);
      const AttentionTask& task = of.task_;
      bool is_plain = of.is_plain();
      q = own.take<T>(of.rows_ * task.features);
      panels = own.take<T>(of.is_few_ ? 0 : of.panels_size(TILE_KEYS, task.features));
      keys = own.take<T>(of.is_few_ && !is_plain ? TILE_KEYS * task.features : 0);
      values = own.take<T>(is_plain ? 0 : TILE_KEYS * task.width);
      scores = own.take<T>(TILE_ROWS * TILE_KEYS);
      added = own.take<T>(task.mask.data ? TILE_ROWS * TILE_KEYS : 0);
      seen = own.take<int64_t>(of.rows_);
      out = own.take<T>(of.is_direct_ || of.parts_ > 1 ? 0 : of.rows_ * task.width);
      most = own.take<T>(of.parts_ > 1 ? 0 : of.rows_);
      sum = own.take<T>(of.parts_ > 1 ? 0 : of.rows_);
      bytes = own.bytes();
    }
  };

  // Sums of each part of the keys, for all rows.
  void take_sums(Carving& all) {
    int64_t total = parts_ > 1 ? parts_ * task_.heads() * task_.rows() : 0;
    part_out_ = all.take<T>(total * task_.width);
    part_most_ = all.take<T>(total);
    part_sum_ = all.take<T>(total);
  }

  int64_t chunk_ns() const {
    double products = double(task_.features + task_.width) / product_.products_per_ns;
    double scores = double(std::min(rows_, task_.rows())) * double(part_keys_);
    return int64_t(std::min(scores * (products + WEIGH_NS), 1e15)) + 1;
  }

  AttentionSums sums_at(int64_t part, int64_t row) const {  // row: of all heads
    int64_t at = part * task_.heads() * task_.rows() + row;
    return {part_most_ + at, part_sum_ + at, part_out_ + at * task_.width,
            task_.width,     task_.width,    false};
  }
  AttentionSums sums_of(int64_t part, int64_t row, const Space& space) const {
    if (parts_ > 1) return sums_at(part, row);
    T* out = is_direct_ ? reinterpret_cast<T*>(out_) + row * task_.width : space.out;
    return {space.most, space.sum, out, task_.width, task_.width, false};
  }

  void attend(int64_t index, int64_t first, int64_t last, int64_t part, Space& space) const {
    Head head = this->head(index);
    int64_t rows = last - first, row = index * task_.rows() + first;
    AttentionSums sums = sums_of(part, row, space);
    auto *out = static_cast<T*>(sums.out), *most = static_cast<T*>(sums.most);
    std::fill_n(most, rows, -T(__builtin_inff()));
    std::fill_n(static_cast<T*>(sums.sum), rows, T(0));
    RowsOf<T> q = this->queries(task_.q, head.q, task_.features, first, rows, space.q);
    int64_t reach[MOST_TILES], all = 0;  // keys that some row of a tile sees
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
      int64_t count = std::min(TILE_ROWS, rows - i);
      reach[i / TILE_ROWS] = this->read_seen(head, first + i, count, space.seen + i);
      all = std::max(all, reach[i / TILE_ROWS]);
    }
    int64_t begin = part * part_keys_, end = std::min(all, begin + part_keys_);
    for (int64_t i = 0; i < rows; i += TILE_ROWS)  // rows that no key of this part is for
      if (reach[i / TILE_ROWS] <= begin)
        std::fill_n(out + i * task_.width, std::min(TILE_ROWS, rows - i) * task_.width, T(0));
    for (int64_t key = begin; key < end; key += TILE_KEYS) {
      int64_t keys = std::min(TILE_KEYS, end - key);
      RowsOf<T> k = take_keys(head, key, keys, space);
      RowsOf<T> v = this->keys(task_.v, head.v, task_.width, key, keys, space.values);
      for (int64_t i = 0; i < rows; i += TILE_ROWS) {
        int64_t count = std::min(TILE_ROWS, rows - i);
        int64_t cols = std::min(keys, reach[i / TILE_ROWS] - key);
        if (cols <= 0) continue;
        AttentionSums own{most + i,
                          static_cast<T*>(sums.sum) + i,
                          out + i * task_.width,
                          task_.width,
                          task_.width,
                          key == begin};
        take_tile(head, first + i, count, key, cols, {q.data + i * q.row, q.row}, k, v,
                  this->seen_of(space.seen + i, count, key, cols), own, space);
      }
    }
    if (parts_ == 1) finish(head, first, rows, row, sums);
  }

  RowsOf<T> take_keys(const Head& head, int64_t key, int64_t keys, Space& space) const {
    if (is_few_) return this->keys(task_.k, head.k, task_.features, key, keys, space.keys);
    this->pack(task_.k, head.k, task_.features, key, keys, space.panels);
    return {space.panels, 0};
  }

  // Scores of few rows, strip by strip: keys and values come from memory, and are asked for early.
  void multiply_few(int64_t rows, int64_t cols, RowsOf<T> q, RowsOf<T> k, RowsOf<T> v,
                    Space& space) const {
    constexpr int64_t STRIP = 16, AHEAD = 48;  // keys
    auto fetch = [cols](RowsOf<T> of, int64_t first, int64_t size) {
      for (int64_t i = first; i < std::min(first + STRIP, cols); ++i)
        for (int64_t at = 0; at < size; at += int64_t{64 / sizeof(T)})
          __builtin_prefetch(of.data + i * of.row + at, 0, 2);
    };
    for (int64_t j = 0; j < cols; j += STRIP) {
      fetch(k, j + AHEAD, task_.features);
      fetch(v, j, task_.width);
      for (int64_t r = 0; r < rows; ++r)
        product_.dot(space.scores + r * TILE_KEYS + j, k.data + j * k.row, q.data + r * q.row,
                     k.row, std::min(STRIP, cols - j), task_.features);
    }
  }

  // Rows from `row` on of a group, keys from `key` on.
  void take_tile(const Head& head, int64_t row, int64_t rows, int64_t key, int64_t cols,
                 RowsOf<T> q, RowsOf<T> k, RowsOf<T> v, const int64_t* seen,
                 const AttentionSums& sums, Space& space) const {
    if (is_few_)
      multiply_few(rows, cols, q, k, v, space);
    else
      this->multiply_packed(rows, cols, task_.features, q, k.data, space.scores, TILE_KEYS);
    if (head.mask) this->read_mask(head, row, rows, key, cols, space.added, TILE_KEYS);
    kernel_->weigh({rows, cols, space.scores, TILE_KEYS, task_.scale,
                    head.mask ? space.added : nullptr, task_.is_bool, key, seen},
                   sums);
    this->multiply(rows, task_.width, cols, space.scores, TILE_KEYS, 1, v,
                   static_cast<T*>(sums.out), task_.width, !sums.begins);
  }

  void join_parts(int64_t index, int64_t first, int64_t last) const {
    int64_t row = index * task_.rows() + first, rows = last - first;
    AttentionSums sums = sums_at(0, row);
    for (int64_t part = 1; part < parts_; ++part) kernel_->join(rows, sums, sums_at(part, row));
    finish(this->head(index), first, rows, row, sums);
  }

  // Divides by the sums of exponentials, which become their inverses. A row that may look nowhere
  // gets zeros; and the largest number for its greatest score, beside which any has weight 0.
  void finish(const Head& head, int64_t first, int64_t rows, int64_t row,
              const AttentionSums& sums) const {
    auto *most = static_cast<T*>(sums.most), *sum = static_cast<T*>(sums.sum);
    auto* out = static_cast<T*>(sums.out);
    for (int64_t r = 0; r < rows; ++r) {
      bool is_lost = sum[r] == 0 && this->is_lost(head, first + r);
      if (is_lost) {
        std::fill_n(out + r * task_.width, task_.width, T(0));
        most[r] = std::numeric_limits<T>::max();
      }
      sum[r] = is_lost ? 0 : 1 / sum[r];
    }
    kernel_->multiply(rows, sums, sum);
    if (keeps_) {
      std::copy_n(most, rows, kept_ + row);
      std::copy_n(sum, rows, kept_ + task_.heads() * task_.rows() + row);
    }
    if (is_direct_) return;
    DType compute = sizeof(T) == 4 ? DType::float32 : DType::float64;
    int64_t bytes = keeps_ ? int64_t{sizeof(T)} : this->item_;
    cast_kernel(compute, keeps_ ? compute : task_.dtype)(rows * task_.width,
                                                         out_ + row * task_.width * bytes, out);
  }

  bool keeps_, is_few_;
  int64_t rows_, blocks_;      // of a chunk; chunks of one head
  int64_t part_keys_, parts_;  // how keys are parted
  bool is_direct_;             // sums are where the result is to be
  char* out_ = nullptr;
  T *kept_ = nullptr, *part_out_ = nullptr, *part_most_ = nullptr, *part_sum_ = nullptr;
};

bool is_empty(const AttentionTask& task) { return task.heads() == 0 || task.rows() == 0; }

template <class T>
int64_t bytes_of(const AttentionTask& task, bool keeps) {
  return is_empty(task) ? 0 : Forward<T>(task, keeps).scratch_bytes();
}
template <class T>
void run(const AttentionTask& task, bool keeps, char* out, char* scratch) {
  if (!is_empty(task)) Forward<T>(task, keeps).run(out, scratch);
}

}  // namespace

int64_t attention_scratch_bytes(const AttentionTask& task, bool keeps) {
  return task.dtype == DType::float64 ? bytes_of<double>(task, keeps)
                                      : bytes_of<float>(task, keeps);
}

void attention(const AttentionTask& task, bool keeps, char* out, void* scratch) {
  auto* space = static_cast<char*>(scratch);
  task.dtype == DType::float64 ? run<double>(task, keeps, out, space)
                               : run<float>(task, keeps, out, space);
}

}  // namespace tessella::launch
