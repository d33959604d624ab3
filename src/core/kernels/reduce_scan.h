// The kernels of cumulative sums, products, sums of exponentials and extremes: every prefix,
// strictly in order.
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

// What is joined: x + y, x y, or log(e^x + e^y).
enum class ScanOp : uint8_t { sum, product, log_sum };
constexpr int SCAN_OPS = 3;

// For each line j < columns: out(i, j), begin <= i < end, is where the greatest, or the smallest,
// of x(0, j) … x(i, j) is: the last of equal ones; the last NaN, if there is one. What lies before
// `begin` is in out already.
using ScanPlaceFn = void (*)(int64_t begin, int64_t end, int64_t columns, int64_t* out,
                             ScanSteps out_steps, const void* x, ScanSteps x_steps);

// Indexed by the dtype in which it is computed; places by that of x, of which halves have none.
struct ScanKernels {
  ScanFn join[SCAN_OPS][DTYPE_COUNT];
  ScanPlaceFn greatest[DTYPE_COUNT];
  ScanPlaceFn smallest[DTYPE_COUNT];
};
TS_NARROW_KERNELS(ScanKernels, scan_kernels)

}  // namespace tessella
