// The kernels of sorting. What is sorted are words: signed integers of 32 or 64 bits in the order
// of the elements they stand for, alone or followed by the element's number along the axis.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// A tile has rows of 64 bytes of words, and as many of them as a multiple of SORT_BLOCK.
constexpr int64_t SORT_BLOCK = 16;
template <class W>
constexpr int64_t sort_columns = 64 / static_cast<int64_t>(sizeof(W));

// What encoding saw: every bit that any word has, and that all have; whether an element is -0.0.
struct KeysFound {
  uint64_t any = 0, all = ~uint64_t{0};
  bool has_negative_zero = false;
};

// A word's bits from `drop` on, `kept` of them, followed by a number of `bits` bits. `sign` is
// exchanged first, so that the kept bits are in unsigned order.
struct Packing {
  int drop, kept, bits;
  uint64_t sign;
};

// A word packed, so that signed words have the order of their kept bits, then of their numbers.
template <class W>
__attribute__((always_inline)) inline W packed_word(W word, const Packing& packing,
                                                    uint64_t number) {
  constexpr int width = 8 * sizeof(W);
  uint64_t mask = packing.kept == 0 ? 0 : ~uint64_t{0} >> (64 - packing.kept);
  uint64_t bits = (static_cast<uint64_t>(word) ^ packing.sign) >> packing.drop & mask;
  return static_cast<W>((bits << packing.bits | number) ^ uint64_t{1} << (width - 1));
}

// Which coordinate is the number.
enum class Number : uint8_t { row, column };

// All but the first three see words(i, j), i < rows, j < columns, and elements likewise: columns
// are side by side, rows `words_row` words and `x_row` or `out_row` elements apart.
template <class W>
struct SortKernel {
  int64_t block;  // as many words as `sort` sorts by one network
  // Ascending; from place `wanted` on, the order may be any.
  void (*sort)(int64_t n, W* words, int64_t wanted);
  // Moves the words below the pivot to the front; how many there are.
  int64_t (*part)(int64_t n, W* words, W pivot);
  // Each column of a tile of n rows. The rows up to the next multiple of SORT_BLOCK are lost.
  void (*columns)(int64_t n, W* tile);
  // words = keys of x, each exchanged with `flip`: 0, or ~0 for the opposite order.
  KeysFound (*encode[DTYPE_COUNT])(int64_t rows, int64_t columns, W* words, int64_t words_row,
                                   const void* x, int64_t x_row, W flip);
  // out = the elements of keys, but for the sign of zero and what else a NaN holds.
  void (*decode[DTYPE_COUNT])(int64_t rows, int64_t columns, void* out, int64_t out_row,
                              const W* words, int64_t words_row, W flip);
  // Numbers begin with `first`.
  void (*pack)(int64_t rows, int64_t columns, W* words, int64_t words_row, Packing packing,
               Number number, int64_t first);
  // out = the numbers of packed words
  void (*numbers)(int64_t rows, int64_t columns, int64_t* out, int64_t out_row, const W* words,
                  int64_t words_row, int bits);
  // Do neighbouring rows of a tile agree in any column, but for their numbers?
  bool (*has_ties)(int64_t n, const W* tile, int bits);
};

struct SortKernels {
  SortKernel<int32_t> narrow;
  SortKernel<int64_t> wide;
};
TS_KERNELS(SortKernels, sort_kernels)

}  // namespace tessella
