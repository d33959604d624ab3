// Register tiles of the matrix product, and the loops that cover a block of c with them.
// A tile keeps ROWS x VECS vectors of c in registers while it walks k once. Rows of a block are
// shared out evenly among tiles, so that no tile is a thin rest; columns are cut every TILE_COLS,
// and the last vector of a row is loaded and stored in part.
#pragma once

#include "matmul.h"
#include "matmul_simd.h"

namespace tessella::TS_ISA {

// As many rows as the registers hold beside two vectors of b and one or two of a. Integers, whose
// products are no single instruction on most machines, get fewer, to keep the code small.
template <class T>
constexpr int TILE_ROWS = 4;
#if defined(__AVX512F__)
template <>
constexpr int TILE_ROWS<float> = 14;
template <>
constexpr int TILE_ROWS<double> = 14;
#elif defined(__AVX2__)
template <>
constexpr int TILE_ROWS<float> = 6;
template <>
constexpr int TILE_ROWS<double> = 6;
#elif defined(__aarch64__)
template <>
constexpr int TILE_ROWS<float> = 8;
template <>
constexpr int TILE_ROWS<double> = 8;
#endif
constexpr int TILE_VECS = 2;
template <class T>
constexpr int TILE_COLS = TILE_VECS * LANES<T>;

// A packed tile fetches one vector of the next panel in so many steps of k.
constexpr int FETCH_STEPS = 4;

template <class T>
struct Tile {
  int64_t k;
  const T* a;
  int64_t a_row, a_k;
  const T* b;
  int64_t b_k;
  T* c;
  int64_t c_row;
  const T* next;   // the tile of c that comes after this one
  const T* fetch;  // of the next panel of b: this tile's share of its lines
  int64_t last;    // columns in the last vector
  bool resume, add;
};

// a[i * row], with the offset built from two registers whatever i is (x86 addresses scale by 2).
template <class T>
inline T row_element(const T* const* quads, int64_t row, int64_t row3, int i) {
  const T* quad = quads[i / 4];
  return i % 4 == 0 ? quad[0] : i % 4 == 1 ? quad[row] : i % 4 == 2 ? quad[2 * row] : quad[row3];
}

template <class T, int ROWS, int VECS>
struct Sums {
  using V = Native<T>;
  V at[ROWS][VECS];

  // at[i][v] += a[i] * b[v] for one k; element(i) gives a[i].
  template <class Element>
  inline __attribute__((always_inline)) void step(const V (&b)[VECS], Element element) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      V x = splat<V>(element(i));
#pragma GCC unroll 8
      for (int v = 0; v < VECS; v++) at[i][v] = multiply_add(x, b[v], at[i][v]);
    }
  }

  // f(sum, address, whether its vector is whole), for every vector of the tile. The empty asm keeps
  // the compiler from working out the addresses of all rows beforehand, for which it would have
  // to spill them.
  template <class F>
  inline __attribute__((always_inline)) void each(T* c, int64_t c_row, bool is_whole, F f) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 8
      for (int v = 0; v < VECS; v++) f(at[i][v], c + v * LANES<T>, v + 1 < VECS || is_whole);
      c += c_row;
      asm("" : "+r"(c));
    }
  }

  // Written out: GCC takes a lambda that only prefetches for one without effect.
  static inline __attribute__((always_inline)) void prefetch(const T* c, int64_t c_row) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 8
      for (int v = 0; v < VECS; v++) __builtin_prefetch(c + v * LANES<T>, 1);
      c += c_row;
    }
  }

  inline __attribute__((always_inline)) void begin(const Tile<T>& t) {
    Part<T> part(t.last);
    auto zero = [](V& sum, T*, bool) { sum = V{}; };
    auto read = [part](V& sum, T* p, bool all) { sum = all ? load<V>(p) : part.load(p); };
    prefetch(t.next, t.c_row);
    if (!t.resume)
      each(t.c, t.c_row, true, zero);
    else if (t.last == LANES<T>)
      each(t.c, t.c_row, true, read);
    else
      each(t.c, t.c_row, false, read);
  }

  inline __attribute__((always_inline)) void end(const Tile<T>& t) {
    Part<T> part(t.last);
    auto add = [part](V& sum, T* p, bool all) { sum = (all ? load<V>(p) : part.load(p)) + sum; };
    auto write = [part](V& sum, T* p, bool all) { all ? store(p, sum) : part.store(p, sum); };
    if (t.add) each(t.c, t.c_row, t.last == LANES<T>, add);
    if (t.last == LANES<T>)
      each(t.c, t.c_row, true, write);
    else
      each(t.c, t.c_row, false, write);
  }
};

// a is a packed panel [k][ROWS], b a packed panel [k][TILE_COLS]. Panels of b come from far: while
// one is used by all tiles of a column, each tile fetches a part of the next.
template <class T, int ROWS, int VECS>
void tile_packed(const Tile<T>& tile) {
  const Tile<T> t = tile;
  Sums<T, ROWS, VECS> sums;
  sums.begin(t);
  const T* a = t.a;
  const T* b = t.b;
  const T* fetch = t.fetch;
  auto step = [&]() __attribute__((always_inline)) {
    Native<T> row[VECS];
    for (int v = 0; v < VECS; v++) row[v] = load<Native<T>>(b + v * LANES<T>);
    sums.step(row, [a](int i) { return a[i]; });
    a += ROWS;
    b += TILE_COLS<T>;
  };
  int64_t p = 0;
  for (; p + FETCH_STEPS <= t.k; p += FETCH_STEPS) {
    __builtin_prefetch(fetch, 0, 2);
    fetch += LANES<T>;
#pragma GCC unroll 4
    for (int s = 0; s < FETCH_STEPS; s++) step();
  }
  for (; p < t.k; p++) step();
  sums.end(t);
}

