// Tiles and vector products of the compute type float32.
#include "matmul_compute.h"
#include "matmul_indexed.h"
#include "matmul_tile.h"
#include "matmul_vector.h"

namespace tessella::TS_ISA {

constexpr double PRODUCTS_PER_NS = 0.875 * VB;  // one multiply-add a cycle at 3.5 GHz

const MatmulCompute matmul_float32 = {
    sizeof(float),      TILE_ROWS<float>,    TILE_COLS<float>,     PRODUCTS_PER_NS,
    block<float, true>, block<float, false>, block_indexed<float>, dot<float>,
    axpy<float>,        join<float>,         add<float>,
};

}  // namespace tessella::TS_ISA
