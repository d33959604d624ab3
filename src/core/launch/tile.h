// Moves tiles of elements between strided memory and contiguous scratch that fits the L1 cache.
#pragma once

#include "runs.h"
#include "space.h"

namespace tessella::launch {

constexpr int64_t TILE = 1024;             // elements
constexpr int64_t TILE_BYTES = TILE * 16;  // of the widest dtype
constexpr int64_t CHUNK = TILE * 16;       // elements that one thread claims at a time

// tile[k] = element number flat + k of the operand (row-major in the space), k < count.
void gather_tile(const Space& space, int operand, const char* data, int64_t itemsize, int64_t flat,
                 int64_t count, char* tile);
// The inverse.
void scatter_tile(const Space& space, int operand, char* data, int64_t itemsize, int64_t flat,
                  int64_t count, const char* tile);
// The same for an operand alone: its axes are those of `runs`.
void gather_tile(const Runs<1>& runs, const char* data, int64_t itemsize, int64_t flat,
                 int64_t count, char* tile);
void scatter_tile(const Runs<1>& runs, char* data, int64_t itemsize, int64_t flat, int64_t count,
                  const char* tile);
// tile[k] = *element for k < count.
void fill_tile(const char* element, int64_t itemsize, int64_t count, char* tile);

}  // namespace tessella::launch
