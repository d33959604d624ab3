// A chunk is a head and a part of its keys. For each tile of keys it walks over all rows, computes
// the weights again from what was kept, and adds to the gradients of the keys, of the values and,
// of its part, of the queries; those of several parts are added up in their order.
#include "../threads.h"
#include "attention.h"
#include "attention_heads.h"

namespace tessella::launch {

namespace {

constexpr int64_t CHUNKS = 8;                 // enough for threads of unequal speed to end together
constexpr int64_t PART_KEYS = 2 * TILE_KEYS;  // at least, of one part
constexpr int64_t JOINED = 4096;              // elements that are added up at once

template <class T>
class Backward : public Heads<T> {
  using Heads<T>::task_;
  using Heads<T>::kernel_;
  using Heads<T>::product_;

 public:
  explicit Backward(const AttentionTask& task) : Heads<T>(task) {
    int64_t wanted = ceil_div(CHUNKS, task.heads());
    int64_t parts = std::clamp<int64_t>(task.keys / PART_KEYS, 1, wanted);
    part_keys_ = ceil_div(ceil_div(task.keys, parts), TILE_KEYS) * TILE_KEYS;
    parts_ = part_keys_ ? ceil_div(task.keys, part_keys_) : 1;
    total_ = task.heads() * task.rows();
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
    auto body = [&](int64_t chunk, int worker) {
      Space space(*this, own + own_bytes * worker);
      pull(chunk / parts_, chunk % parts_, space);
    };
    parallel(task_.heads() * parts_, chunk_ns(), task_.interruptible, body, task_.workers);
    if (parts_ > 1) join();
  }

 private:
  // Of one worker.
  struct Space {
    T *q, *g, *keys, *k_panels, *v_panels, *scores, *slopes, *added, *level;
    int64_t* seen;
    int64_t bytes;
    Space(const Backward& of, char* start) {
      Carving own(start);
      const AttentionTask& task = of.task_;
      q = own.take<T>(TILE_ROWS * task.features);
      g = own.take<T>(TILE_ROWS * task.width);
      keys = own.take<T>(of.is_plain() ? 0 : TILE_KEYS * task.features);
      k_panels = own.take<T>(of.panels_size(TILE_KEYS, task.features));
      v_panels = own.take<T>(of.panels_size(TILE_KEYS, task.width));
      scores = own.take<T>(TILE_ROWS * TILE_KEYS);
      slopes = own.take<T>(TILE_ROWS * TILE_KEYS);
      added = own.take<T>(task.mask.data ? TILE_ROWS * TILE_KEYS : 0);
      level = own.take<T>(task.rows());
      seen = own.take<int64_t>(task.rows());
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

  int64_t chunk_ns() const {
    double products = double(3 * task_.features + 2 * task_.width) / product_.products_per_ns;
    double scores = double(task_.rows()) * double(part_keys_);
    return int64_t(std::min(scores * (products + WEIGH_NS), 1e15)) + 1;
  }

  const char* gradient_of(int64_t index) const {
    int64_t at = 0;
    for (int i = task_.batch_ndim - 1; i >= 0; --i) {
      at += index % task_.batch_shape[i] * dout_->batch[i];
      index /= task_.batch_shape[i];
    }
    return dout_->data + at * this->itemsize_of_rows();
  }

  void pull(int64_t index, int64_t part, Space& space) const {
    int64_t rows = task_.rows(), first = index * rows, keys = task_.keys;
    T* dq = part == 0 ? dq_ : more_ + (part - 1) * total_ * task_.features;
    Pulled of{this->head(index),
              gradient_of(index),
              first,
              dq + first * task_.features,
              dk_ + index * keys * task_.features,
              dv_ + index * keys * task_.width};
    clear(of.dq, rows * task_.features);
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
      int64_t count = std::min(TILE_ROWS, rows - i);
      RowsOf<T> g = this->queries(*dout_, of.g, task_.width, i, count, space.g);
      kernel_->dots(count, task_.width, space.level + i, g.data, g.row,
                    out_ + (first + i) * task_.width, task_.width);
    }
    this->read_seen(of.head, 0, rows, space.seen);
    int64_t begin = part * part_keys_, end = std::min(keys, begin + part_keys_);
    clear(of.dk + begin * task_.features, (end - begin) * task_.features);
    clear(of.dv + begin * task_.width, (end - begin) * task_.width);
    end = std::min(end, of.head.keys);
    for (int64_t key = begin; key < end; key += TILE_KEYS)
      pull_keys(of, key, std::min(TILE_KEYS, end - key), space);
  }

  static void clear(T* data, int64_t count) {
    memset(data, 0, static_cast<size_t>(count) * sizeof(T));
  }

  void pull_keys(const Pulled& of, int64_t key, int64_t keys, Space& space) const {
    const Head& head = of.head;
    this->pack(task_.k, head.k, task_.features, key, keys, space.k_panels);
    this->pack(task_.v, head.v, task_.width, key, keys, space.v_panels);
    RowsOf<T> k = this->keys(task_.k, head.k, task_.features, key, keys, space.keys);
    for (int64_t i = 0; i < task_.rows(); i += TILE_ROWS) {
      int64_t count = std::min(TILE_ROWS, task_.rows() - i);
      int64_t reach = *std::max_element(space.seen + i, space.seen + i + count);
      if (reach > key) pull_tile(of, i, count, key, std::min(keys, reach - key), k, space);
    }
  }

  void pull_tile(const Pulled& of, int64_t i, int64_t rows, int64_t key, int64_t cols, RowsOf<T> k,
                 Space& space) const {
    int64_t features = task_.features, width = task_.width;
    RowsOf<T> q = this->queries(task_.q, of.head.q, features, i, rows, space.q);
    RowsOf<T> g = this->queries(*dout_, of.g, width, i, rows, space.g);
    this->multiply_packed(rows, cols, features, q, space.k_panels, space.scores, TILE_KEYS);
    this->multiply_packed(rows, cols, width, g, space.v_panels, space.slopes, TILE_KEYS);
    if (of.head.mask) this->read_mask(of.head, i, rows, key, cols, space.added, TILE_KEYS);
    kernel_->slope(
        {rows, cols, space.scores, TILE_KEYS, task_.scale, of.head.mask ? space.added : nullptr,
         task_.is_bool, key, this->seen_of(space.seen + i, rows, key, cols)},
        space.slopes, most_ + of.row + i, inverse_ + of.row + i, space.level + i);
    this->multiply(cols, width, rows, space.scores, 1, TILE_KEYS, g, of.dv + key * width, width,
                   true);
    this->multiply(cols, features, rows, space.slopes, 1, TILE_KEYS, q, of.dk + key * features,
                   features, true);
    this->multiply(rows, features, cols, space.slopes, TILE_KEYS, 1, k, of.dq + i * features,
                   features, true);
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
  int64_t total_;              // rows of all heads
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
