// The kernels of argmax and argmin: the first position of the extremum; a NaN is one.
// A row is searched block by block: the extremum of a block is found by the fold of max or min, and
// only a block that improves on the earlier ones is read again for the position.
#include "reduce_extrema.h"

namespace tessella::TS_ISA {

namespace {

template <class Op, class T>
TS_INLINE bool is_better_one(T a, T b) {
  using One = VecN<T, 1>;
  return Op::is_better(One{a}, One{b})[0] != 0;
}

template <class V>
TS_INLINE MaskOf<V> is_same(V x, V value) {
  return x == value || (x != x && value != value);
}

// The first i with x[i] equal to value, which is there.
template <class T>
TS_INLINE int64_t find(const T* x, int64_t n, T value) {
  using V = Vec<T>;
  constexpr int W = vector_width<T>;
  int64_t i = 0;
  while (i + W <= n && !any(is_same(load<V>(x + i), splat<V>(value)))) i += W;
  while (!(x[i] == value || (x[i] != x[i] && value != value))) ++i;
  return i;
}

template <class Op, class T>
TS_INLINE void arg_row(const T* x, int64_t n, T* value, int64_t* index) {
  constexpr int64_t B = reduce_block(sizeof(T));
  for (int64_t i = 0; i < n; i += B) {
    int64_t count = n - i < B ? n - i : B;
    T best = fold_block<Op, T>(Stored<Op, T>{x}, i, count);
    if (i > 0 && !is_better_one<Op>(best, *value)) continue;
    *value = best;
    *index = i + find(x + i, count, best);
  }
}

template <class Op, class T>
void arg_rows(int64_t count, int64_t n, int64_t stride, Partials out, const void* x, int64_t base) {
  auto* values = static_cast<T*>(out.values);
  auto* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < count; ++i) {
    arg_row<Op>(from + i * stride, n, values + i, out.indices + i);
    out.indices[i] += base;
  }
}

template <class Op, class T>
TS_INLINE void take_better(Partials out, int64_t i, T value, int64_t index) {
  auto* values = static_cast<T*>(out.values);
  if (!is_better_one<Op>(value, values[i])) return;
  values[i] = value;
  out.indices[i] = index;
}

// Row numbers are kept in lanes as wide as the elements: this many rows fit in a signed byte.
constexpr int64_t rows_of_byte = 127;

// The running extremum and its row, for columns of at most rows_of_byte or one block of rows. Rows
// are read one after the other, because columns may lie far apart.
template <class Op, class T>
struct ArgColumns {
  using V = Vec<T>;
  using M = MaskOf<V>;
  static constexpr int W = vector_width<T>;

  T values[REDUCE_MAX_COLUMNS];
  Lane<M> where[REDUCE_MAX_COLUMNS];

  void start(const T* x, int64_t columns) {
    memcpy(values, x, (size_t)columns * sizeof(T));
    memset(where, 0, (size_t)columns * sizeof(T));
  }

  void take_row(const T* x, int64_t columns, int64_t row) {
    M number = splat<M>((Lane<M>)row);
    int64_t j = 0;
    for (; j + W <= columns; j += W) {
      V value = load<V>(x + j), best = load<V>(values + j);
      M better = Op::is_better(value, best);
      store(values + j, select(better, value, best));
      store(where + j, select(better, number, load<M>(where + j)));
    }
    for (; j < columns; ++j) {
      if (!is_better_one<Op>(x[j], values[j])) continue;
      values[j] = x[j];
      where[j] = (Lane<M>)row;
    }
  }
};

template <class Op, class T>
void arg_columns(int64_t rows, int64_t columns, const int64_t* offsets, Partials out, const void* x,
                 int64_t base) {
  constexpr int64_t step = sizeof(T) == 1 ? rows_of_byte : REDUCE_MAX_BLOCK;
  auto* from = static_cast<const T*>(x);
  ArgColumns<Op, T> best;
  for (int64_t first = 0; first < rows; first += step) {
    int64_t end = rows - first < step ? rows : first + step;
    best.start(from + offsets[first], columns);
    for (int64_t row = first + 1; row < end; ++row)
      best.take_row(from + offsets[row], columns, row - first);
    if (first == 0) memcpy(out.values, best.values, (size_t)columns * sizeof(T));
    for (int64_t j = 0; j < columns; ++j) {
      int64_t index = base + first + best.where[j];
      if (first == 0) out.indices[j] = index;
      take_better<Op, T>(out, j, best.values[j], index);
    }
  }
}

template <class Op, class T>
void arg_join(int64_t n, Partials out, Partials x) {
  auto* values = static_cast<const T*>(x.values);
  for (int64_t i = 0; i < n; ++i) take_better<Op, T>(out, i, values[i], x.indices[i]);
}

template <class Op, class T>
constexpr ReduceKernel arg_kernel = {arg_rows<Op, T>, arg_columns<Op, T>, nullptr, arg_join<Op, T>};

template <class T>
struct ArgmaxKernel {
  static constexpr ReduceKernel value = arg_kernel<Max, T>;
};
template <class T>
struct ArgminKernel {
  static constexpr ReduceKernel value = arg_kernel<Min, T>;
};

}  // namespace

extern constexpr ReduceFamily reduce_argmax = real_family<ArgmaxKernel>();
extern constexpr ReduceFamily reduce_argmin = real_family<ArgminKernel>();

}  // namespace tessella::TS_ISA
