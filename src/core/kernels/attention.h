// What attention does between its products of matrices, over tiles of scores (queries, keys): the
// softmax that goes on from tile to tile, and the slopes of the scores. Sums along a row have lanes
// of the vector's width, joined by halves.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// A part of a mask, with any strides, in elements: bools, or numbers of the compute type.
struct AttentionMask {
  int64_t cols;
  const void* mask;
  int64_t col;
  bool is_bool;
};

// Products of queries with keys from number `key` on. A score is product * scale, plus what is
// added; keys from number `seen` on do not count for a row. All rows are `row` apart, a multiple of
// ATTENTION_LANES, and have room for as many.
constexpr int ATTENTION_LANES = 16;
struct AttentionScores {
  int64_t rows, cols;
  void* scores;
  int64_t row;
  double scale;
  const void* added;  // or null; of bools 0 where they are true, else -infinity
  bool is_bool;       // a score is then replaced where -infinity stands: NaN is hidden, too
  int64_t key;
  const int64_t* seen;  // one for each row; or null: all count
};

// Of each row: the greatest score so far, the sum of exp(score - greatest), and the sums of values
// that were weighted with these exponentials.
struct AttentionSums {
  void *most, *sum;
  void* out;
  int64_t width, out_row;
  bool begins;  // out holds nothing yet
};

struct AttentionKernel {
  // The row of AttentionScores::added that a row of a mask stands for.
  void (*read_mask)(void* added, const AttentionMask& mask);
  // scores = exp(score - greatest); sums are brought to the new greatest, and what is weighted too.
  void (*weigh)(const AttentionScores& tile, const AttentionSums& sums);
  // Joins what two parts of the keys gave, into the first.
  void (*join)(int64_t rows, const AttentionSums& sums, const AttentionSums& more);
  // Rows of `width` elements, out_row apart, each times its factor.
  void (*multiply)(int64_t rows, const AttentionSums& sums, const void* factors);
  // scores = weight = exp(score - most) * inverse; slopes = weight * (slopes - level) * scale, of
  // rows that lie as those of the scores.
  void (*slope)(const AttentionScores& tile, void* slopes, const void* most, const void* inverse,
                const void* level);
  // out[r] = sum of x[r][i] * y[r][i]
  void (*dots)(int64_t rows, int64_t n, void* out, const void* x, int64_t x_row, const void* y,
               int64_t y_row);
};

struct AttentionKernels {
  AttentionKernel float32, float64;
};
TS_KERNELS(AttentionKernels, attention_kernels)

}  // namespace tessella
