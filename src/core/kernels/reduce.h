// The table of reduction kernels, and the order in which they join elements.
// The elements of one output are numbered r = 0 … n-1, in row-major order of the reduced axes, and
// cut into blocks of reduce_block(). In a block, element r goes to lane r % L with L lanes in 256
// bytes; a lane takes its elements in order; lanes l and l + L/2 are joined, then l and l + L/4,
// and so on; an absent lane is skipped. Blocks are joined pairwise: 0 with 1, 2 with 3, then those.
// Strides, conversions and threads are the driver's (launch/reduce.h).
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class ReduceOp : uint8_t {
#define REDUCE(name) name,
#include "reduce.def"
};

constexpr const char* REDUCE_NAMES[] = {
#define REDUCE(name) #name,
#include "reduce.def"
};
constexpr int REDUCE_COUNT = sizeof REDUCE_NAMES / sizeof REDUCE_NAMES[0];

// Each block gives every lane at most 16 elements, which bounds the error of a long sum.
constexpr int64_t reduce_block(int64_t itemsize) { return itemsize < 4 ? 1024 : 4096 / itemsize; }
constexpr int64_t REDUCE_MIN_BLOCK = 256;
constexpr int64_t REDUCE_MAX_BLOCK = 1024;
constexpr int64_t REDUCE_MAX_COLUMNS = 512;   // of one call of `columns`
constexpr int64_t REDUCE_DENSE_COLUMNS = 32;  // of one call of `dense`

// What has been reduced so far, one entry for each output. Only argmax and argmin have indices.
struct Partials {
  void* values;
  int64_t* indices;
};

struct ReduceKernel {
  // out[i] = the n elements at x + i * stride, n > 0, for i < count. `base` is the number r of the
  // first of them; if it is not 0, it is a multiple of the block.
  void (*rows)(int64_t count, int64_t n, int64_t stride, Partials out, const void* x, int64_t base);
  // out[j] = the elements x[offsets[i] + j], i < rows, for j < columns; at most one block of rows.
  void (*columns)(int64_t rows, int64_t columns, const int64_t* offsets, Partials out,
                  const void* x, int64_t base);
  // The same for columns without gaps: offsets[i] = i * columns, columns <= REDUCE_DENSE_COLUMNS.
  // Null where there is no such kernel.
  void (*dense)(int64_t rows, int64_t columns, Partials out, const void* x);
  // out[i] = out[i] joined with x[i], whose elements come later.
  void (*join)(int64_t n, Partials out, Partials x);
};

// Indexed by the dtype in which the reduction is computed; null where it has no meaning.
struct ReduceFamily {
  ReduceKernel kernel[DTYPE_COUNT];
};
TS_KERNELS(ReduceFamily, reduce_sum)
TS_KERNELS(ReduceFamily, reduce_prod)
TS_KERNELS(ReduceFamily, reduce_max)
TS_KERNELS(ReduceFamily, reduce_min)
TS_KERNELS(ReduceFamily, reduce_argmax)
TS_KERNELS(ReduceFamily, reduce_argmin)

inline const ReduceFamily& reduce_family(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return TS_CHOSEN(reduce_prod);
    case ReduceOp::max:
    case ReduceOp::any:
      return TS_CHOSEN(reduce_max);
    case ReduceOp::min:
    case ReduceOp::all:
      return TS_CHOSEN(reduce_min);
    case ReduceOp::argmax:
      return TS_CHOSEN(reduce_argmax);
    case ReduceOp::argmin:
      return TS_CHOSEN(reduce_argmin);
    default:
      return TS_CHOSEN(reduce_sum);
  }
}

inline const ReduceKernel& reduce_kernel(ReduceOp op, DType dtype) {
  return reduce_family(op).kernel[static_cast<int>(dtype)];
}

}  // namespace tessella
