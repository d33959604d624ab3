// Reductions by an associative join of two values, generic over the element type and the join.
// An Op has `identity` and `join`, on vectors of any width; joining with the identity changes no
// bits, so that missing lanes may be filled with it or skipped. Elements pass through `enter`
// before they are joined and results through `leave`. The order is that of reduce.h.
#pragma once

#include "../simd/vector.h"
#include "reduce.h"

namespace tessella::TS_ISA {

template <class T>
constexpr bool is_floating = static_cast<T>(0.5) != 0;
template <class T>
constexpr int lane_count = 256 / (int)sizeof(T);
template <class T>
constexpr int vector_width = VB / (int)sizeof(T);
template <class T>
constexpr int lane_vectors = 256 / VB;

// For an Op that joins elements as they are.
struct Unchanged {
  template <class T>
  static constexpr bool changes = false;
  template <class V>
  TS_INLINE V enter(V x) {
    return x;
  }
  template <class V>
  TS_INLINE V leave(V x) {
    return x;
  }
};

struct Sum : Unchanged {
  template <class T>
  static constexpr T identity = static_cast<T>(-0.0);  // x + -0.0 is x, also for x = -0.0
  template <class V>
  TS_INLINE V join(V a, V b) {
    return a + b;
  }
};

template <class Op, class T>
TS_INLINE T join_one(T a, T b) {
  using One = VecN<T, 1>;
  return Op::leave(Op::join(Op::enter(One{a}), Op::enter(One{b})))[0];
}

// Lanes l and l + half are joined until one is left.
template <class Op, class V>
TS_INLINE Lane<V> halve(V v) {
  if constexpr (lanes<V> == 1) {
    return Op::leave(v)[0];
  } else {
    return halve<Op>(Op::join(low_half(v), high_half(v)));
  }
}

// The elements of a row as they lie in memory. A fold reads through such a type: `at(i)` gives a
// vector of elements from i on, `at(i, n)` one of which n count, 0 < n < width.
template <class Op, class T>
struct Stored {
  static constexpr int AHEAD = 8192;  // bytes
  const T* x;
  __attribute__((always_inline)) Vec<T> at(int64_t i) const {
    return Op::enter(load<Vec<T>>(x + i));
  }
  __attribute__((always_inline)) Vec<T> at(int64_t i, int n) const {
    return Op::enter(load_partial<Vec<T>>(x + i, n));
  }
  // Asks for what comes later. Inlined: GCC takes a function that only prefetches for one without
  // effect.
  __attribute__((always_inline)) void ask_behind(int64_t i) const {
    __builtin_prefetch(x + i + AHEAD / sizeof(T), 0, 2);
  }
};

// Reads n elements from i on, 0 <= n < width; the other lanes hold the identity.
template <class Op, class T, class Read>
TS_INLINE Vec<T> read_padded(Read read, int64_t i, int n) {
  using V = Vec<T>;
  V identity = splat<V>(Op::template identity<T>);
  if (n == 0) return identity;
  V iota;
  for (int k = 0; k < vector_width<T>; ++k) iota[k] = (T)k;
  return select(iota < splat<V>((T)n), read.at(i, n), identity);
}
template <class Op, class T>
TS_INLINE Vec<T> load_padded(const T* x, int n) {
  return read_padded<Op, T>(Stored<Op, T>{x}, 0, n);
}

// Joins the n elements from `first` on, 0 < n <= block.
template <class Op, class T, class Read>
TS_INLINE T fold_block(Read read, int64_t first, int64_t n) {
  using V = Vec<T>;
  constexpr int W = vector_width<T>, K = lane_vectors<T>, L = lane_count<T>;
  constexpr int LINE = 64 / (int)sizeof(T);
  if (n < W) return halve<Op>(read_padded<Op, T>(read, first, (int)n));
  if (n == W) return halve<Op>(read.at(first));
  V acc[K];
  for (int k = 0; k < K; ++k) acc[k] = splat<V>(Op::template identity<T>);
  int64_t i = 0;
  if (n >= L) {
    for (int k = 0; k < K; ++k) acc[k] = read.at(first + k * W);
    for (i = L; i + L <= n; i += L)
      for (int k = 0; k < K; ++k) {
        if constexpr (requires { read.ask_behind(i); })
          if (k * W % LINE == 0) read.ask_behind(first + i + k * W);
        acc[k] = Op::join(acc[k], read.at(first + i + k * W));
      }
  }
  if (i < n) {
    int full = (int)(n - i) / W;
    V tail = read_padded<Op, T>(read, first + i + full * W, (int)(n - i) % W);
    for (int k = 0; k < K; ++k) {
      if (k < full) acc[k] = Op::join(acc[k], read.at(first + i + k * W));
      if (k == full) acc[k] = Op::join(acc[k], tail);
    }
  }
  for (int s = K / 2; s > 0; s /= 2)
    for (int k = 0; k < s; ++k) acc[k] = Op::join(acc[k], acc[k + s]);
  return halve<Op>(acc[0]);
}

// Joins blocks pairwise: after block b, the stack holds one value for each bit set in b + 1.
template <class Op, class T, class Read>
TS_INLINE T fold_row(Read read, int64_t n) {
  constexpr int64_t B = reduce_block(sizeof(T));
  if (n <= B) return fold_block<Op, T>(read, 0, n);
  T stack[64];
  int top = 0;
  for (int64_t b = 0; b * B < n; ++b) {
    int64_t left = n - b * B;
    T value = fold_block<Op, T>(read, b * B, left < B ? left : B);
    for (int64_t bits = b; bits & 1; bits >>= 1) value = join_one<Op>(stack[--top], value);
    stack[top++] = value;
  }
  T value = stack[--top];
  while (top > 0) value = join_one<Op>(stack[--top], value);
  return value;
}

template <class Op, class T>
void fold_rows(int64_t count, int64_t n, int64_t stride, Partials out, const void* x, int64_t) {
  auto* to = static_cast<T*>(out.values);
  auto* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < count; ++i) to[i] = fold_row<Op, T>(Stored<Op, T>{from + i * stride}, n);
}

