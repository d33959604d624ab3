// Finds operations of a tiled task whose values only the next one reads, and joins them into chains
// (kernels/chain.h), which keep such values in registers in place of tiles.
#pragma once

#include "tiled.h"

namespace tessella::launch {

// What computes an operation of this dtype as part of a chain; nullptr: none does.
ChainFn chain_of(Opcode opcode, DType dtype);

void join_chains(std::vector<TileOp>* ops, const std::vector<Stream>& streams);

}  // namespace tessella::launch
