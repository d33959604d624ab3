// A BLAS that the user has plugged in. It computes large products of float32 and float64 in its own
// order, so that the promise of the same bits does not hold for them; it is off until asked for.
#pragma once

#include <string>

#include "matmul.h"

namespace tessella::launch {

// Loads the library and uses it from now on; an empty path goes back to the own kernels. Gives what
// is wrong with the library, or nothing.
std::string use_blas(const std::string& path);

// The path of the library in use, or nothing.
std::string blas_path();

// Computes the product if a library is in use and can: its operands need one stride of 1.
bool blas_matmul(const MatmulTask& task);

}  // namespace tessella::launch