// out[i] = join(out[i], x[i]), for values that have left or that have not.
template <class Op, bool HasLeft, class T>
TS_INLINE void join_runs(int64_t n, T* out, const T* x) {
  using V = Vec<T>;
  constexpr int W = vector_width<T>;
  auto join = [](V a, V b) {
    if constexpr (HasLeft) return Op::leave(Op::join(Op::enter(a), Op::enter(b)));
    return Op::join(a, b);
  };
  int64_t i = 0;
  for (; i + W <= n; i += W) store(out + i, join(load<V>(out + i), load<V>(x + i)));
  if (int rest = (int)(n - i); rest > 0)
    store_partial(out + i, join(load_partial<V>(out + i, rest), load_partial<V>(x + i, rest)),
                  rest);
}

template <class Op, class T>
void join_partials(int64_t n, Partials out, Partials x) {
  join_runs<Op, true>(n, static_cast<T*>(out.values), static_cast<const T*>(x.values));
}

// One block of columns. The tree over lanes is walked depth first, so that at each level only one
// run of columns waits for its partner; its lowest DEPTH levels are walked in registers. This jumps
// between rows: it is for a few of them.
template <class Op, class T>
struct ColumnTree {
  using V = Vec<T>;
  static constexpr int W = vector_width<T>, L = lane_count<T>;
  static constexpr int DEPTH = VB == 64 ? 3 : 2;
  static constexpr int AT_ONCE = 4;  // vectors, for each of DEPTH + 1 levels

  int64_t rows, columns;
  const int64_t* offsets;
  const T* x;
  T waiting[__builtin_ctz(L)][REDUCE_MAX_COLUMNS];

  // The lanes l, l + span, l + 2 * span, … joined.
  void fold(int64_t lane, int64_t span, int level, T* out) {
    if (span << DEPTH >= L) return fold_near(lane, span, out);
    fold(lane, span * 2, level + 1, out);
    if (lane + span >= rows) return;
    fold(lane + span, span * 2, level + 1, waiting[level]);
    join_runs<Op, false>(columns, out, waiting[level]);
  }

  // The same for so few lanes that their sums stay in registers.
  void fold_near(int64_t lane, int64_t span, T* out) {
    int64_t j = 0;
    auto read = [&](int64_t row, int k) { return load<V>(x + offsets[row] + j + k * W); };
    for (; j + AT_ONCE * W <= columns; j += AT_ONCE * W) {
      V acc[AT_ONCE];
      fold_vectors<DEPTH>(lane, span, acc, read);
      for (int k = 0; k < AT_ONCE; ++k) store(out + j + k * W, acc[k]);
    }
    for (; j < columns; j += W) {
      int rest = columns - j < W ? (int)(columns - j) : W;
      V acc[1];
      fold_vectors<DEPTH>(lane, span, acc, [&](int64_t row, int) {
        return rest == W ? read(row, 0) : load_partial<V>(x + offsets[row] + j, rest);
      });
      rest == W ? store(out + j, acc[0]) : store_partial(out + j, acc[0], rest);
    }
  }

