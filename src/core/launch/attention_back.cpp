// A chunk is a head and a part of its keys. For each tile of keys it walks over all rows, computes
// the weights again from what was kept, and adds to the gradients of the keys, of the values and,
// of its part, of the queries; those of several parts are added up in their order. Long parts are
// taken in spans, one after the other.
#include "../threads.h"
#include "attention.h"
#include "attention_heads.h"

namespace tessella::launch {

namespace {

constexpr int64_t BLOCK_ROWS = 64, BLOCK_KEYS = 64;
constexpr int64_t PART_KEYS = 2 * BLOCK_KEYS;  // at least, of one part
constexpr double SPAN_NS = 50e6;               // between which an interrupt is answered
constexpr int64_t JOINED = 4096;               // elements that are added up at once

template <class T>
class Backward : public Heads<T> {
  using Heads<T>::task_;
  using Heads<T>::kernel_;
  using Heads<T>::product_;

 public:
  explicit Backward(const AttentionTask& task) : Heads<T>(task) {
    int64_t wanted = ceil_div(CHUNKS, task.heads());
    int64_t parts = std::clamp<int64_t>(task.keys / PART_KEYS, 1, wanted);
    part_keys_ = ceil_div(ceil_div(task.keys, parts), BLOCK_KEYS) * BLOCK_KEYS;
    parts_ = part_keys_ ? ceil_div(task.keys, part_keys_) : 1;
    double block_ns = double(task.rows()) * double(BLOCK_KEYS) * score_ns();
    span_keys_ = std::max<int64_t>(int64_t(SPAN_NS / (block_ns + 1)), 1) * BLOCK_KEYS;
    total_ = task.heads() * task.rows();
    step_ = task.is_causal ? TILE_ROWS : BLOCK_ROWS;
  }

  int64_t scratch_bytes() const {
    return align64(parts_bytes()) + Space(*this, nullptr).bytes * task_.workers;
  }

  void run(const AttentionMatrix& dout, const char* kept, char* slopes, char* scratch) {
    dout_ = &dout;
    out_ = reinterpret_cast<const T*>(kept);
    most_ = out_ + total_ * task_.width;
    inverse_ = most_ + total_;
    dq_ = reinterpret_cast<T*>(slopes);
    dk_ = dq_ + total_ * task_.features;
    dv_ = dk_ + task_.heads() * task_.keys * task_.features;
    more_ = reinterpret_cast<T*>(scratch);
    char* own = scratch + align64(parts_bytes());
    int64_t own_bytes = Space(*this, nullptr).bytes;
    for (int64_t span = 0; span == 0 || span < part_keys_; span += span_keys_) {
      auto body = [&](int64_t chunk, int worker) {
        Space space(*this, own + own_bytes * worker);
        pull(chunk / parts_, chunk % parts_, span, space);
      };
      parallel(task_.heads() * parts_, chunk_ns(), task_.interruptible, body, task_.workers);
    }
    if (parts_ > 1) join();
  }

 private:
  // Of one worker.
  struct Space {
    T *q, *g, *keys, *k_panels, *v_panels, *scores, *slopes, *added, *level;
    int64_t *seen, *reach;
    int64_t bytes;
    Space(const Backward& of, char* start) {
      Carving own(start);
      const AttentionTask& task = of.task_;
      q = own.take<T>(BLOCK_ROWS * task.features);
      g = own.take<T>(BLOCK_ROWS * task.width);
      keys = own.take<T>(of.is_plain() ? 0 : BLOCK_KEYS * task.features);
      k_panels = own.take<T>(of.panels_size(BLOCK_KEYS, task.features));
      v_panels = own.take<T>(of.panels_size(BLOCK_KEYS, task.width));
      scores = own.take<T>(BLOCK_ROWS * BLOCK_KEYS);
      slopes = own.take<T>(BLOCK_ROWS * BLOCK_KEYS);
      added = own.take<T>(task.mask.data ? BLOCK_ROWS * BLOCK_KEYS : 0);
      level = own.take<T>(task.rows());
      seen = own.take<int64_t>(task.rows());
      reach = own.take<int64_t>(ceil_div(task.rows(), of.step_));
      bytes = own.bytes();
    }
  };

  // A head of which gradients are computed.
  struct Pulled {
    Head head;
    const char* g;  // of its result
    int64_t row;    // its first, of all heads
    T *dq, *dk, *dv;
  };

  int64_t parts_bytes() const {
    return (parts_ - 1) * total_ * task_.features * int64_t{sizeof(T)};
  }

