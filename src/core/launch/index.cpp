// Index points are resolved a block at a time into element offsets on the stack; the copying loops
// know only offsets. A get cuts its points and its rest into chunks. A set or add cuts the rest
// alone, and every chunk takes the points in order: so the last write wins and sums have one order
// at any thread count.
#include "index.h"

#include <string.h>

#include <algorithm>
#include <atomic>

#include "../half.h"
#include "../integers.h"
#include "../threads.h"
#include "runs.h"

namespace tessella::launch {
namespace {

constexpr int64_t block_points = 512;
constexpr int64_t chunk_elements = 16384;   // of a chunk that copies runs
constexpr int64_t chunk_points = 4096;      // of one that copies single elements
constexpr int64_t span_points = 16384;      // of a set that runs on one thread, between two polls
constexpr int64_t span_elements = 1 << 22;  // of a part of one that runs on several
constexpr int64_t chunk_checks = 1 << 16;   // indices that are checked between two polls
constexpr int64_t part_bytes = 1024;        // a smaller piece of a slice is not worth a chunk
constexpr int64_t short_run = 8;            // elements; below this a loop over points is faster

struct Block {
  int64_t count;
  int64_t x[block_points];       // element offset of each point's slice in x
  int64_t values[block_points];  // and in values
};

template <class F>
void for_each_index(const IndexTask& task, int which, int64_t begin, int64_t end, F&& body) {
  Runs<1> runs(task.index_ndim, task.index_shape, {task.index_strides[which]});
  int64_t step = runs.inner_stride(0);
  runs.walk(begin, end, [&](const int64_t (&offsets)[1], int64_t count) {
    body(task.indices[which] + offsets[0], step, count);
  });
}

// Negative indices count from the end. One outside the axis becomes 0, and sets *is_bad.
int64_t resolve(int64_t index, int64_t size, bool* is_bad) {
  index += index < 0 ? size : 0;
  bool is_outside = static_cast<uint64_t>(index) >= static_cast<uint64_t>(size);
  *is_bad |= is_outside;
  return is_outside ? 0 : index;
}

// Tells whether every index was inside its axis.
bool resolve_block(const IndexTask& task, int64_t begin, int64_t end, Block& block) {
  bool is_bad = false;
  block.count = end - begin;
  if (task.index_count == 0) std::fill_n(block.x, block.count, 0);
  for (int which = 0; which < task.index_count; ++which) {
    int64_t size = task.axis_sizes[which], stride = task.axis_strides[which];
    int64_t* out = block.x;
    bool is_first = which == 0;
    for_each_index(task, which, begin, end, [&](const int64_t* index, int64_t step, int64_t n) {
      for (int64_t i = 0; i < n; ++i, ++out)
        *out = (is_first ? 0 : *out) + resolve(index[i * step], size, &is_bad) * stride;
    });
  }
  Runs<1> runs(task.index_ndim, task.index_shape, {task.value_index_strides});
  int64_t step = runs.inner_stride(0);
  int64_t* out = block.values;
  runs.walk(begin, end, [&](const int64_t (&offsets)[1], int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = offsets[0] + i * step;
    out += n;
  });
  return !is_bad;
}

// What happens to a contiguous run of elements; n is 1 where there is none.
struct Get {
  template <class T>
  static void run(T* x, T* value, int64_t n) {
    memcpy(value, x, sizeof(T) * static_cast<size_t>(n));
  }
};

struct Set {
  template <class T>
  static void run(T* x, T* value, int64_t n) {
    memcpy(x, value, sizeof(T) * static_cast<size_t>(n));
  }
};

template <class T>
struct ComplexElement {
  T re, im;
};

// Integers wrap around: they add as unsigned ones, which overflow without being undefined.
template <class T>
T sum(T x, T y) {
  if constexpr (static_cast<T>(0.5) != 0) {
    return x + y;
  } else {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  }
}
bool sum(bool x, bool y) { return x || y; }
template <class T>
ComplexElement<T> sum(ComplexElement<T> x, ComplexElement<T> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class Half>
Half half_sum(Half x, Half y) {
  from_float(to_float(x) + to_float(y), &x);
  return x;
}
Float16 sum(Float16 x, Float16 y) { return half_sum(x, y); }
BFloat16 sum(BFloat16 x, BFloat16 y) { return half_sum(x, y); }

struct Add {
  template <class T>
  static void run(T* __restrict x, T* __restrict value, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = sum(x[i], value[i]);
  }
};

struct Multiply {
  template <class T>
  static void run(T* __restrict x, T* __restrict value, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] * value[i];
  }
};

struct Greatest {
  template <class T>
  static void run(T* __restrict x, T* __restrict value, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      x[i] = value[i] > x[i] || value[i] != value[i] ? value[i] : x[i];
  }
};

struct Least {
  template <class T>
  static void run(T* __restrict x, T* __restrict value, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      x[i] = value[i] < x[i] || value[i] != value[i] ? value[i] : x[i];
  }
};

// Without loops of their own for single elements, as those take more code than they are worth.
template <class Op>
constexpr bool is_rare = false;
template <>
constexpr bool is_rare<Multiply> = true;
template <>
constexpr bool is_rare<Greatest> = true;
template <>
constexpr bool is_rare<Least> = true;

// A Mover without its types, so that there is one of what cuts its work into chunks.
struct Moving {
  const void* mover;
  bool (*call)(const void* mover, int64_t first, int64_t last, int64_t begin, int64_t end);
  int64_t points, rest, item;
  bool is_points_inside;

