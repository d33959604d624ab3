// Lays out the arrays of an IndexTask. See index_arrays.h.
#include "index_arrays.h"

#include "tape.h"

#include <algorithm>

#include "../launch/nonzero.h"
#include "result.h"
#include "run.h"

namespace tessella {

Layout joint_shape(int count, Tensor* const* indices) {
  Layout joint;
  for (int i = 0; i < count; ++i) joint = broadcast_shapes(joint.sizes(), indices[i]->sizes());
  return joint;
}

void IndexArrays::place_rest(const Tensor* x, const Tensor* values, uint64_t indexed, int place,
                             int joint_ndim) {
  for (int axis = 0; axis < x->ndim; ++axis) {
    if (indexed >> axis & 1) continue;
    rest_shape_[rest_ndim_] = x->shape()[axis];
    rest_x_[rest_ndim_] = x->strides()[axis];
    int value_axis = rest_ndim_ < place ? rest_ndim_ : rest_ndim_ + joint_ndim;
    value_rest_[rest_ndim_++] = values->strides()[value_axis];
  }
}

// Items of a size that kernels do not move whole become an axis of bytes: one of x is indexed, so
// there is a place for it among the rest.
void IndexArrays::split_items(int64_t bytes, int count) {
  auto scale = [=](int64_t* strides, int ndim) {
    for (int i = 0; i < ndim; ++i) strides[i] *= bytes;
  };
  scale(axis_strides_, count);
  scale(value_index_, task.index_ndim);
  scale(rest_x_, rest_ndim_);
  scale(value_rest_, rest_ndim_);
  rest_shape_[rest_ndim_] = bytes;
  rest_x_[rest_ndim_] = value_rest_[rest_ndim_] = 1;
  task.rest_ndim = ++rest_ndim_;
  task.itemsize = 1;
}

IndexArrays::IndexArrays(Tensor* x, Tensor* values, int count, const int* axes,
                         Tensor* const* indices, int place) {
  Layout joint = joint_shape(count, indices);
  std::copy(joint.shape, joint.shape + joint.ndim, shape_);
  auto ndim = static_cast<size_t>(joint.ndim);
  stride_lists_.resize(static_cast<size_t>(count) * ndim);
  uint64_t indexed = 0;
  for (int i = 0; i < count; ++i) {
    Layout spread = indices[i]->layout().broadcast_to(joint.sizes());
    int64_t* strides = stride_lists_.data() + static_cast<size_t>(i) * ndim;
    std::copy(spread.strides, spread.strides + joint.ndim, strides);
    data_[i] = reinterpret_cast<const int64_t*>(indices[i]->data());
    strides_[i] = strides;
    int axis = axes ? axes[i] : i;
    axis_sizes_[i] = x->shape()[axis];
    axis_strides_[i] = x->strides()[axis];
    indexed |= uint64_t{1} << axis;
  }
  place_rest(x, values, indexed, place, joint.ndim);
  for (int axis = 0; axis < joint.ndim; ++axis)
    value_index_[axis] = values->strides()[place + axis];
  task = {.itemsize = itemsize(x->dtype),
          .index_count = count,
          .indices = data_,
          .index_strides = strides_,
          .axis_sizes = axis_sizes_,
          .axis_strides = axis_strides_,
          .index_ndim = joint.ndim,
          .index_shape = shape_,
          .rest_ndim = rest_ndim_,
          .rest_shape = rest_shape_,
          .rest_strides_x = rest_x_,
          .x = x->data(),
          .values = values->data(),
          .value_index_strides = value_index_,
          .value_rest_strides = value_rest_,
          .interruptible = true};
  bool is_whole = task.itemsize <= 16 && (task.itemsize & (task.itemsize - 1)) == 0;
  if (!is_whole) split_items(task.itemsize, count);
}

Tensor* nonzero_of(Tensor* mask) {
  refuse_capture("a result whose size depends on values",
                 "use where(mask, x, 0) or multiply by the mask, which keep the shape");
  launch::MaskTask task = {.ndim = mask->ndim,
                           .shape = mask->shape(),
                           .strides = mask->strides(),
                           .mask = mask->data(),
                           .interruptible = true};
  Scratch scratch(static_cast<size_t>(launch::nonzero_scratch_bytes(task)));
  int64_t count;
  {
    LongWork work(mask->size, {mask});
    count = launch::count_nonzero(task, scratch.data());
  }
  int64_t shape[] = {task.ndim, count};
  Result out(make_tensor(DType::int64, shape));
  {
    LongWork work(mask->size, {mask, out.get()});
    launch::nonzero(task, scratch.data(), count, reinterpret_cast<int64_t*>(out->data()));
  }
  return as_tensor(out.give());
}

}  // namespace tessella
