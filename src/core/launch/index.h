// Advanced indexing: get, set and add through integer index tensors.
// Slices, masks and the broadcasting of indices are resolved by the caller: what arrives here is a
// list of index tensors, each with the axis of x it selects from, and the axes of x that are left
// (the rest). One index point selects one slice of x with the rest's shape.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct IndexTask {
  int64_t itemsize;  // 1, 2, 4, 8 or 16
  int index_count;
  const int64_t* const* indices;        // the data of each index tensor
  const int64_t* const* index_strides;  // of each, over the index axes; 0 where it is broadcast
  const int64_t* axis_sizes;            // of x, for each indexed axis
  const int64_t* axis_strides;
  int index_ndim;
  const int64_t* index_shape;
  int rest_ndim;
  const int64_t* rest_shape;
  const int64_t* rest_strides_x;
  char* x;
  char* values;  // written by gather, read by scatter
  const int64_t* value_index_strides;
  const int64_t* value_rest_strides;
  bool interruptible;
};

struct BadIndex {
  int which;  // of the index tensors
  int64_t value;
  int64_t axis_size;
};

// Is every index in [-size, size)? If not, says which is the first that is not.
bool check_indices(const IndexTask& task, BadIndex* bad);

// Finds the first of some integers that is not from low to high, in row-major order.
bool find_outside(int ndim, const int64_t* shape, const int64_t* strides, const int64_t* x,
                  int64_t low, int64_t high, int64_t* found);

// values = x[indices]. False if an index was outside its axis: then it was taken for 0.
bool gather(const IndexTask& task);

// The two below require checked indices. An index that another thread has changed since then
// selects some element of its axis: nothing is read or written out of bounds. The memory that is
// written shares none with what is read (the caller copies indices or values that overlap).

void scatter(const IndexTask& task);  // x[indices] = values; of equal indices the last one wins
// x[indices] += values; equal indices add up in their row-major order. bool is a logical or; halves
// add in float32 and round each time.
void scatter_add(const IndexTask& task, DType dtype);
// The same with a product, or the greater or smaller of both, NaN if either is: for int64, uint64,
// float32 and float64.
enum class Joining : uint8_t { product, greatest, least };
void scatter_join(const IndexTask& task, DType dtype, Joining joining);

}  // namespace tessella::launch