  void leave(T* out) {
    int64_t j = 0;
    for (; j + W <= columns; j += W) store(out + j, Op::leave(load<V>(out + j)));
    if (int rest = (int)(columns - j); rest > 0)
      store_partial(out + j, Op::leave(load_partial<V>(out + j, rest)), rest);
  }

  template <int LEVELS, int N, class Read>
  __attribute__((always_inline)) void fold_vectors(int64_t lane, int64_t span, V (&acc)[N],
                                                   Read read) {
    if constexpr (LEVELS == 0) {
      for (int k = 0; k < N; ++k) acc[k] = Op::enter(read(lane, k));
      for (int64_t row = lane + L; row < rows; row += L)
        for (int k = 0; k < N; ++k) acc[k] = Op::join(acc[k], Op::enter(read(row, k)));
    } else {
      fold_vectors<LEVELS - 1>(lane, span * 2, acc, read);
      if (lane + span >= rows) return;
      V other[N];
      fold_vectors<LEVELS - 1>(lane + span, span * 2, other, read);
      for (int k = 0; k < N; ++k) acc[k] = Op::join(acc[k], other[k]);
    }
  }
};

template <class Op, class T>
void fold_tree(int64_t rows, int64_t columns, const int64_t* offsets, T* out, const T* x) {
  ColumnTree<Op, T> tree;
  tree.rows = rows;
  tree.columns = columns;
  tree.offsets = offsets;
  tree.x = x;
  tree.fold(0, 1, 0, out);
  if constexpr (Op::template changes<T>) tree.leave(out);
}

// The same for many rows, read in the order in which they lie: the sums of all lanes wait in a
// tile, to which each pass adds a few rows of every lane.
template <class Op, class T>
struct ColumnLanes {
  using V = Vec<T>;
  static constexpr int W = vector_width<T>, L = lane_count<T>;
  static constexpr int WIDTH = 512;  // columns at once: the tile has 128 KiB, and stays in L2
  static constexpr int STRIPS = 8;   // rows of a lane in one pass

  int64_t rows, columns, pitch;
  const int64_t* offsets;
  const T* x;
  alignas(64) T sums[L * WIDTH];

  void fold(T* out) {
    pitch = (columns + W - 1) / W * W;
    int64_t strips = rows / L, at = 0;
    for (; strips - at >= STRIPS; at += STRIPS) pass<STRIPS>(at * L, L);
    if (strips - at >= 4) pass<4>(at * L, L), at += 4;
    if (strips - at >= 2) pass<2>(at * L, L), at += 2;
    if (strips - at == 1) pass<1>(at * L, L);
    if (rows % L > 0) pass<1>(strips * L, rows % L);
    join_lanes(rows < L ? rows : L);
    int64_t j = 0;
    for (; j + W <= columns; j += W) store(out + j, Op::leave(load<V>(sums + j)));
    if (j < columns) store_partial(out + j, Op::leave(load<V>(sums + j)), (int)(columns - j));
  }

  // Joins rows first + lane, and those L, 2 * L, … after, to the sums of the first lanes.
  template <int N>
  void pass(int64_t first, int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const T* from[N];
      for (int s = 0; s < N; ++s) from[s] = x + offsets[first + s * L + lane];
      T* sum = sums + lane * pitch;
      int64_t j = 0;
      for (; j + W <= columns; j += W)
        store(sum + j, joined<N>(first == 0, sum + j, [&](int s) { return load<V>(from[s] + j); }));
      if (int rest = (int)(columns - j); rest > 0)
        store(sum + j, joined<N>(first == 0, sum + j,
                                 [&](int s) { return load_partial<V>(from[s] + j, rest); }));
    }
  }

  template <int N, class Read>
  static __attribute__((always_inline)) V joined(bool is_first, const T* sum, Read read) {
    V value = Op::enter(read(0));
    if (!is_first) value = Op::join(load<V>(sum), value);
    for (int s = 1; s < N; ++s) value = Op::join(value, Op::enter(read(s)));
    return value;
  }

  // The tree over lanes: three levels at once where all lanes are there.
  void join_lanes(int64_t live) {
    int64_t span = L;
    for (; live == span && span >= 8; live = span /= 8) join_eight(span / 8);
    for (int64_t half = span / 2; half > 0; half /= 2) {
      if (live <= half) continue;
      join_runs<Op, false>((live - half) * pitch, sums, sums + half * pitch);
      live = half;
    }
  }

  void join_eight(int64_t lanes) {
    for (int64_t j = 0; j < lanes * pitch; j += W) {
      V value[8];
      for (int i = 0; i < 8; ++i) value[i] = load<V>(sums + i * lanes * pitch + j);
      for (int half = 4; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) value[i] = Op::join(value[i], value[i + half]);
      store(sums + j, value[0]);
    }
  }
};