  double score_ns() const {
    return double(3 * task_.features + 2 * task_.width) / product_.products_per_ns + WEIGH_NS;
  }
  int64_t chunk_ns() const {
    double scores = double(task_.rows()) * double(std::min(part_keys_, span_keys_));
    return int64_t(std::min(scores * score_ns(), 1e15)) + 1;
  }

  const char* gradient_of(int64_t index) const {
    int64_t at = 0;
    for (int i = task_.batch_ndim - 1; i >= 0; --i) {
      at += index % task_.batch_shape[i] * dout_->batch[i];
      index /= task_.batch_shape[i];
    }
    return dout_->data + at * this->item_;
  }

  // A head beside the keys of a span: `span` counts from the first key of the part.
  void pull(int64_t index, int64_t part, int64_t span, Space& space) const {
    int64_t rows = task_.rows(), first = index * rows, keys = task_.keys;
    T* dq = part == 0 ? dq_ : more_ + (part - 1) * total_ * task_.features;
    Pulled of{this->head(index),
              gradient_of(index),
              first,
              dq + first * task_.features,
              dk_ + index * keys * task_.features,
              dv_ + index * keys * task_.width};
    for (int64_t i = 0; i < rows; i += BLOCK_ROWS) {
      int64_t count = std::min(BLOCK_ROWS, rows - i);
      RowsOf<T> g = this->queries(*dout_, of.g, task_.width, i, count, space.g);
      kernel_->dots(count, task_.width, space.level + i, g.data, g.row,
                    out_ + (first + i) * task_.width, task_.width);
    }
    for (int64_t i = 0; i < rows; i += step_)
      space.reach[i / step_] =
          this->read_seen(of.head, i, std::min(step_, rows - i), space.seen + i);
    int64_t start = part * part_keys_, end = std::min(keys, start + part_keys_);
    int64_t begin = start + span, last = std::min(begin + span_keys_, end);
    int64_t there = std::max(begin, std::min(last, of.head.keys));
    for (int64_t i = 0; span == 0 && i < rows; i += step_)  // rows that no key of this part is for
      if (space.reach[i / step_] <= begin || there == begin)
        clear(of.dq + i * task_.features, std::min(step_, rows - i) * task_.features);
    for (int64_t key = begin; key < there; key += BLOCK_KEYS)
      pull_keys(of, key, std::min(BLOCK_KEYS, there - key), key == start, space);
    if (there < last) clear_keys(of, there, last - there);
  }

  static void clear(T* data, int64_t count) {
    memset(data, 0, static_cast<size_t>(count) * sizeof(T));
  }

  void clear_keys(const Pulled& of, int64_t key, int64_t keys) const {
    clear(of.dk + key * task_.features, keys * task_.features);
    clear(of.dv + key * task_.width, keys * task_.width);
  }

  // All rows beside keys from `key` on; `begins`: dq holds nothing yet.
  void pull_keys(const Pulled& of, int64_t key, int64_t keys, bool begins, Space& space) const {
    const Head& head = of.head;
    this->pack(task_.k, head.k, task_.features, key, keys, space.k_panels);
    this->pack(task_.v, head.v, task_.width, key, keys, space.v_panels);
    RowsOf<T> k = this->keys(task_.k, head.k, task_.features, key, keys, space.keys);
    bool begins_keys = true;  // dk and dv hold nothing yet
    for (int64_t i = 0; i < task_.rows(); i += BLOCK_ROWS) {
      int64_t rows = std::min(BLOCK_ROWS, task_.rows() - i);
      const int64_t* reach = space.reach + i / step_;
      int64_t most = *std::max_element(reach, reach + ceil_div(rows, step_));
      int64_t cols = std::min(keys, most - key);
      if (cols <= 0) continue;
      if (begins_keys && cols < keys) {
        clear_keys(of, key, keys);
        begins_keys = false;
      }
      pull_block(of, i, rows, key, cols, k, begins, begins_keys, space);
      begins_keys = false;
    }
    if (begins_keys) clear_keys(of, key, keys);
  }

