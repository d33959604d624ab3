// Searching in sorted runs: where elements would have to stand.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// out[i] = how many of the n sorted elements go before x[i]: those that are less or, if `is_right`,
// not greater, in the order that sorting has (kernels/sort_keys.h).
using SearchFn = void (*)(int64_t n, const void* sorted, int64_t count, const void* x, int64_t* out,
                          bool is_right);

struct SearchKernels {
  SearchFn search[DTYPE_COUNT];  // none for complex numbers
};
TS_NARROW_KERNELS(SearchKernels, search_kernels)

}  // namespace tessella
