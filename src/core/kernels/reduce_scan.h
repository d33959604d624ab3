// The kernels of cumulative sums and products: every prefix, strictly in order.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// Elements along the scanned axis are `row` apart, neighbouring lines `column`.
struct ScanSteps {
  int64_t row, column;
};

// For each line j < columns: out(i, j) = carry[j] x(0, j) … x(i, j), i < rows, rows > 0, and the
// last of them becomes carry[j]. At the start of a line there is nothing in carry yet.
using ScanFn = void (*)(int64_t rows, int64_t columns, void* carry, bool is_start, void* out,
                        ScanSteps out_steps, const void* x, ScanSteps x_steps);

// Indexed by the dtype in which it is computed.
struct ScanKernels {
  ScanFn sum[DTYPE_COUNT];
  ScanFn product[DTYPE_COUNT];
};
TS_KERNELS(ScanKernels, scan_kernels)

}  // namespace tessella
