// Filling memory with one element.
#pragma once

#include "isa.h"

namespace tessella {

constexpr int64_t PATTERN_BYTES = 64;  // the element, repeated

struct FillKernels {
  // Rows of row_bytes, the next one `step` bytes on. Sizes are whole elements.
  void (*rows)(int64_t rows, int64_t row_bytes, int64_t step, char* to, const char* pattern);
};
TS_KERNELS(FillKernels, fill_kernels)

}  // namespace tessella