// Rows of b may each lie in a page of their own, where the processor does not look ahead.
constexpr int64_t AHEAD_STEPS = 12;

// a has any strides; rows of b are b_k apart. PART: the last vector of b is loaded in part.
template <class T, int ROWS, int VECS, bool PART>
void tile_direct(const Tile<T>& tile) {
  const Tile<T> t = tile;
  Sums<T, ROWS, VECS> sums;
  sums.begin(t);
  constexpr int QUADS = (ROWS + 3) / 4;
  const T* quads[QUADS];
  for (int q = 0; q < QUADS; q++) quads[q] = t.a + 4 * q * t.a_row;
  int64_t row1 = t.a_row, row3 = 3 * t.a_row;
  const T* b = t.b;
  Part<T> part(t.last);
  for (int64_t p = 0; p < t.k; p++) {
    Native<T> row[VECS];
    for (int v = 0; v < VECS; v++) {
      const T* source = b + v * LANES<T>;
      fetch_at(source, AHEAD_STEPS * t.b_k);
      row[v] = PART && v + 1 == VECS ? part.load(source) : load<Native<T>>(source);
    }
    sums.step(row, [&](int i) { return row_element(quads, row1, row3, i); });
    for (int q = 0; q < QUADS; q++) quads[q] += t.a_k;
    b += t.b_k;
  }
  sums.end(t);
}

template <class T>
struct TileTable {
  using Fn = void (*)(const Tile<T>&);
  Fn packed[TILE_ROWS<T>][TILE_VECS];
  Fn direct[TILE_ROWS<T>][TILE_VECS][2];

  constexpr TileTable() : packed(), direct() { fill<TILE_ROWS<T>>(); }

 private:
  template <int ROWS>
  constexpr void fill() {
    fill_row<ROWS, 1>();
    fill_row<ROWS, 2>();
    if constexpr (ROWS > 1) fill<ROWS - 1>();
  }
  template <int ROWS, int VECS>
  constexpr void fill_row() {
    packed[ROWS - 1][VECS - 1] = tile_packed<T, ROWS, VECS>;
    direct[ROWS - 1][VECS - 1][0] = tile_direct<T, ROWS, VECS, false>;
    direct[ROWS - 1][VECS - 1][1] = tile_direct<T, ROWS, VECS, true>;
  }
};

template <class T>
constexpr TileTable<T> TILES{};

// Rows of a that are a multiple of a page apart share the sets of L1, which hold so many of them.
constexpr int64_t PAGE_BYTES = 4096;
constexpr int ALIASED_ROWS = 8;

template <class T, bool PACKED>
int64_t tiles_of(const MatmulBlock& x) {
  bool is_aliased = !PACKED && x.a_row * int64_t(sizeof(T)) % PAGE_BYTES == 0;
  int most = is_aliased && TILE_ROWS<T> > ALIASED_ROWS ? ALIASED_ROWS : TILE_ROWS<T>;
  return (x.m + most - 1) / most;
}

// Tile t of the rows in the columns from j on; `is_across`: the next one is to its right.
template <class T, bool PACKED>
inline void run_tile(const MatmulBlock& x, int64_t tiles, int64_t t, int64_t j, bool is_across) {
  T* c = static_cast<T*>(x.c);
  const T* b = static_cast<const T*>(x.b) + j / TILE_COLS<T> * x.b_panel;
  int64_t cols = x.n - j < TILE_COLS<T> ? x.n - j : TILE_COLS<T>;
  int vecs = cols > LANES<T> ? 2 : 1;
  int64_t last = cols - (vecs - 1) * LANES<T>;
  int64_t row = matmul_even_begin(t, tiles, x.m), after = matmul_even_begin(t + 1, tiles, x.m);
  const T* start = static_cast<const T*>(x.a) + row * (PACKED ? x.k : x.a_row);
  T* at = c + row * x.c_row + j;
  const T* next = is_across ? at + cols : t + 1 < tiles ? c + after * x.c_row + j : c + j + cols;
  const T* fetch = b + x.b_panel + t * (x.k / FETCH_STEPS) * LANES<T>;
  Tile<T> tile{x.k,     start, x.a_row, x.a_k, b,        x.b_k, at,
               x.c_row, next,  fetch,   last,  x.resume, x.add};
  if constexpr (PACKED)
    TILES<T>.packed[after - row - 1][vecs - 1](tile);
  else
    TILES<T>.direct[after - row - 1][vecs - 1][last != LANES<T>](tile);
}

// A panel of b serves all rows before the next one does; but if all panels of b stay near, in a
// part of L2 (or of L1, where rows of a are read in place), c is written along its rows, and a read
// once.
template <class T, bool PACKED>
void block(const MatmulBlock& x) {
  constexpr int64_t NEAR_BYTES = (PACKED ? 128 : 32) << 10;
  int64_t tiles = tiles_of<T, PACKED>(x);
  if (x.k * x.n * int64_t(sizeof(T)) <= NEAR_BYTES) {
    for (int64_t t = 0; t < tiles; t++)
      for (int64_t j = 0; j < x.n; j += TILE_COLS<T>) run_tile<T, PACKED>(x, tiles, t, j, true);
  } else {
    for (int64_t j = 0; j < x.n; j += TILE_COLS<T>)
      for (int64_t t = 0; t < tiles; t++) run_tile<T, PACKED>(x, tiles, t, j, false);
  }
}

}  // namespace tessella::TS_ISA
