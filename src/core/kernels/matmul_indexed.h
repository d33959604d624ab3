// Products whose rows of b lie anywhere: at b + rows[p] for each k. The packed rows of a meet them
// in the tiles of matmul_tile.h. Rows of b may overlap, so that windows of an image, which the
// convolution multiplies, need no copy. Vectors are loaded whole: what lies behind a row is read
// and not used.
#pragma once

#include "matmul.h"
#include "matmul_tile.h"

namespace tessella::TS_ISA {

template <class T, int ROWS, int VECS>
void tile_indexed(const Tile<T>& tile, const int64_t* rows) {
  const Tile<T> t = tile;
  Sums<T, ROWS, VECS> sums;
  sums.begin(t);
  const T* a = t.a;
  auto step = [&](const T* b) __attribute__((always_inline)) {
    Native<T> row[VECS];
#pragma GCC unroll 8
    for (int v = 0; v < VECS; v++) row[v] = load<Native<T>>(b + v * LANES<T>);
    sums.step(row, [a](int i) { return a[i]; });
    a += ROWS;
  };
  int64_t p = 0;
  for (; p + 2 <= t.k; p += 2) {
    step(t.b + rows[p]);
    step(t.b + rows[p + 1]);
  }
  for (; p < t.k; p++) step(t.b + rows[p]);
  sums.end(t);
}

// Few rows are taken with more vectors side by side: a chain for each keeps the multipliers busy.
template <class T>
constexpr int indexed_vecs(int rows) {
  if (rows == 1) return 8;
  return 4 * rows <= 2 * TILE_ROWS<T> - 4 ? 4 : 2;
}

template <class T>
struct IndexedTable {
  using Fn = void (*)(const Tile<T>&, const int64_t*);
  Fn one[TILE_ROWS<T>], two[TILE_ROWS<T>], most[TILE_ROWS<T>];

  constexpr IndexedTable() : one(), two(), most() { fill<TILE_ROWS<T>>(); }

 private:
  template <int ROWS>
  constexpr void fill() {
    one[ROWS - 1] = tile_indexed<T, ROWS, 1>;
    two[ROWS - 1] = tile_indexed<T, ROWS, 2>;
    most[ROWS - 1] = tile_indexed<T, ROWS, indexed_vecs<T>(ROWS)>;
    if constexpr (ROWS > 1) fill<ROWS - 1>();
  }
};

template <class T>
constexpr IndexedTable<T> INDEXED{};

// One tile of rows [row, after) in the columns from j on; gives the column after it.
template <class T>
inline int64_t run_indexed(const MatmulIndexed& x, int64_t row, int64_t after, int64_t j) {
  int rows = int(after - row), most = indexed_vecs<T>(rows);
  int64_t left = x.n - j, vecs = (left + LANES<T> - 1) / LANES<T>;
  vecs = vecs >= most ? most : vecs > 2 ? 2 : vecs;
  int64_t cols = left < vecs * LANES<T> ? left : vecs * LANES<T>;
  T* c = static_cast<T*>(x.c) + row * x.c_row + j;
  Tile<T> tile{};
  tile.k = x.k, tile.a = static_cast<const T*>(x.a) + row * x.k;
  tile.b = static_cast<const T*>(x.b) + j;
  tile.c = c, tile.c_row = x.c_row, tile.next = c;
  tile.last = cols - (vecs - 1) * LANES<T>;
  tile.resume = x.resume, tile.add = x.add;
  const IndexedTable<T>& table = INDEXED<T>;
  (vecs == 1 ? table.one : vecs == 2 ? table.two : table.most)[rows - 1](tile, x.rows);
  return j + cols;
}

template <class T>
void block_indexed(const MatmulIndexed& x) {
  int64_t tiles = (x.m + TILE_ROWS<T> - 1) / TILE_ROWS<T>;
  for (int64_t t = 0; t < tiles; t++) {
    int64_t row = matmul_even_begin(t, tiles, x.m), after = matmul_even_begin(t + 1, tiles, x.m);
    for (int64_t j = 0; j < x.n;) j = run_indexed<T>(x, row, after, j);
  }
}

}  // namespace tessella::TS_ISA
