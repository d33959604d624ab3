// The kernels of one compute type as a table; each instance is compiled in a file of its own, so
// that the tiles of one type are built beside those of the others.
#pragma once

#include "matmul.h"

namespace tessella::TS_ISA {

extern const MatmulCompute matmul_float32;
extern const MatmulCompute matmul_float64;
extern const MatmulCompute matmul_uint32;
extern const MatmulCompute matmul_uint64;

}  // namespace tessella::TS_ISA
