// Whether all numbers of a contiguous run are finite.
#pragma once

#include "../dtype.h"

namespace tessella::launch {

// True for dtypes that have no other numbers.
bool are_finite(DType dtype, int64_t size, const char* data);

}  // namespace tessella::launch