  bool operator()(int64_t first, int64_t last, int64_t begin, int64_t end) const {
    return call(mover, first, last, begin, end);
  }
  int64_t cost_ns(int64_t n, int64_t elements) const {
    constexpr double MOST = 1e9;  // a second is as good as more, and can be multiplied
    double each = static_cast<double>(item) * (is_points_inside ? 1 : 0.125);
    double ns = static_cast<double>(n) * (2 + static_cast<double>(elements) * each);
    return static_cast<int64_t>(std::min(ns, MOST));
  }
};

// Runs Op between x and values, element type T. The points of a block and the rest are two nested
// loops; inside goes the one whose steps in memory are smaller.
template <class Op, class T>
class Mover {
 public:
  explicit Mover(const IndexTask& task)
      : task_(task),
        x_(reinterpret_cast<T*>(task.x)),
        values_(reinterpret_cast<T*>(task.values)),
        points_(size_of({task.index_shape, static_cast<size_t>(task.index_ndim)})),
        rest_(task.rest_ndim, task.rest_shape, {task.rest_strides_x, task.value_rest_strides}) {
    int last = task.index_ndim - 1;
    int64_t rest_steps = magnitude(rest_.inner_stride(0)) + magnitude(rest_.inner_stride(1));
    int64_t point_steps = last < 0 ? 0 : magnitude(task.value_index_strides[last]);
    if (task.index_count > 0) point_steps += magnitude(task.axis_strides[task.index_count - 1]);
    is_points_inside_ = rest_.inner_size() < short_run || point_steps < rest_steps;
  }

  Moving moving() const {
    auto call = [](const void* mover, int64_t first, int64_t last, int64_t begin, int64_t end) {
      Mover own = *static_cast<const Mover*>(mover);  // nobody else writes to it
      return own(first, last, begin, end);
    };
    return {this, call, points_, rest_.size, sizeof(T), is_points_inside_};
  }

  // The points [first, last), in order, and of the rest the elements [begin, end). Tells whether
  // every index was inside its axis.
  bool operator()(int64_t first, int64_t last, int64_t begin, int64_t end) const {
    if constexpr (!is_rare<Op>) {
      if (rest_.size == 1 && task_.index_count == 1) return points_alone<1>(first, last);
      if (rest_.size == 1 && task_.index_count == 2) return points_alone<2>(first, last);
      if (rest_.size == 1 && task_.index_count == 3) return points_alone<3>(first, last);
    }
    Block block;
    bool is_good = true;
    for (int64_t at = first; at < last; at += block_points) {
      is_good &= resolve_block(task_, at, std::min(at + block_points, last), block);
      int64_t step_x = rest_.inner_stride(0), step_v = rest_.inner_stride(1);
      if (is_points_inside_) {
        points_inside(block, begin, end);
      } else if (step_x == 1 && step_v == 1) {
        rest_inside(block, begin, end, [](T* x, T* v, int64_t n) { Op::run(x, v, n); });
      } else if (step_x == 1 && step_v == 0) {
        rest_inside(block, begin, end, [](T* x, T* v, int64_t n) {
          for (int64_t i = 0; i < n; ++i) Op::run(x + i, v, 1);
        });
      } else {
        rest_inside(block, begin, end, [=](T* x, T* v, int64_t n) {
          for (int64_t i = 0; i < n; ++i) Op::run(x + i * step_x, v + i * step_v, 1);
        });
      }
    }
    return is_good;
  }

