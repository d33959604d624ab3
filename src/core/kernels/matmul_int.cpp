// Tiles and vector products of the compute types uint32 and uint64, whose sums wrap around.
#include "matmul_compute.h"
#include "matmul_tile.h"
#include "matmul_vector.h"

namespace tessella::TS_ISA {

const MatmulCompute matmul_uint32 = {
    sizeof(uint32_t), TILE_ROWS<uint32_t>,   TILE_COLS<uint32_t>,
    0.25 * VB,        block<uint32_t, true>, block<uint32_t, false>,
    nullptr,          dot<uint32_t>,         axpy<uint32_t>,
    join<uint32_t>,   add<uint32_t>,
};

const MatmulCompute matmul_uint64 = {
    sizeof(uint64_t), TILE_ROWS<uint64_t>,   TILE_COLS<uint64_t>,
    0.05 * VB,        block<uint64_t, true>, block<uint64_t, false>,
    nullptr,          dot<uint64_t>,         axpy<uint64_t>,
    join<uint64_t>,   add<uint64_t>,
};

}  // namespace tessella::TS_ISA
