// Sorts the columns of a tile, many short sequences at once: every exchange is between two rows.
// Blocks of rows are sorted in registers and merged by bitonic networks, two of whose stages are
// done in one pass over the tile where they can.
#pragma once

#include "sort_network.h"

namespace tessella::TS_ISA {

// One vector of columns of a tile with `rows` rows, a multiple of BLOCK_ROWS, `Step` words apart.
// Rows that a merge misses at the end count as the greatest: exchanges with them change nothing.
template <class T, int Step>
struct Columns {
  using V = Vec<T>;
  T* at;
  int64_t rows;

  V get(int64_t row) const { return load<V>(at + row * Step); }
  void put(int64_t row, V v) const { store(at + row * Step, v); }

  template <int R, class F>
  __attribute__((always_inline)) void block(int64_t first, F&& body) const {
    V v[R];
    for (int r = 0; r < R; ++r) v[r] = get(first + r);
    body(v);
    for (int r = 0; r < R; ++r) put(first + r, v[r]);
  }

  // The first pass of a merge of `size` rows: both halves are sorted, and row i of the first faces
  // row size-1-i; then come the exchanges of rows size/4 apart.
  void face(int64_t base, int64_t size) const {
    int64_t quarter = size / 4, end = rows - base;
    for (int64_t k = 0; k < quarter; k += BLOCK_ROWS) {
      bool has_third = size - quarter - k <= end, has_fourth = size - k <= end;
      for (int64_t i = k; i < k + BLOCK_ROWS; ++i) {
        int64_t j = size - 1 - i;
        V v[4] = {get(base + i), get(base + i + quarter)};
        if (has_third) v[2] = get(base + j - quarter);
        if (has_fourth) v[3] = get(base + j);
        if (has_third) exchange<1, 2>(v);
        if (has_fourth) exchange<0, 3>(v), exchange<2, 3>(v);
        exchange<0, 1>(v);
        put(base + i, v[0]);
        put(base + i + quarter, v[1]);
        if (has_third) put(base + j - quarter, v[2]);
        if (has_fourth) put(base + j, v[3]);
      }
    }
  }

  // Exchanges rows `apart`, then apart/2, in groups of 2 apart rows that begin at base … end.
  void clean_twice(int64_t base, int64_t end, int64_t apart) const {
    int64_t half = apart / 2;
    for (; base < end; base += 2 * apart) {
      for (int64_t k = base; k < base + half && k < end; k += BLOCK_ROWS) {
        bool has[4] = {true, k + half < end, k + apart < end, k + apart + half < end};
        for (int64_t i = k; i < k + BLOCK_ROWS; ++i) {
          V v[4] = {get(i)};
          if (has[1]) v[1] = get(i + half);
          if (has[2]) v[2] = get(i + apart);
          if (has[3]) v[3] = get(i + apart + half);
          if (has[2]) exchange<0, 2>(v);
          if (has[3]) exchange<1, 3>(v), exchange<2, 3>(v);
          if (has[1]) exchange<0, 1>(v);
          put(i, v[0]);
          if (has[1]) put(i + half, v[1]);
          if (has[2]) put(i + apart, v[2]);
          if (has[3]) put(i + apart + half, v[3]);
        }
      }
    }
  }

  void clean_once(int64_t base, int64_t end, int64_t apart) const {
    for (; base + apart < end; base += 2 * apart) {
      int64_t stop = base + apart < end - apart ? base + apart : end - apart;
      for (int64_t i = base; i < stop; ++i) {
        V v[2] = {get(i), get(i + apart)};
        exchange<0, 1>(v);
        put(i, v[0]);
        put(i + apart, v[1]);
      }
    }
  }

  void face_blocks(int64_t base) const {
    for (int64_t i = 0; i < BLOCK_ROWS; ++i) {
      V v[2] = {get(base + i), get(base + 2 * BLOCK_ROWS - 1 - i)};
      exchange<0, 1>(v);
      put(base + i, v[0]);
      put(base + 2 * BLOCK_ROWS - 1 - i, v[1]);
    }
  }

  void merge(int64_t base, int64_t size) const {
    int64_t end = base + size < rows ? base + size : rows;
    if (size == 2 * BLOCK_ROWS) {
      face_blocks(base);
    } else {
      face(base, size);
      int64_t apart = size / 8;
      for (; apart >= 2 * BLOCK_ROWS; apart /= 4) clean_twice(base, end, apart);
      if (apart == BLOCK_ROWS) clean_once(base, end, apart);
    }
    for (int64_t first = base; first < end; first += BLOCK_ROWS)
      block<BLOCK_ROWS>(first, [](V* v) { clean<BLOCK_ROWS, BLOCK_ROWS / 2>(v); });
  }

  void sort() const {
    for (int64_t first = 0; first < rows; first += BLOCK_ROWS)
      block<BLOCK_ROWS>(first, [](V* v) { sort_rows<BLOCK_ROWS>(v); });
    for (int64_t size = 2 * BLOCK_ROWS; size / 2 < rows; size *= 2)
      for (int64_t base = 0; base + size / 2 < rows; base += size) merge(base, size);
  }
};

// Each column of a tile of n rows of 64 bytes, with room up to the next multiple of BLOCK_ROWS.
template <class T>
void sort_tile(int64_t n, T* tile) {
  constexpr int step = 64 / sizeof(T);
  int64_t rows = (n + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS;
  for (int64_t i = n * step; i < rows * step; ++i) tile[i] = most<T>;
  for (int j = 0; j < step; j += lanes<Vec<T>>) Columns<T, step>{tile + j, rows}.sort();
}

}  // namespace tessella::TS_ISA
