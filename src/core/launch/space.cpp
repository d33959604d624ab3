// Builds the shared iteration space.
#include "space.h"

namespace tessella::launch {

Space::Space(int axes, const int64_t* sizes, int count, const int64_t* const* steps)
    : ndim(0), operands(count), size(1) {
  for (int axis = 0; axis < axes; ++axis) {
    size *= sizes[axis];
    if (sizes[axis] == 1) continue;
    bool merges = ndim > 0;
    for (int i = 0; i < operands && merges; ++i)
      merges = strides[i][ndim - 1] == steps[i][axis] * sizes[axis];
    if (merges) {
      shape[ndim - 1] *= sizes[axis];
    } else {
      shape[ndim++] = sizes[axis];
    }
    for (int i = 0; i < operands; ++i) strides[i][ndim - 1] = steps[i][axis];
  }
}

}  // namespace tessella::launch
