// The drivers of pools that choose elements: which of each window is the largest, and the moving
// of elements from those places and back. It allocates nothing.
#pragma once

#include "convolve.h"

namespace tessella::launch {

// Windows of one axis: place p covers p * stride + k * dilation - pad for k < window, as far as
// that lies inside; or, where window is 0, the `out` windows share the axis evenly and together.
struct PoolAxis {
  int64_t image, out;
  int64_t window, stride, pad, dilation;
};

struct PoolTask {
  DType dtype;  // a float
  int64_t batch, channels;
  PoolAxis rows, cols;
  ConvolveOperand x;
  int64_t* places;  // contiguous: where in its plane, row by row, the largest lies
  bool interruptible;
};

int64_t pool_scratch_bytes(const PoolTask& task, int threads);
void pool(const PoolTask& task, void* scratch, int threads);

// Elements of planes by their places.
struct PlacesTask {
  DType dtype;  // any that is a number; float32 or float64 to add
  int64_t batch, channels;
  int64_t rows, cols;          // of the planes,
  int64_t out_rows, out_cols;  // and of what is taken from them
  ConvolveOperand planes, taken;
  const int64_t* places;  // contiguous
  bool interruptible;
};

// taken = the elements of planes at the places. False: a place is outside.
bool pick_places(const PlacesTask& task);
// planes, which are contiguous = zeros, and each of taken added at its place, in order.
bool add_places(const PlacesTask& task);

}  // namespace tessella::launch