template <class Op, class T>
void fold_lanes(int64_t rows, int64_t columns, const int64_t* offsets, T* out, const T* x) {
  ColumnLanes<Op, T> lanes;
  lanes.rows = rows;
  lanes.offsets = offsets;
  for (int64_t j = 0; j < columns; j += lanes.WIDTH) {
    lanes.x = x + j;
    lanes.columns = columns - j < lanes.WIDTH ? columns - j : lanes.WIDTH;
    lanes.fold(out + j);
  }
}

// Integers give the same in any order: no tree.
template <class Op, class T>
void fold_integers(int64_t rows, int64_t columns, const int64_t* offsets, T* out, const T* x) {
  static_assert(!Op::template changes<T>);
  using V = Vec<T>;
  constexpr int W = vector_width<T>, AT_ONCE = 4;
  int64_t j = 0;
  for (; j + AT_ONCE * W <= columns; j += AT_ONCE * W) {
    V acc[AT_ONCE];
    for (int k = 0; k < AT_ONCE; ++k) acc[k] = load<V>(x + offsets[0] + j + k * W);
    for (int64_t row = 1; row < rows; ++row)
      for (int k = 0; k < AT_ONCE; ++k)
        acc[k] = Op::join(acc[k], load<V>(x + offsets[row] + j + k * W));
    for (int k = 0; k < AT_ONCE; ++k) store(out + j + k * W, acc[k]);
  }
  for (; j + W <= columns; j += W) {
    V acc = load<V>(x + offsets[0] + j);
    for (int64_t row = 1; row < rows; ++row) acc = Op::join(acc, load<V>(x + offsets[row] + j));
    store(out + j, acc);
  }
  if (int rest = (int)(columns - j); rest > 0) {
    V acc = load_partial<V>(x + offsets[0] + j, rest);
    for (int64_t row = 1; row < rows; ++row)
      acc = Op::join(acc, load_partial<V>(x + offsets[row] + j, rest));
    store_partial(out + j, acc, rest);
  }
}

template <class Op, class T>
void fold_columns(int64_t rows, int64_t columns, const int64_t* offsets, Partials out,
                  const void* x, int64_t) {
  constexpr int64_t FEW = 4 * lane_count<T>;
  auto* to = static_cast<T*>(out.values);
  auto* from = static_cast<const T*>(x);
  if constexpr (!is_floating<T>)
    fold_integers<Op, T>(rows, columns, offsets, to, from);
  else if (rows > FEW)
    fold_lanes<Op, T>(rows, columns, offsets, to, from);
  else
    fold_tree<Op, T>(rows, columns, offsets, to, from);
}

// All lanes of all columns are one long row: element r * columns + j belongs to lane r % L of
// column j, so vectors are full however few the columns are.
template <class Op, class T>
void fold_dense(int64_t rows, int64_t columns, Partials out, const void* x) {
  using V = Vec<T>;
  constexpr int W = vector_width<T>, L = lane_count<T>;
  auto* from = static_cast<const T*>(x);
  alignas(64) T acc[L * REDUCE_DENSE_COLUMNS];
  int64_t live = rows < L ? rows : L, width = live * columns, size = rows * columns, j = 0;
  for (; j + W <= width; j += W) {
    V value = Op::enter(load<V>(from + j));
    int64_t at = j + width;
    for (; at + W <= size; at += width) value = Op::join(value, Op::enter(load<V>(from + at)));
    if (at < size) value = Op::join(value, load_padded<Op>(from + at, (int)(size - at)));
    store(acc + j, value);
  }
  if (int rest = (int)(width - j); rest > 0) {  // only if rows < L, or of a width below a vector
    V value = Op::enter(load_partial<V>(from + j, rest));
    for (int64_t at = j + width; at < size; at += width)
      value =
          Op::join(value, load_padded<Op>(from + at, rest < size - at ? rest : (int)(size - at)));
    store_partial(acc + j, value, rest);
  }
  for (int64_t half = L / 2; half > 0; half /= 2) {
    if (live <= half) continue;
    join_runs<Op, false>((live - half) * columns, acc, acc + half * columns);
    live = half;
  }
  auto* to = static_cast<T*>(out.values);
  for (int64_t i = 0; i < columns; ++i) to[i] = Op::leave(VecN<T, 1>{acc[i]})[0];
}

template <class Op, class T>
constexpr ReduceKernel fold_kernel = {fold_rows<Op, T>, fold_columns<Op, T>, fold_dense<Op, T>,
                                      join_partials<Op, T>};

}  // namespace tessella::TS_ISA
