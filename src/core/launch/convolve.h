// The driver of convolutions and of their two adjoints: chooses blocks, brings windows of images
// into scratch and multiplies them by the matrix product's tiles over the pool. It allocates
// nothing.
//
// y[n, o, p] = sum of x[n, c, p * stride + k * dilation - pad] * w[o, c, k] over c and k, for each
// group of channels; x is zero outside of its sizes. Given two of the three, the driver computes
// the third: y, or the sum of x over all y it goes into, or that of w.
//
// Each element of y and of x is one chain of multiply-adds, in increasing order of (channel, k).
// An element of w is a chain over each block of places p, added up in the order of blocks, over
// each of some parts of the batch; the sums of parts are added in order. Blocks and parts are
// functions of the sizes. Strides, threads and instruction sets with a fused multiply-add never
// change a bit.
#pragma once

#include "../dtype.h"

namespace tessella::launch {

enum class ConvolveResult : uint8_t { output, input, weight };

struct ConvolveAxis {
  int64_t image, kernel, out;  // sizes
  int64_t stride, pad, dilation;
};

// (batch, channels, rows, columns) or (out channels, channels, rows, columns); strides in elements.
struct ConvolveOperand {
  char* data;
  int64_t strides[4];
};

struct ConvolveTask {
  ConvolveResult result;
  DType dtype;  // a float
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of one group
  ConvolveAxis rows, cols;
  ConvolveOperand x, w, y;
  const char* bias;  // of the result's channels, or nullptr
  int64_t bias_stride;
  bool interruptible;
};

// What `convolve` needs with this many threads.
int64_t convolve_scratch_bytes(const ConvolveTask& task, int threads);
// `scratch` is aligned to 64 bytes; `threads` is what it was sized for.
void convolve(const ConvolveTask& task, void* scratch, int threads);

}  // namespace tessella::launch
