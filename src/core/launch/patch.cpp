// Patches are moved as bytes of the element's size. Where rows and columns change places, they are
// moved in small squares, so that each cache line is used while it is in L1; squares whose sides
// are runs in memory are turned in vectors of 16 bytes.
#include "patch.h"

#include <string.h>

#include <algorithm>

#include "../integers.h"
#include "../kernels/fill.h"
#include "../simd/shuffle.h"

namespace tessella::launch {

namespace {

constexpr int64_t square = 16;
constexpr int64_t SHORT_ROW = 8;

template <int64_t Bytes>
struct Item {
  char bytes[Bytes];
};

struct Copy {
  int64_t rows, columns;
  char* to;
  Steps to_steps;
  const char* from;
  Steps from_steps;

  // Short rows are moved as fewer, wider items.
  bool joins() const {
    bool is_dense = to_steps.column == 1 && from_steps.column == 1;
    bool is_short = rows > 1 && columns > 1 && columns <= SHORT_ROW;
    return is_dense && is_short && (columns | to_steps.row | from_steps.row) % 2 == 0;
  }
  Copy joined() const {
    return {rows, columns / 2, to, {to_steps.row / 2, 1}, from, {from_steps.row / 2, 1}};
  }
  Copy transposed() const {
    return {columns, rows,
            to,      {to_steps.column, to_steps.row},
            from,    {from_steps.column, from_steps.row}};
  }
};

// One element, repeated.
template <int64_t Bytes>
void fill(const Copy& c) {
  char pattern[PATTERN_BYTES];
  for (int64_t i = 0; i < PATTERN_BYTES; i += Bytes) memcpy(pattern + i, c.from, Bytes);
  TS_CHOSEN(fill_kernels).rows(c.rows, c.columns * Bytes, c.to_steps.row * Bytes, c.to, pattern);
}

template <int64_t Bytes>
void copy_run(int64_t count, char* to, int64_t to_step, const char* from, int64_t from_step) {
  if (to_step == 1 && from_step == 0) return fill<Bytes>({1, count, to, {0, 1}, from, {0, 0}});
  // The parts of complex numbers, and what is turned round: loops of shuffles.
  if (to_step == 1 && from_step == 2) {
    for (int64_t i = 0; i < count; ++i) memcpy(to + i * Bytes, from + i * 2 * Bytes, Bytes);
    return;
  }
  if (to_step == 1 && from_step == -1) {
    for (int64_t i = 0; i < count; ++i) memcpy(to + i * Bytes, from - i * Bytes, Bytes);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    memcpy(to + i * to_step * Bytes, from + i * from_step * Bytes, Bytes);
}

template <int64_t Bytes>
void copy_rows(const Copy& c) {
  bool is_dense = c.to_steps.column == 1 && c.from_steps.column == 1;
  for (int64_t i = 0; i < c.rows; ++i) {
    char* to = c.to + i * c.to_steps.row * Bytes;
    const char* from = c.from + i * c.from_steps.row * Bytes;
    if (is_dense) {
      memcpy(to, from, static_cast<size_t>(c.columns * Bytes));
    } else {
      copy_run<Bytes>(c.columns, to, c.to_steps.column, from, c.from_steps.column);
    }
  }
}

typedef uint8_t Bytes16 __attribute__((vector_size(16)));

// a0 b0 a1 b1 … of items of Bytes; the second half of it, if Half is 1.
template <int64_t Bytes, int Half>
Bytes16 interleaved(Bytes16 a, Bytes16 b) {
  Bytes16 from{};
  for (int i = 0; i < 16; ++i) {
    int item = Half * 8 / static_cast<int>(Bytes) + i / static_cast<int>(Bytes) / 2;
    bool is_b = i / Bytes % 2 != 0;
    from[i] = static_cast<uint8_t>(item * Bytes + i % Bytes + (is_b ? 16 : 0));
  }
  return shuffle(a, b, from);
}

// A square of as many items as a vector has: log2 of that many perfect shuffles of its rows.
template <int64_t Bytes>
void turn(char* to, int64_t to_row, const char* from, int64_t from_column) {
  constexpr int N = static_cast<int>(16 / Bytes);
  Bytes16 v[N], w[N];
  for (int i = 0; i < N; ++i) memcpy(v + i, from + i * from_column, 16);
  for (int round = 1; round < N; round *= 2) {
    for (int i = 0; i < N / 2; ++i) {
      w[2 * i] = interleaved<Bytes, 0>(v[i], v[i + N / 2]);
      w[2 * i + 1] = interleaved<Bytes, 1>(v[i], v[i + N / 2]);
    }
    for (int i = 0; i < N; ++i) v[i] = w[i];
  }
  for (int i = 0; i < N; ++i) memcpy(to + i * to_row, v + i, 16);
}

template <int64_t Bytes>
void turn_square(const Copy& c) {
  constexpr int64_t N = 16 / Bytes;
  int64_t rows = c.rows / N * N, columns = c.columns / N * N;
  for (int64_t i = 0; i < rows; i += N)
    for (int64_t j = 0; j < columns; j += N)
      turn<Bytes>(c.to + (i * c.to_steps.row + j) * Bytes, c.to_steps.row * Bytes,
                  c.from + (i + j * c.from_steps.column) * Bytes, c.from_steps.column * Bytes);
  if (columns < c.columns)
    copy_rows<Bytes>({rows, c.columns - columns, c.to + columns * Bytes, c.to_steps,
                      c.from + columns * c.from_steps.column * Bytes, c.from_steps});
  if (rows < c.rows)
    copy_rows<Bytes>({c.rows - rows, c.columns, c.to + rows * c.to_steps.row * Bytes, c.to_steps,
                      c.from + rows * Bytes, c.from_steps});
}

template <int64_t Bytes>
void copy_squares(const Copy& c) {
  bool is_dense = Bytes < 16 && c.to_steps.column == 1 && c.from_steps.row == 1;
  for (int64_t i = 0; i < c.rows; i += square)
    for (int64_t j = 0; j < c.columns; j += square) {
      Copy part = {std::min(square, c.rows - i),
                   std::min(square, c.columns - j),
                   c.to + (i * c.to_steps.row + j * c.to_steps.column) * Bytes,
                   c.to_steps,
                   c.from + (i * c.from_steps.row + j * c.from_steps.column) * Bytes,
                   c.from_steps};
      is_dense ? turn_square<Bytes>(part) : copy_rows<Bytes>(part);
    }
}

template <int64_t Bytes>
void copy(Copy c) {
  if (c.rows > 1 && magnitude(c.to_steps.column) > magnitude(c.to_steps.row)) c = c.transposed();
  bool is_constant = c.from_steps.column == 0 && (c.rows == 1 || c.from_steps.row == 0);
  if (is_constant && c.to_steps.column == 1) return fill<Bytes>(c);
  if (c.columns < SHORT_ROW && c.rows > c.columns) return copy_rows<Bytes>(c.transposed());
  bool turns = c.rows > 1 && magnitude(c.from_steps.row) < magnitude(c.from_steps.column);
  turns ? copy_squares<Bytes>(c) : copy_rows<Bytes>(c);
}

// Items of users, of any size.
void copy_items(int64_t size, const Copy& c) {
  bool is_dense = c.to_steps.column == 1 && c.from_steps.column == 1;
  int64_t at_once = is_dense ? c.columns : 1;
  auto bytes = static_cast<size_t>(at_once * size);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; j += at_once)
      memcpy(c.to + (i * c.to_steps.row + j * c.to_steps.column) * size,
             c.from + (i * c.from_steps.row + j * c.from_steps.column) * size, bytes);
}

}  // namespace

void copy_patch(int64_t itemsize, int64_t rows, int64_t columns, char* to, Steps to_steps,
                const char* from, Steps from_steps) {
  Copy c = {rows, columns, to, to_steps, from, from_steps};
  while (itemsize < 16 && c.joins()) c = c.joined(), itemsize *= 2;
  switch (itemsize) {
    case 1:
      return copy<1>(c);
    case 2:
      return copy<2>(c);
    case 4:
      return copy<4>(c);
    case 8:
      return copy<8>(c);
    case 16:
      return copy<16>(c);
    default:
      return copy_items(itemsize, c);
  }
}

}  // namespace tessella::launch
