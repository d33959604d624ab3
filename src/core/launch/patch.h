// Moves a two-dimensional patch of elements between memory with any strides.
#pragma once

#include <stdint.h>

namespace tessella::launch {

struct Steps {
  int64_t row, column;  // in elements
};

// to(i, j) = from(i, j) for i < rows, j < columns. The two do not overlap.
void copy_patch(int64_t itemsize, int64_t rows, int64_t columns, char* to, Steps to_steps,
                const char* from, Steps from_steps);

}  // namespace tessella::launch
