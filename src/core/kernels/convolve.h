// The table of convolution kernels around the matrix product (MatmulCompute::indexed): windows of
// images brought into scratch, the panels that meet them, and the writing of finished sums. Which
// window, block and thread is the driver's (launch/convolve.h).
//
// Elements become those of the compute type when they are brought in, and of the dtype when sums
// are written. Strides count elements.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// Place i of a window is element first + i * step of an axis of `size`.
struct ConvolveRange {
  int64_t count, first, step, size;
};

// A window of an image (channels, rows, columns); what lies outside of the image is `outside`.
struct ConvolveWindow {
  void* out;
  int64_t out_channel, out_row, out_col;
  const void* in;
  int64_t in_channel, in_row, in_col;
  int64_t channels;
  ConvolveRange rows, cols;
  float outside = 0;
};

// Elements in[lines[i] + steps[p]] of `count` lines as even panels [k][width], as MatmulPanels.
struct ConvolvePanels {
  void* out;
  const void* in;
  const int64_t* lines;
  const int64_t* steps;
  int64_t count, k, width;
};

// Finished sums of (channels, rows, columns), whose columns are adjacent, plus bias[channel].
struct ConvolveStore {
  void* out;
  int64_t out_channel, out_row, out_col;
  const void* sums;
  int64_t sums_channel, sums_row;
  const void* bias;  // nullptr: none
  int64_t bias_step;
  int64_t channels, rows, cols;
};

// sums[t * width + l] = the sum over p of y[p * width + l] * x[rows[p] + taps[t] + l], for each
// lane l; or what was there plus that. All are of the compute type, and vectors are read whole.
struct ConvolveLanes {
  void* sums;
  const void* y;
  const void* x;
  const int64_t* rows;
  const int64_t* taps;
  int64_t places, tap_count, width;  // width: lanes, in whole vectors
  bool add;
};

struct ConvolveDtype {
  void (*window)(const ConvolveWindow&);   // out_col is 1
  void (*columns)(const ConvolveWindow&);  // out_channel is 1, and out_col the room for channels
  void (*panels)(const ConvolvePanels&);
  void (*store)(const ConvolveStore&);
  void (*lanes)(const ConvolveLanes&);
};

struct ConvolveKernels {
  ConvolveDtype float16, bfloat16, float32, float64;
};
TS_KERNELS(ConvolveKernels, convolve_kernels)

const ConvolveDtype& convolve_kernel(DType dtype);  // a float

}  // namespace tessella
