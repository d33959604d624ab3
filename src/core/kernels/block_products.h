// Products of rows of numbers with blocks: y[n] = sum over k of x[k] * w[n, k] + bias[n]. A row of
// x is first made a row of int8 with a scale for each block, so that the sums inside of a block are
// sums of integers, which are exact; those of blocks are added in float32, in the order of k, each
// rounded as (scale of w * scale of x) * sum. So a result does not depend on how many rows are
// computed together, nor on the instruction set.
#pragma once

#include "blocks.h"

namespace tessella {

constexpr int64_t BLOCK_PANEL = 16;        // rows of w that are multiplied at once,
constexpr int64_t BLOCK_PANEL_ROWS = 256;  // with so many rows of x at most

// Rows of w.
struct BlockRows {
  const uint8_t* blocks;
  int64_t row_bytes, rows, k;
  const float* bias;  // of these rows; may be null
};

// Rows of x as int8, from the driver's scratch.
struct CodedRows {
  const char* data;
  int64_t stride, rows;  // bytes from row to row
};

struct BlockProductKernel {
  int64_t (*coded_bytes)(int64_t k);                   // of a row
  void (*code)(int64_t k, char* out, const float* x);  // a block that is not finite: NaN
  // out (x.rows, w.rows), its rows out_stride numbers apart. For few rows of x.
  void (*few)(const BlockRows& w, const CodedRows& x, float* out, int64_t out_stride);
  // The same for many: at most BLOCK_PANEL rows of w and BLOCK_PANEL_ROWS of x.
  void (*many)(const BlockRows& w, const CodedRows& x, float* out, int64_t out_stride,
               char* scratch);
};

struct BlockProductKernels {
  int64_t scratch_bytes;  // of `many`
  BlockProductKernel of[BLOCK_FORMATS];
};
TS_KERNELS(BlockProductKernels, block_product_kernels)

#if defined(__x86_64__)
// The same sources for processors with an instruction for sums of products of bytes (VNNI).
namespace avxvnni {
extern const BlockProductKernels block_product_kernels;
}
namespace avx512vnni {
extern const BlockProductKernels block_product_kernels;
}
#endif

// Which one this process uses: see choose_dots.
const BlockProductKernels& block_product_kernels();

}  // namespace tessella
