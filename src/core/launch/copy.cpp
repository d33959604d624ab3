// A copy may visit elements in any order: the axis that is closest together in out goes innermost,
// and what it copies are patches of that axis and the one that is closest together in x.
#include "copy.h"

#include <string.h>

#include <algorithm>

#include "../integers.h"
#include "../kernels/cast.h"
#include "../threads.h"
#include "patch.h"
#include "space.h"

namespace tessella::launch {

namespace {

constexpr int64_t chunk_elements = 16384;
constexpr int64_t tile_elements = 1024;
constexpr int64_t elements_per_ns = 2;

// The axes in descending order of their strides in out; those of size 1 left out, neighbours
// merged.
Space ordered(int ndim, const int64_t* shape, const int64_t* out_strides,
              const int64_t* x_strides) {
  int64_t sizes[MAX_NDIM], out_steps[MAX_NDIM], x_steps[MAX_NDIM];
  int count = 0;
  for (int axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == 1) continue;
    int64_t step = magnitude(out_strides[axis]);
    int at = count++;
    for (; at > 0 && magnitude(out_steps[at - 1]) < step; --at) {
      sizes[at] = sizes[at - 1];
      out_steps[at] = out_steps[at - 1];
      x_steps[at] = x_steps[at - 1];
    }
    sizes[at] = shape[axis];
    out_steps[at] = out_strides[axis];
    x_steps[at] = x_strides[axis];
  }
  const int64_t* steps[] = {out_steps, x_steps};
  return Space(count, sizes, 2, steps);
}

// Patches of rows and columns, and the axes around them.
class Patches {
 public:
  Patches(const Space& space, const Operand& out, const Operand& x)
      : out_(out), x_(x), from_(itemsize(x.dtype)), to_(itemsize(out.dtype)) {
    cast_ = out.dtype == x.dtype ? nullptr : cast_kernel(x.dtype, out.dtype);
    int last = space.ndim - 1, row = row_axis(space);
    columns_ = space.ndim > 0 ? space.shape[last] : 1;
    rows_ = row >= 0 ? space.shape[row] : 1;
    for (int k = 0; k < 2; ++k)
      steps_[k] = {row >= 0 ? space.strides[k][row] : 0, last >= 0 ? space.strides[k][last] : 1};
    for (int axis = 0; axis < last; ++axis) {
      if (axis == row) continue;
      shape_[ndim_] = space.shape[axis];
      for (int k = 0; k < 2; ++k) strides_[k][ndim_] = space.strides[k][axis];
      ++ndim_;
    }
    part_columns_ = std::min(columns_, chunk_elements);
    part_rows_ = std::clamp<int64_t>(chunk_elements / part_columns_, 1, rows_);
    row_parts_ = ceil_div(rows_, part_rows_);
    column_parts_ = ceil_div(columns_, part_columns_);
  }

  int64_t size() const {  // patches
    int64_t count = row_parts_ * column_parts_;
    for (int axis = 0; axis < ndim_; ++axis) count *= shape_[axis];
    return count;
  }
  int64_t elements() const { return part_rows_ * part_columns_; }  // of a patch, at most

  void copy(int64_t patch) const {
    int64_t j = patch % column_parts_ * part_columns_;
    patch /= column_parts_;
    int64_t i = patch % row_parts_ * part_rows_;
    patch /= row_parts_;
    int64_t offsets[2];
    for (int k = 0; k < 2; ++k) offsets[k] = i * steps_[k].row + j * steps_[k].column;
    for (int axis = ndim_ - 1; axis >= 0; --axis) {
      int64_t at = patch % shape_[axis];
      patch /= shape_[axis];
      for (int k = 0; k < 2; ++k) offsets[k] += at * strides_[k][axis];
    }
    move(std::min(part_rows_, rows_ - i), std::min(part_columns_, columns_ - j),
         out_.data + offsets[0] * to_, x_.data + offsets[1] * from_);
  }

