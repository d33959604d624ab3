// Products of a matrix and a vector. k is summed in MATMUL_LANES chains, lane k % MATMUL_LANES, so
// that a matrix whose lines lie along k (dot) and one whose lines lie across (axpy) can both be
// read in the order of memory and yet give the same bits. `join` adds the lanes up by a fixed tree.
#pragma once

#include "matmul.h"
#include "matmul_simd.h"

namespace tessella::TS_ISA {

// The lanes of one line fill PARTS vectors.
template <class T>
constexpr int DOT_LANES = LANES<T> < MATMUL_LANES ? LANES<T> : MATMUL_LANES;
template <class T>
constexpr int DOT_PARTS = MATMUL_LANES / DOT_LANES<T>;

template <class T, int LINES>
void dot_lines(T* lanes, const T* matrix, const T* x, int64_t line, int64_t k) {
  using V = Vector<T, DOT_LANES<T>>;
  constexpr int PARTS = DOT_PARTS<T>;
  V sums[LINES][PARTS];
  for (int i = 0; i < LINES; i++)
    for (int v = 0; v < PARTS; v++)
      sums[i][v] = load<V>(lanes + i * MATMUL_LANES + v * DOT_LANES<T>);
  int64_t p = 0;
  for (; p + MATMUL_LANES <= k; p += MATMUL_LANES) {
#pragma GCC unroll 8
    for (int v = 0; v < PARTS; v++) {
      V xv = load<V>(x + p + v * DOT_LANES<T>);
#pragma GCC unroll 8
      for (int i = 0; i < LINES; i++) {
        V row = load<V>(matrix + i * line + p + v * DOT_LANES<T>);
        sums[i][v] = multiply_add(row, xv, sums[i][v]);
      }
    }
  }
  for (int i = 0; i < LINES; i++)
    for (int v = 0; v < PARTS; v++) store(lanes + i * MATMUL_LANES + v * DOT_LANES<T>, sums[i][v]);
  // The rest of k: lanes without an element keep their sums (adding 0 would turn -0 into 0).
  for (int i = 0; i < LINES; i++) {
    T* to = lanes + i * MATMUL_LANES;
    for (int64_t q = p; q < k; q++)
      to[q - p] = multiply_add_one(matrix[i * line + q], x[q], to[q - p]);
  }
}

template <class T>
void dot(void* lanes, const void* matrix, const void* x, int64_t line, int64_t lines, int64_t k) {
  T* to = static_cast<T*>(lanes);
  const T* from = static_cast<const T*>(matrix);
  const T* by = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + 4 <= lines; i += 4)
    dot_lines<T, 4>(to + i * MATMUL_LANES, from + i * line, by, line, k);
  for (; i < lines; i++) dot_lines<T, 1>(to + i * MATMUL_LANES, from + i * line, by, line, k);
}

// sums[j] += x[0] * row(0)[j], then x[1] * row(1)[j], ... for ROWS rows of one lane.
template <class T, int ROWS>
void axpy_rows(T* sums, const T* matrix, const T* x, int64_t k_step, int64_t lines) {
  using V = Native<T>;
  V by[ROWS];
  const T* rows[ROWS];
  for (int r = 0; r < ROWS; r++) {
    by[r] = splat<V>(x[r * MATMUL_LANES]);
    rows[r] = matrix + r * MATMUL_LANES * k_step;
  }
  int64_t j = 0;
  for (; j + LANES<T> <= lines; j += LANES<T>) {
    V sum = load<V>(sums + j);
    for (int r = 0; r < ROWS; r++) sum = multiply_add(load<V>(rows[r] + j), by[r], sum);
    store(sums + j, sum);
  }
  if (j == lines) return;
  Part<T> part(lines - j);
  V sum = part.load(sums + j);
  for (int r = 0; r < ROWS; r++) sum = multiply_add(part.load(rows[r] + j), by[r], sum);
  part.store(sums + j, sum);
}

template <class T>
void axpy(void* lanes, const void* matrix, const void* x, int64_t k_step, int64_t lines,
          int64_t k) {
  constexpr int ROWS = 4;
  T* to = static_cast<T*>(lanes);
  const T* from = static_cast<const T*>(matrix);
  const T* by = static_cast<const T*>(x);
  int64_t p = 0;
  for (; p + ROWS * MATMUL_LANES <= k; p += ROWS * MATMUL_LANES)
    for (int l = 0; l < MATMUL_LANES; l++)
      axpy_rows<T, ROWS>(to + l * lines, from + (p + l) * k_step, by + p + l, k_step, lines);
  for (; p < k; p++)
    axpy_rows<T, 1>(to + p % MATMUL_LANES * lines, from + p * k_step, by + p, k_step, lines);
}

template <class T>
void join(void* out, const void* lanes, int64_t lane, int64_t line, int64_t lines) {
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < lines; i++) {
    const T* from = static_cast<const T*>(lanes) + i * line;
    T sums[MATMUL_LANES];
    for (int l = 0; l < MATMUL_LANES; l++) sums[l] = from[l * lane];
    for (int half = MATMUL_LANES / 2; half > 0; half /= 2)
      for (int l = 0; l < half; l++) sums[l] += sums[l + half];
    to[i] = sums[0];
  }
}

template <class T>
void add(void* sums, const void* more, int64_t count) {
  T* to = static_cast<T*>(sums);
  const T* from = static_cast<const T*>(more);
  for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

}  // namespace tessella::TS_ISA