 private:
  // Single elements, chosen by N index tensors.
  template <int N>
  bool points_alone(int64_t first, int64_t last) const {
    const int64_t* strides[N + 1];
    for (int k = 0; k < N; ++k) strides[k] = task_.index_strides[k];
    strides[N] = task_.value_index_strides;
    Runs<N + 1> runs(task_.index_ndim, task_.index_shape, strides);
    bool is_bad = false;
    runs.walk(first, last, [&](const int64_t (&offsets)[N + 1], int64_t n) {
      // Copies: what is written through a T* could be any of the originals.
      const int64_t* index[N];
      int64_t step[N], size[N], stride[N], step_v = runs.inner_stride(N);
      for (int k = 0; k < N; ++k) {
        index[k] = task_.indices[k] + offsets[k];
        step[k] = runs.inner_stride(k);
        size[k] = task_.axis_sizes[k];
        stride[k] = task_.axis_strides[k];
      }
      T *x = x_, *v = values_ + offsets[N];
      bool is_outside = false;
      for (int64_t i = 0; i < n; ++i) {
        int64_t at = 0;
        for (int k = 0; k < N; ++k)
          at += resolve(index[k][i * step[k]], size[k], &is_outside) * stride[k];
        Op::run(x + at, v + i * step_v, 1);
      }
      is_bad |= is_outside;
    });
    return !is_bad;
  }

  void points_inside(const Block& block, int64_t begin, int64_t end) const {
    rest_.walk(begin, end, [&](const int64_t (&offsets)[2], int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        T* x = x_ + (offsets[0] + i * rest_.inner_stride(0));
        T* v = values_ + (offsets[1] + i * rest_.inner_stride(1));
        for (int64_t p = 0; p < block.count; ++p) Op::run(x + block.x[p], v + block.values[p], 1);
      }
    });
  }

  template <class F>
  void rest_inside(const Block& block, int64_t begin, int64_t end, F&& run) const {
    for (int64_t p = 0; p < block.count; ++p) {
      rest_.walk(begin, end, [&](const int64_t (&offsets)[2], int64_t n) {
        run(x_ + (offsets[0] + block.x[p]), values_ + (offsets[1] + block.values[p]), n);
      });
    }
  }

  const IndexTask& task_;
  T* x_;
  T* values_;
  int64_t points_;
  Runs<2> rest_;
  bool is_points_inside_;
};

bool gather_chunks(const IndexTask& task, const Moving& move) {
  int64_t points = move.points, rest = move.rest;
  if (points == 0) return true;
  if (BadIndex bad; rest == 0) return check_indices(task, &bad);
  // An index outside its axis is read as 0, and there is no element 0 on an empty axis.
  if (std::count(task.axis_sizes, task.axis_sizes + task.index_count, 0) > 0) return false;
  // Whichever is inside comes whole into a chunk, if it is not longer than that.
  int64_t elements = move.is_points_inside ? chunk_points : chunk_elements;
  int64_t inside = move.is_points_inside ? std::min(points, block_points) : 1;
  int64_t part = std::clamp<int64_t>(elements / inside, 1, rest);
  int64_t span = std::clamp<int64_t>(elements / part, 1, points);
  int64_t parts = ceil_div(rest, part);
  int64_t chunks = ceil_div(points, span) * parts;
  std::atomic<bool> is_good = true;
  parallel(chunks, move.cost_ns(span, part), task.interruptible, [&](int64_t chunk, int) {
    int64_t first = chunk / parts * span, begin = chunk % parts * part;
    if (!move(first, std::min(first + span, points), begin, std::min(begin + part, rest)))
      is_good.store(false, std::memory_order_relaxed);
  });
  return is_good;
}

void write_chunks(const IndexTask& task, const Moving& move) {
  int64_t points = move.points, rest = move.rest;
  if (points == 0 || rest == 0) return;
  int64_t part = std::max(part_bytes / move.item, ceil_div(rest, 64));
  int64_t parts = ceil_div(rest, part);
  if (parts == 1) {  // one worker takes the chunks in order
    int64_t chunks = ceil_div(points, span_points);
    auto span = [&](int64_t chunk, int) {
      int64_t first = chunk * span_points;
      move(first, std::min(first + span_points, points), 0, rest);
    };
    return parallel(chunks, move.cost_ns(span_points, rest), task.interruptible, span, 1);
  }
  int64_t span = std::max(block_points, span_elements / part);
  for (int64_t first = 0; first < points; first += span) {
    int64_t last = std::min(first + span, points);
    parallel(parts, move.cost_ns(last - first, part), task.interruptible, [&](int64_t chunk, int) {
      int64_t begin = chunk * part;
      move(first, last, begin, std::min(begin + part, rest));
    });
  }
}

template <class T>
bool gather_items(const IndexTask& task) {
  Mover<Get, T> mover(task);
  return gather_chunks(task, mover.moving());
}

template <class Op, class T>
void write_items(const IndexTask& task) {
  Mover<Op, T> move(task);
  Moving moving = move.moving();
  if (moving.rest != 1) return write_chunks(task, moving);
  // Single elements, in order, by one worker: loops that the compiler sees whole are faster.
  auto span = [&](int64_t chunk, int) {
    int64_t first = chunk * span_points;
    move(first, std::min(first + span_points, moving.points), 0, 1);
  };
  parallel(ceil_div(moving.points, span_points), moving.cost_ns(span_points, 1), task.interruptible,
           span, 1);
}

template <class T>
void join_items(const IndexTask& task, Joining joining) {
  switch (joining) {
    case Joining::product:  // integers wrap around, as unsigned ones do
      if constexpr (static_cast<T>(0.5) == 0) return write_items<Multiply, uint64_t>(task);
      return write_items<Multiply, T>(task);
    case Joining::greatest:
      return write_items<Greatest, T>(task);
    case Joining::least:
      return write_items<Least, T>(task);
  }
}

// Elements that only move: N bytes, of any alignment.
template <int N>
struct Item {
  char bytes[N];
};

}  // namespace