 private:
  // Beside the last axis, the one that is closest together in x, if the last is not; else the one
  // before it.
  static int row_axis(const Space& space) {
    const int64_t* strides = space.strides[1];
    int last = space.ndim - 1, found = last - 1;
    for (int axis = 0; axis < last; ++axis)
      if (strides[axis] != 0 && magnitude(strides[axis]) < magnitude(strides[last]) &&
          (found == last - 1 || magnitude(strides[axis]) < magnitude(strides[found])))
        found = axis;
    return found;
  }

  void move(int64_t rows, int64_t columns, char* to, const char* from) const {
    const Steps &out = steps_[0], &in = steps_[1];
    if (!cast_) return copy_patch(to_, rows, columns, to, out, from, in);
    if (out.column == 1 && in.column == 1) {
      for (int64_t i = 0; i < rows; ++i)
        cast_(columns, to + i * out.row * to_, from + i * in.row * from_);
      return;
    }
    int64_t wide = std::min(columns, tile_elements), high = tile_elements / wide;
    for (int64_t i = 0; i < rows; i += high)
      for (int64_t j = 0; j < columns; j += wide)
        move_tile(std::min(high, rows - i), std::min(wide, columns - j),
                  to + (i * out.row + j * out.column) * to_,
                  from + (i * in.row + j * in.column) * from_);
  }

  void move_tile(int64_t rows, int64_t columns, char* to, const char* from) const {
    alignas(64) char raw[tile_elements * 16], converted[tile_elements * 16];
    copy_patch(from_, rows, columns, raw, {columns, 1}, from, steps_[1]);
    cast_(rows * columns, converted, raw);
    copy_patch(to_, rows, columns, to, steps_[0], converted, {columns, 1});
  }

  const Operand &out_, &x_;
  int64_t from_, to_;  // bytes of an element
  CastFn cast_;        // nullptr if the dtypes are the same
  int64_t rows_, columns_;
  Steps steps_[2];  // of out, x
  int ndim_ = 0;    // of the axes around
  int64_t shape_[MAX_NDIM], strides_[2][MAX_NDIM];
  int64_t part_rows_, part_columns_, row_parts_, column_parts_;
};

// Both are runs in memory.
void copy_run(int64_t size, const Operand& out, const Operand& x, bool interruptible) {
  int64_t from = itemsize(x.dtype), to = itemsize(out.dtype);
  CastFn cast = x.dtype == out.dtype ? nullptr : cast_kernel(x.dtype, out.dtype);
  auto run = [&](int64_t begin, int64_t end) {
    if (!cast) {
      memcpy(out.data + begin * to, x.data + begin * from, static_cast<size_t>((end - begin) * to));
    } else {
      cast(end - begin, out.data + begin * to, x.data + begin * from);
    }
  };
  if (size <= chunk_elements) return run(0, size);
  parallel(ceil_div(size, chunk_elements), chunk_elements / elements_per_ns, interruptible,
           [&](int64_t chunk, int) {
             run(chunk * chunk_elements, std::min((chunk + 1) * chunk_elements, size));
           });
}

}  // namespace

void copy(int ndim, const int64_t* shape, const Operand& out, const Operand& x,
          bool interruptible) {
  Space space = ordered(ndim, shape, out.strides, x.strides);
  if (space.size == 0) return;
  if (space.is_linear(0) && space.is_linear(1)) return copy_run(space.size, out, x, interruptible);
  char converted[16];
  Operand source = x;
  if (space.is_constant(1) && x.dtype != out.dtype) {
    cast_kernel(x.dtype, out.dtype)(1, converted, x.data);
    source = {converted, out.dtype, x.strides};
  }
  Patches patches(space, out, source);
  int64_t batch = std::max<int64_t>(1, chunk_elements / patches.elements());
  int64_t size = patches.size();
  auto run = [&](int64_t chunk, int) {
    for (int64_t i = chunk * batch; i < std::min((chunk + 1) * batch, size); ++i) patches.copy(i);
  };
  if (size <= batch) return run(0, 0);
  parallel(ceil_div(size, batch), batch * patches.elements() / elements_per_ns, interruptible, run);
}

}  // namespace tessella::launch
