// How one convolution will be done. Used by launch/convolve*.cpp only.
#pragma once

#include "../kernels/convolve.h"
#include "../kernels/matmul.h"
#include "convolve.h"
#include "matmul_plan.h"

namespace tessella::launch {

// One axis of a correlation: place i of the result meets, by tap j of the kernel, element
// first + i * step + u * gap of the image, where u is j, or counts from the last tap down.
//
// The window of the image that a block of places needs is kept in `slots` lines. Neighbouring
// places are neighbours in a line, whatever the step: so a tap is a slot and a shift. Either taps
// share slots (one for each remainder of u * gap by the step), and a line is longer than the block
// by the largest shift; or, where that would be more, each has its own.
struct TapAxis {
  int64_t count;                // places
  int64_t out_first, out_step;  // where they lie in the result
  int64_t taps, tap_first, tap_step;
  bool is_reversed;
  int64_t image;  // size
  int64_t first, step, gap;

  int64_t block;  // places at once
  bool is_spread;
  int64_t slots, reach, extent;  // extent: of one line

  int64_t steps_of(int64_t tap) const { return is_reversed ? taps - 1 - tap : tap; }
  int64_t slot_of(int64_t tap) const { return steps_of(tap) % slots; }
  int64_t shift_of(int64_t tap) const { return is_spread ? 0 : steps_of(tap) * gap / step; }
  int64_t blocks() const { return ceil_div(count, block); }
  int64_t places(int64_t at) const { return count - at < block ? count - at : block; }
  // The line of a slot for the places from `at` on.
  ConvolveRange range(int64_t slot, int64_t at) const {
    int64_t offset = is_spread ? slot * gap : slot * gap % step;
    return {places(at) + reach, first + at * step + offset, step, image};
  }
  void cut(int64_t places);  // into blocks
};

TapAxis forward_axis(const ConvolveAxis& axis);
// The places of the input that the taps tap_first, tap_first + period, ... reach.
TapAxis adjoint_axis(const ConvolveAxis& axis, int64_t tap_first);
int64_t adjoint_period(const ConvolveAxis& axis);

// out[n, i, q] = sum of image[n, c, q + taps] * w[i, c, taps] for each group: the output, or those
// places of the input that one set of taps reaches.
struct Correlation {
  const ConvolveDtype* kind;
  const MatmulCompute* compute;
  int64_t batch, groups, m, channels, k;  // of one group
  TapAxis rows, cols;
  ConvolveOperand image, out;
  int64_t w_group, w_line, w_channel, w_row, w_col;  // strides of the kernel
  const char* w;

  // A block: images, rows and columns of places; columns of the product are the places and, between
  // lines, what is computed and not used.
  int64_t images, plane, columns, sums_row;
  bool is_direct;              // images are as windows would be, and are read where they lie
  int64_t lines, line_blocks;  // of m at once
  int64_t line_chunks;         // the threads share m in so many
  int64_t depth;               // of k at once
  int64_t units, units_each, chunks, ns_each;

  int64_t tables_bytes, panels_bytes;  // shared by all workers
  int64_t image_bytes, worker_bytes;
};

Correlation plan_correlation(const ConvolveTask& task, const TapAxis& rows, const TapAxis& cols);

int64_t weight_scratch_bytes(const ConvolveTask& task, int threads);
void convolve_weight(const ConvolveTask& task, char* scratch, int threads);

// About what one core does; only decides how work is cut.
constexpr double WINDOW_PER_NS = 4;      // elements brought into scratch
constexpr double CHUNK_LEAST_NS = 40e3;  // what a thread is worth sharing for
constexpr double CHUNK_MOST_NS = 10e6;   // so that an interrupt is answered
constexpr int64_t CHUNKS_WANTED = 8;     // enough for threads of unequal speed to end together

}  // namespace tessella::launch