  // Rows from number i on beside `cols` keys.
  void pull_block(const Pulled& of, int64_t i, int64_t rows, int64_t key, int64_t cols, RowsOf<T> k,
                  bool begins, bool begins_keys, Space& space) const {
    int64_t features = task_.features, width = task_.width;
    RowsOf<T> q = this->queries(task_.q, of.head.q, features, i, rows, space.q);
    RowsOf<T> g = this->queries(*dout_, of.g, width, i, rows, space.g);
    const int64_t* reach = space.reach + i / step_;
    bool is_whole = true;  // every row is beside all keys
    int64_t most = 0;
    for (int64_t r = 0; r < rows; r += step_) {
      int64_t count = std::min(step_, rows - r), own = std::min(cols, reach[r / step_] - key);
      is_whole = is_whole && own == cols;
      T *scores = space.scores + r * BLOCK_KEYS, *slopes = space.slopes + r * BLOCK_KEYS;
      if (own > 0) {
        pull_rows(of, i + r, count, key, own, {q.data + r * q.row, q.row},
                  {g.data + r * g.row, g.row}, scores, slopes, space);
        this->multiply(count, features, own, slopes, BLOCK_KEYS, 1, k, of.dq + (i + r) * features,
                       features, !begins);
      }
      // Runs of keys, below, are read as far as some rows before are beside them.
      int64_t filled = std::max<int64_t>(own, 0);
      int64_t end = std::min(cols, std::max(most, ceil_div(filled, step_) * step_));
      most = std::max(most, end);
      for (int64_t row = 0; filled < end && row < count; ++row) {
        clear(scores + row * BLOCK_KEYS + filled, end - filled);
        clear(slopes + row * BLOCK_KEYS + filled, end - filled);
      }
    }
    // Where not, the first rows are beside few keys: of each run of keys only the others count.
    int64_t run = is_whole ? cols : std::min(step_, cols);
    for (int64_t c = 0; c < cols; c += run) {
      int64_t from = 0, count = std::min(run, cols - c);
      while (reach[from / step_] - key <= c) from += step_;
      this->multiply(count, width, rows - from, space.scores + from * BLOCK_KEYS + c, 1, BLOCK_KEYS,
                     {g.data + from * g.row, g.row}, of.dv + (key + c) * width, width,
                     !begins_keys);
      this->multiply(count, features, rows - from, space.slopes + from * BLOCK_KEYS + c, 1,
                     BLOCK_KEYS, {q.data + from * q.row, q.row}, of.dk + (key + c) * features,
                     features, !begins_keys);
    }
  }

  // Weights and slopes of a tile of scores.
  void pull_rows(const Pulled& of, int64_t i, int64_t rows, int64_t key, int64_t cols, RowsOf<T> q,
                 RowsOf<T> g, T* scores, T* slopes, Space& space) const {
    this->multiply_packed(rows, cols, task_.features, q, space.k_panels, scores, BLOCK_KEYS);
    this->multiply_packed(rows, cols, task_.width, g, space.v_panels, slopes, BLOCK_KEYS);
    if (of.head.mask) this->read_mask(of.head, i, rows, key, cols, space.added, BLOCK_KEYS);
    kernel_->slope(
        {rows, cols, scores, BLOCK_KEYS, task_.scale, of.head.mask ? space.added : nullptr,
         task_.is_bool, key, this->seen_of(space.seen + i, rows, key, cols)},
        slopes, most_ + of.row + i, inverse_ + of.row + i, space.level + i);
  }

  void join() const {
    int64_t size = total_ * task_.features;
    auto body = [&](int64_t index, int) {
      int64_t at = index * JOINED, count = std::min(JOINED, size - at);
      for (int64_t part = 1; part < parts_; ++part)
        product_.add(dq_ + at, more_ + (part - 1) * size + at, count);
    };
    parallel(ceil_div(size, JOINED), JOINED * parts_ / 4, task_.interruptible, body, task_.workers);
  }

  int64_t part_keys_, parts_;  // how keys are parted
  int64_t span_keys_;          // of a part, at once
  int64_t total_;              // rows of all heads
  int64_t step_;               // rows that have a tile of scores to themselves
  const AttentionMatrix* dout_ = nullptr;
  const T *out_ = nullptr, *most_ = nullptr, *inverse_ = nullptr;  // what was kept
  T *dq_ = nullptr, *dk_ = nullptr, *dv_ = nullptr;
  T* more_ = nullptr;  // dq of the other parts
};

bool is_empty(const AttentionTask& task) { return task.heads() == 0; }

template <class T>
int64_t bytes_of(const AttentionTask& task) {
  return is_empty(task) ? 0 : Backward<T>(task).scratch_bytes();
}
template <class T>
void run(const AttentionTask& task, const AttentionMatrix& dout, const char* kept, char* slopes,
         char* scratch) {
  if (!is_empty(task)) Backward<T>(task).run(dout, kept, slopes, scratch);
}

}  // namespace

int64_t attention_back_scratch_bytes(const AttentionTask& task) {
  return task.dtype == DType::float64 ? bytes_of<double>(task) : bytes_of<float>(task);
}

void attention_back(const AttentionTask& task, const AttentionMatrix& dout, const char* kept,
                    char* slopes, void* scratch) {
  auto* space = static_cast<char*>(scratch);
  task.dtype == DType::float64 ? run<double>(task, dout, kept, slopes, space)
                               : run<float>(task, dout, kept, slopes, space);
}

}  // namespace tessella::launch
