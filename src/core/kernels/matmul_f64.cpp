// Tiles and vector products of the compute type float64.
#include "matmul_compute.h"
#include "matmul_indexed.h"
#include "matmul_tile.h"
#include "matmul_vector.h"

namespace tessella::TS_ISA {

constexpr double PRODUCTS_PER_NS = 0.4375 * VB;  // one multiply-add a cycle at 3.5 GHz

const MatmulCompute matmul_float64 = {
    sizeof(double),      TILE_ROWS<double>,    TILE_COLS<double>,     PRODUCTS_PER_NS,
    block<double, true>, block<double, false>, block_indexed<double>, dot<double>,
    axpy<double>,        join<double>,         add<double>,
};

}  // namespace tessella::TS_ISA
