// A walk over the elements of K operands that share a shape, in row-major order, as runs along the
// innermost axis. Axes that lie behind one another in every operand are merged first, so that a
// contiguous tensor is one run. Any range of the elements can be walked: chunks start anywhere.
#pragma once

#include <stdint.h>

#include "../layout.h"

namespace tessella::launch {

template <int K>
struct Runs {
  int ndim = 0;  // 0 when there is one element, or none
  int64_t size = 1;
  int64_t shape[MAX_NDIM];
  int64_t strides[K][MAX_NDIM];

  Runs(int axes, const int64_t* sizes, const int64_t* const (&steps)[K]) {
    for (int axis = 0; axis < axes; ++axis) {
      size *= sizes[axis];
      if (sizes[axis] != 1) append(sizes[axis], steps, axis);
    }
  }

  int64_t inner_size() const { return ndim == 0 ? 1 : shape[ndim - 1]; }
  int64_t inner_stride(int k) const { return ndim == 0 ? 1 : strides[k][ndim - 1]; }

  int64_t outer_stride(int k) const { return ndim < 2 ? 0 : strides[k][ndim - 2]; }

  // body(offsets, count): a run of `count` elements, operand k's first at offsets[k] elements from
  // its start, and each next one inner_stride(k) further.
  template <class F>
  void walk(int64_t begin, int64_t end, F&& body) const {
    walk_rows<false>(begin, end,
                     [&](auto& offsets, int64_t, int64_t count) { body(offsets, count); });
  }

  // Whether elements follow each other in the first operand's memory, and how far from its start.
  bool find_contiguous(int64_t begin, int64_t count, int64_t* offset) const {
    if (inner_stride(0) != 1) return false;
    int64_t at[MAX_NDIM], offsets[K];
    seek(begin, at, offsets);
    *offset = offsets[0];
    return count <= (ndim == 0 ? 1 : shape[ndim - 1] - at[ndim - 1]);
  }

  // body(offsets, rows, columns): whole rows of the innermost axis, outer_stride(k) from one to the
  // next, as many as follow each other; or a part of one.
  template <class F>
  void walk_patches(int64_t begin, int64_t end, F&& body) const {
    walk_rows<true>(begin, end, body);
  }

 private:
  template <bool Joins, class F>
  void walk_rows(int64_t begin, int64_t end, F&& body) const {
    if (begin >= end) return;
    int64_t at[MAX_NDIM];
    int64_t offsets[K];
    seek(begin, at, offsets);
    int last = ndim - 1;
    while (begin < end) {
      int64_t left = ndim == 0 ? 1 : shape[last] - at[last], rows = 1;
      int64_t columns = left < end - begin ? left : end - begin;
      if (Joins && ndim > 1 && columns == shape[last]) {
        int64_t rows_left = shape[last - 1] - at[last - 1];
        rows = (end - begin) / columns;
        if (rows > rows_left) rows = rows_left;
      }
      body(offsets, rows, columns);
      begin += rows * columns;
      if (begin == end) return;
      if (Joins && rows > 1) {
        at[last - 1] += rows - 1;
        for (int k = 0; k < K; ++k) offsets[k] += (rows - 1) * strides[k][last - 1];
      }
      next_row(at, offsets);
    }
  }

  void append(int64_t count, const int64_t* const (&steps)[K], int axis) {
    bool merges = ndim > 0;
    for (int k = 0; k < K && merges; ++k) {
      int64_t row;
      merges = !__builtin_mul_overflow(steps[k][axis], count, &row) && strides[k][ndim - 1] == row;
    }
    if (merges) {
      shape[ndim - 1] *= count;
    } else {
      shape[ndim++] = count;
    }
    for (int k = 0; k < K; ++k) strides[k][ndim - 1] = steps[k][axis];
  }

  void seek(int64_t element, int64_t* at, int64_t (&offsets)[K]) const {
    for (int k = 0; k < K; ++k) offsets[k] = 0;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      at[axis] = element ? element % shape[axis] : 0;
      element = element ? element / shape[axis] : 0;
      for (int k = 0; k < K; ++k) offsets[k] += at[axis] * strides[k][axis];
    }
  }

  void next_row(int64_t* at, int64_t (&offsets)[K]) const {
    int axis = ndim - 1;
    for (int k = 0; k < K; ++k) offsets[k] -= at[axis] * strides[k][axis];
    at[axis] = 0;
    while (--axis >= 0) {
      for (int k = 0; k < K; ++k) offsets[k] += strides[k][axis];
      if (++at[axis] < shape[axis]) return;
      for (int k = 0; k < K; ++k) offsets[k] -= shape[axis] * strides[k][axis];
      at[axis] = 0;
    }
  }
};

}  // namespace tessella::launch
