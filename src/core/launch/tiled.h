// Chains of elementwise operations, a tile at a time: a tile that stays in the L1 cache goes
// through all operations before the next one is begun. The kernels are those of single operations,
// so the bits are theirs.
#pragma once

#include <vector>

#include "../kernels/elementwise.h"
#include "space.h"
#include "tile.h"

namespace tessella::launch {

// Where the elements of an operand come from, or go to.
enum class StreamKind : uint8_t {
  memory,    // contiguous
  strided,   // gathered into a tile
  constant,  // one number: a tile that is filled with it, made before
  tile,      // an intermediate, which nobody else sees
};

struct Stream {
  StreamKind kind;
  int64_t itemsize;
  char* data = nullptr;          // of all but tiles
  const Space* space = nullptr;  // of what is strided: the shape of the chain, its strides
  int tile = -1;                 // which tile of scratch
};

struct TileOp {
  ElementwiseFn kernel;
  int out;
  int in[3];  // streams, -1: none
};

struct TiledTask {
  int64_t size;
  const std::vector<Stream>& streams;
  const std::vector<TileOp>& ops;
  int tiles;  // of scratch
  bool interruptible;
  int workers;
};

int64_t tiled_scratch_bytes(int tiles, int workers);
void tiled(const TiledTask& task, void* scratch);

}  // namespace tessella::launch
