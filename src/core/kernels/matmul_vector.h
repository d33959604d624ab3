// Products of a matrix and a vector. k is summed in MATMUL_LANES chains, lane k % MATMUL_LANES, so
// that a matrix whose lines lie along k (dot) and one whose lines lie across (axpy) can both be
// read in the order of memory and yet give the same bits. The lanes are added up by a fixed tree.
#pragma once

#include <string.h>

#include "matmul.h"
#include "matmul_simd.h"

namespace tessella::TS_ISA {

// The lanes of one line fill so many vectors.
template <class T>
constexpr int DOT_PARTS = MATMUL_LANES / LANES<T>;
// Lines that are summed at once: eight sums are under way, which hides the latency of each.
template <class T>
constexpr int DOT_LINES = LANES<T> / 2;

// A line is read once, together with others: more than the processor follows unaided.
template <class T>
constexpr int64_t AHEAD = 256 / sizeof(T);

// k elements of x. Those after the last whole MATMUL_LANES are kept apart and filled up with -0:
// the product of 0 and -0 can be added to any sum without changing it.
template <class T>
struct DotVector {
  const T* x;
  int64_t k, whole;
  T rest[MATMUL_LANES];

  DotVector(const T* x_, int64_t k_) : x(x_), k(k_), whole(k_ - k_ % MATMUL_LANES) {
    for (int l = 0; l < MATMUL_LANES; l++) rest[l] = whole + l < k ? x[whole + l] : T(-0.0);
  }
};

// The lanes of each line, joined until they fill one vector.
template <class T, int LINES>
inline void dot_lines(Native<T>* joined, const T* matrix, int64_t line, const DotVector<T>& by) {
  using V = Native<T>;
  constexpr int N = LANES<T>, PARTS = DOT_PARTS<T>;
  V sums[LINES][PARTS] = {};
  for (int64_t p = 0; p < by.whole; p += MATMUL_LANES) {
#pragma GCC unroll 8
    for (int v = 0; v < PARTS; v++) {
      V x = load<V>(by.x + p + v * N);
#pragma GCC unroll 8
      for (int i = 0; i < LINES; i++) {
        const T* at = matrix + i * line + p + v * N;
        fetch_at(at, AHEAD<T>);
        sums[i][v] = multiply_add(load<V>(at), x, sums[i][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < PARTS; v++) {
    int64_t count = by.k - by.whole - v * N;
    if (count <= 0) break;
    Part<T> part(count < N ? count : N);
    V x = load<V>(by.rest + v * N);
#pragma GCC unroll 8
    for (int i = 0; i < LINES; i++)
      sums[i][v] = multiply_add(part.load(matrix + i * line + by.whole + v * N), x, sums[i][v]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < LINES; i++) {
#pragma GCC unroll 8
    for (int half = PARTS / 2; half > 0; half /= 2)
      for (int v = 0; v < half; v++) sums[i][v] += sums[i][v + half];
    joined[i] = sums[i][0];
  }
}

// `count` lines, as many at once as can be.
template <class T, int LINES>
inline void dot_group(Native<T>* joined, const T* matrix, int64_t line, int64_t count,
                      const DotVector<T>& by) {
  for (; count >= LINES; count -= LINES, joined += LINES, matrix += LINES * line)
    dot_lines<T, LINES>(joined, matrix, line, by);
  if constexpr (LINES > 1) dot_group<T, LINES / 2>(joined, matrix, line, count, by);
}

// Lane l becomes the sum of all lanes of vector l: transposing and adding at once.
template <int SIZE, class V>
inline __attribute__((always_inline)) V join_rows(V* rows) {
#pragma GCC unroll 8
  for (int i = 0; i < SIZE; i++) {
    swap_blocks<SIZE>(rows[i], rows[i + SIZE]);
    rows[i] += rows[i + SIZE];
  }
  if constexpr (SIZE > 1) return join_rows<SIZE / 2>(rows);
  return rows[0];
}

template <class T>
void dot(void* out, const void* matrix, const void* x, int64_t line, int64_t lines, int64_t k) {
  constexpr int N = LANES<T>;
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(matrix);
  DotVector<T> by(static_cast<const T*>(x), k);
  Native<T> joined[N] = {};
  for (int64_t i = 0; i < lines; i += N) {
    int64_t count = lines - i < N ? lines - i : N;
    dot_group<T, DOT_LINES<T>>(joined, from + i * line, line, count, by);
    Native<T> sums = join_rows<N / 2>(joined);
    if (count == N)
      store(to + i, sums);
    else
      Part<T>(count).store(to + i, sums);
  }
}

// sums[j] += x[0] * row(0)[j], then x[1] * row(1)[j], ... for ROWS rows of one lane. The sums begin
// at zero if not `resume`. Rows are not fetched ahead of their use: where they lie a power of two
// apart, they share the sets of L1, and what is fetched would drive out what is used.
template <class T, int ROWS>
void axpy_rows(T* sums, const T* matrix, const T* x, int64_t k_step, int64_t lines, bool resume) {
  using V = Native<T>;
  V by[ROWS];
  for (int r = 0; r < ROWS; r++) by[r] = splat<V>(x[r * MATMUL_LANES]);
  int64_t step = MATMUL_LANES * k_step, j = 0;
  for (; j + LANES<T> <= lines; j += LANES<T>) {
    V sum = resume ? load<V>(sums + j) : V{};
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum = multiply_add(load<V>(matrix + r * step + j), by[r], sum);
    store(sums + j, sum);
  }
  if (j == lines) return;
  Part<T> part(lines - j);
  V sum = resume ? part.load(sums + j) : V{};
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++) sum = multiply_add(part.load(matrix + r * step + j), by[r], sum);
  part.store(sums + j, sum);
}

// All rows of one lane, so many at once: the sums of a lane stay in L1.
template <class T, int ROWS>
inline void axpy_lane(T* sums, const T* matrix, const T* x, int64_t k_step, int64_t lines,
                      int64_t rows, bool resume) {
  for (; rows >= ROWS; rows -= ROWS, resume = true) {
    axpy_rows<T, ROWS>(sums, matrix, x, k_step, lines, resume);
    matrix += ROWS * MATMUL_LANES * k_step;
    x += ROWS * MATMUL_LANES;
  }
  if constexpr (ROWS > 1) axpy_lane<T, ROWS / 2>(sums, matrix, x, k_step, lines, rows, resume);
}

template <class T>
void axpy(void* lanes, const void* matrix, const void* x, int64_t k_step, int64_t lines, int64_t k,
          bool resume) {
  T* to = static_cast<T*>(lanes);
  const T* from = static_cast<const T*>(matrix);
  const T* by = static_cast<const T*>(x);
  for (int64_t l = 0; l < MATMUL_LANES; l++) {
    int64_t rows = (k - l + MATMUL_LANES - 1) / MATMUL_LANES;
    if (rows > 0)
      axpy_lane<T, 8>(to + l * lines, from + l * k_step, by + l, k_step, lines, rows, resume);
    else if (!resume)
      memset(to + l * lines, 0, size_t(lines) * sizeof(T));
  }
}

// What is in lane `lane` of the tree when `COUNT` lanes are left; get(l) reads lane l.
template <int COUNT, class V, class Get>
inline __attribute__((always_inline)) V join_tree(int lane, Get get) {
  if constexpr (COUNT == MATMUL_LANES)
    return get(lane);
  else
    return join_tree<2 * COUNT, V>(lane, get) + join_tree<2 * COUNT, V>(lane + COUNT, get);
}

template <class T>
void join(void* out, const void* lanes, int64_t lines) {
  using V = Native<T>;
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(lanes);
  int64_t j = 0;
  for (; j + LANES<T> <= lines; j += LANES<T>)
    store(to + j, join_tree<1, V>(0, [&](int l) { return load<V>(from + l * lines + j); }));
  if (j == lines) return;
  Part<T> part(lines - j);
  part.store(to + j, join_tree<1, V>(0, [&](int l) { return part.load(from + l * lines + j); }));
}

template <class T>
void add(void* sums, const void* more, int64_t count) {
  T* to = static_cast<T*>(sums);
  const T* from = static_cast<const T*>(more);
  for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

}  // namespace tessella::TS_ISA
