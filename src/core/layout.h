// Shape, strides and offset of a tensor, and the algebra of views over them.
// Strides count elements. Pure arithmetic: no buffer, no dtype. Everything that needs to know how a
// view is laid out (Python, the fast path, the kernels' drivers) asks here.
#pragma once

#include <stdint.h>
#include <string.h>

#include "error.h"

namespace tessella {

constexpr int MAX_NDIM = 64;

struct Layout {
  int ndim = 0;
  int64_t offset = 0;
  int64_t shape[MAX_NDIM];
  int64_t strides[MAX_NDIM];

  Layout() {}
  Layout(const Layout& other) { *this = other; }
  Layout& operator=(const Layout& other) {
    ndim = other.ndim;
    offset = other.offset;
    if (this != &other) {
      memcpy(shape, other.shape, sizeof(int64_t) * static_cast<size_t>(ndim));
      memcpy(strides, other.strides, sizeof(int64_t) * static_cast<size_t>(ndim));
    }
    return *this;
  }

  static Layout contiguous(Shape shape);
  static Layout of(Shape shape, Shape strides, int64_t offset);

  Shape sizes() const { return {shape, static_cast<size_t>(ndim)}; }
  Shape steps() const { return {strides, static_cast<size_t>(ndim)}; }
  int64_t size() const;
  bool is_contiguous() const;
  bool overlaps_itself() const;                      // may two indices reach one element?
  void extent(int64_t* first, int64_t* last) const;  // lowest and highest element; size() > 0

  void append(int64_t size, int64_t stride);  // as the new last axis; checks MAX_NDIM
  int axis(int64_t axis) const;               // 0 … ndim-1, negative from the end; checked

  Layout permute(Shape order) const;
  Layout transpose(int64_t a, int64_t b) const;
  Layout slice(int64_t axis, int64_t start, int64_t count, int64_t step) const;
  Layout select(int64_t axis, int64_t index) const;
  Layout broadcast_to(Shape target) const;
  Layout squeeze(Shape axes) const;  // the named axes, each of size 1
  Layout squeeze_all() const;
  Layout unsqueeze(Shape axes) const;  // axes of the result
  Layout flip(Shape axes) const;
  Layout diagonal(int64_t diagonal, int64_t a, int64_t b) const;
  Layout unfold(int64_t axis, int64_t window, int64_t step) const;
  // The same bytes as items of another size (powers of 2): the last axis grows or shrinks.
  Layout bitcast(int64_t from_size, int64_t to_size) const;
  bool reshape(Shape target, Layout* out) const;  // false: would need a copy; -1 is inferred
};

int64_t size_of(Shape shape);                  // product, checked for negative sizes and overflow
Layout resolve_reshape(Shape from, Shape to);  // `to` with -1 inferred, contiguous
Layout broadcast_shapes(Shape x, Shape y);     // contiguous layout of the joint shape

// Python's slice rules: clamps start and stop to the axis and counts the elements.
struct Range {
  int64_t start, count, step;
};
Range resolve_slice(int64_t start, int64_t stop, int64_t step, int64_t size);

}  // namespace tessella
