// Patches of strided memory in and out of contiguous tiles.
#include "tile.h"

#include "patch.h"

namespace tessella::launch {

// The axes of one operand: more of them merge than those of all operands together.
static Runs<1> own_runs(const Space& space, int operand) {
  return Runs<1>(space.ndim, space.shape, {space.strides[operand]});
}

void gather_tile(const Runs<1>& runs, const char* data, int64_t itemsize, int64_t flat,
                 int64_t count, char* tile) {
  Steps steps = {runs.outer_stride(0), runs.inner_stride(0)};
  runs.walk_patches(flat, flat + count, [&](const int64_t* offset, int64_t rows, int64_t columns) {
    copy_patch(itemsize, rows, columns, tile, {columns, 1}, data + *offset * itemsize, steps);
    tile += rows * columns * itemsize;
  });
}

void scatter_tile(const Runs<1>& runs, char* data, int64_t itemsize, int64_t flat, int64_t count,
                  const char* tile) {
  Steps steps = {runs.outer_stride(0), runs.inner_stride(0)};
  runs.walk_patches(flat, flat + count, [&](const int64_t* offset, int64_t rows, int64_t columns) {
    copy_patch(itemsize, rows, columns, data + *offset * itemsize, steps, tile, {columns, 1});
    tile += rows * columns * itemsize;
  });
}

void gather_tile(const Space& space, int operand, const char* data, int64_t itemsize, int64_t flat,
                 int64_t count, char* tile) {
  gather_tile(own_runs(space, operand), data, itemsize, flat, count, tile);
}

void scatter_tile(const Space& space, int operand, char* data, int64_t itemsize, int64_t flat,
                  int64_t count, const char* tile) {
  scatter_tile(own_runs(space, operand), data, itemsize, flat, count, tile);
}

void fill_tile(const char* element, int64_t itemsize, int64_t count, char* tile) {
  copy_patch(itemsize, 1, count, tile, {count, 1}, element, {0, 0});
}

}  // namespace tessella::launch