bool find_outside(int ndim, const int64_t* shape, const int64_t* strides, const int64_t* x,
                  int64_t low, int64_t high, int64_t* found) {
  int64_t sizes[MAX_NDIM];  // of those in memory: what is repeated is looked at once
  for (int i = 0; i < ndim; ++i)
    sizes[i] = strides[i] == 0 ? std::min<int64_t>(shape[i], 1) : shape[i];
  Runs<1> runs(ndim, sizes, {strides});
  int64_t step = runs.inner_stride(0);
  // One comparison, of unsigned numbers that wrap around.
  auto first = static_cast<uint64_t>(low);
  uint64_t good = low > high ? 0 : static_cast<uint64_t>(high) - first + 1;
  if (low <= high && good == 0) return false;  // every number is
  auto is_bad = [=](int64_t value) { return static_cast<uint64_t>(value) - first >= good; };
  bool is_found = false;
  auto look = [&](int64_t chunk, int) {
    int64_t begin = chunk * chunk_checks;
    if (is_found) return;
    runs.walk(begin, std::min(begin + chunk_checks, runs.size),
              [&, is_bad, step](const int64_t (&offsets)[1], int64_t count) {
                const int64_t* run = x + offsets[0];
                int64_t bad_count = 0;
                for (int64_t i = 0; i < count; ++i) bad_count += is_bad(run[i * step]);
                for (int64_t i = 0; bad_count != 0 && !is_found && i < count; ++i)
                  if ((is_found = is_bad(run[i * step]))) *found = run[i * step];
              });
  };
  // One worker, in order: its core reads them again when it uses them.
  parallel(ceil_div(runs.size, chunk_checks), chunk_checks / 2, true, look, 1);
  return is_found;
}

bool check_indices(const IndexTask& task, BadIndex* bad) {
  for (int which = 0; which < task.index_count; ++which) {
    int64_t size = task.axis_sizes[which];
    bad->which = which, bad->axis_size = size;
    if (find_outside(task.index_ndim, task.index_shape, task.index_strides[which],
                     task.indices[which], -size, size - 1, &bad->value))
      return false;
  }
  return true;
}

bool gather(const IndexTask& task) {
  switch (task.itemsize) {
    case 1:
      return gather_items<Item<1>>(task);
    case 2:
      return gather_items<Item<2>>(task);
    case 4:
      return gather_items<Item<4>>(task);
    case 8:
      return gather_items<Item<8>>(task);
    default:
      return gather_items<Item<16>>(task);
  }
}

void scatter(const IndexTask& task) {
  switch (task.itemsize) {
    case 1:
      return write_items<Set, Item<1>>(task);
    case 2:
      return write_items<Set, Item<2>>(task);
    case 4:
      return write_items<Set, Item<4>>(task);
    case 8:
      return write_items<Set, Item<8>>(task);
    default:
      return write_items<Set, Item<16>>(task);
  }
}

void scatter_add(const IndexTask& task, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return write_items<Add, bool>(task);
    case DType::int8:
    case DType::uint8:
      return write_items<Add, uint8_t>(task);
    case DType::int16:
    case DType::uint16:
      return write_items<Add, uint16_t>(task);
    case DType::int32:
    case DType::uint32:
      return write_items<Add, uint32_t>(task);
    case DType::int64:
    case DType::uint64:
      return write_items<Add, uint64_t>(task);
    case DType::float16:
      return write_items<Add, Float16>(task);
    case DType::bfloat16:
      return write_items<Add, BFloat16>(task);
    case DType::float32:
      return write_items<Add, float>(task);
    case DType::float64:
      return write_items<Add, double>(task);
    case DType::complex64:
      return write_items<Add, ComplexElement<float>>(task);
    case DType::complex128:
      return write_items<Add, ComplexElement<double>>(task);
  }
}

void scatter_join(const IndexTask& task, DType dtype, Joining joining) {
  switch (dtype) {
    case DType::int64:
      return join_items<int64_t>(task, joining);
    case DType::uint64:
      return join_items<uint64_t>(task, joining);
    case DType::float32:
      return join_items<float>(task, joining);
    default:
      return join_items<double>(task, joining);
  }
}

}  // namespace tessella::launch
