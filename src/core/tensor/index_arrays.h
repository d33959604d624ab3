// Indexing by tensors: the arrays behind an IndexTask, and the coordinates of a mask.
#pragma once

#include <vector>

#include "../launch/index.h"
#include "run.h"

namespace tessella {

// `x` is indexed along `axes` by int64 tensors that broadcast to a joint shape; in `values` the
// axes of that shape stand at `place` among the axes of x that are left. No axes: the leading ones.
class IndexArrays {
 public:
  IndexArrays(Tensor* x, Tensor* values, int count, const int* axes, Tensor* const* indices,
              int place);
  IndexArrays(const IndexArrays&) = delete;
  IndexArrays& operator=(const IndexArrays&) = delete;

  launch::IndexTask task{};

 private:
  void place_rest(const Tensor* x, const Tensor* values, uint64_t indexed, int place,
                  int joint_ndim);
  void split_items(int64_t bytes, int count);

  const int64_t* data_[MAX_NDIM];
  const int64_t* strides_[MAX_NDIM];
  std::vector<int64_t> stride_lists_;
  int64_t axis_sizes_[MAX_NDIM], axis_strides_[MAX_NDIM];
  int64_t shape_[MAX_NDIM], value_index_[MAX_NDIM];
  int64_t rest_shape_[MAX_NDIM], rest_x_[MAX_NDIM], value_rest_[MAX_NDIM];
  int rest_ndim_ = 0;
};

// The shape that index tensors broadcast to; throws where they do not.
Layout joint_shape(int count, Tensor* const* indices);

// Whether a value can be assigned to elements of x as it is; a number is stored in x's dtype.
bool is_assignable(Tensor* x, PyObject* value, Scalar* number);

// A tensor (ndim, count): row d holds the coordinates of true elements along axis d.
Tensor* nonzero_of(Tensor* mask);

}  // namespace tessella
