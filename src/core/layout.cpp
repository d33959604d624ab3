// The layout algebra.
#include "layout.h"

#include "dtype.h"

namespace tessella {

namespace {

void check_ndim(size_t ndim) {
  if (ndim > MAX_NDIM) fail_too_many_axes(static_cast<int64_t>(ndim));
}

// Marks the named axes, refusing repetition.
void mark_axes(const Layout& layout, Shape axes, bool* marked) {
  memset(marked, 0, MAX_NDIM);
  for (int64_t named : axes) {
    int axis = layout.axis(named);
    if (marked[axis]) fail_axis_repeated(axis);
    marked[axis] = true;
  }
}

}  // namespace

int64_t size_of(Shape shape) {
  check_ndim(shape.size());
  // The strides of an empty tensor must not overflow either, so sizes of 0 count as 1 first.
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0) fail_size_negative(shape);
    if (size == 0) empty = true;
    if (__builtin_mul_overflow(product, size ? size : 1, &product) ||
        product > INT64_MAX / MOST_ITEM_BYTES)
      fail_size_overflow(shape);
  }
  return empty ? 0 : product;
}

Layout Layout::contiguous(Shape sizes) {
  size_of(sizes);
  Layout out;
  out.ndim = static_cast<int>(sizes.size());
  int64_t stride = 1;
  for (int i = out.ndim - 1; i >= 0; --i) {
    out.shape[i] = sizes[static_cast<size_t>(i)];
    out.strides[i] = stride;
    stride *= out.shape[i] ? out.shape[i] : 1;
  }
  return out;
}

Layout Layout::of(Shape sizes, Shape steps, int64_t offset) {
  size_of(sizes);
  if (steps.size() != sizes.size())
    fail_axis_count("strides", static_cast<int64_t>(steps.size()), static_cast<int>(sizes.size()));
  Layout out;
  out.ndim = static_cast<int>(sizes.size());
  out.offset = offset;
  for (int i = 0; i < out.ndim; ++i) {
    out.shape[i] = sizes[static_cast<size_t>(i)];
    out.strides[i] = steps[static_cast<size_t>(i)];
  }
  return out;
}

int64_t Layout::size() const {
  int64_t product = 1;
  for (int i = 0; i < ndim; ++i) product *= shape[i];
  return product;
}

bool Layout::is_contiguous() const {
  int64_t expected = 1;
  bool regular = true;
  for (int i = ndim - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    regular = regular && strides[i] == expected;
    expected *= shape[i];
  }
  return regular;
}

bool Layout::overlaps_itself() const {
  // Axes sorted by stride: each must step past everything the finer ones reach.
  int order[MAX_NDIM], count = 0;
  for (int i = 0; i < ndim; ++i) {
    if (shape[i] == 0) return false;
    if (shape[i] > 1) order[count++] = i;
  }
  auto step = [&](int i) { return strides[i] < 0 ? -strides[i] : strides[i]; };
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && step(order[j]) < step(order[j - 1]); --j) {
      int swap = order[j];
      order[j] = order[j - 1];
      order[j - 1] = swap;
    }
  int64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (step(order[i]) <= reach) return true;
    reach += step(order[i]) * (shape[order[i]] - 1);
  }
  return false;
}

void Layout::extent(int64_t* first, int64_t* last) const {
  *first = *last = offset;
  for (int i = 0; i < ndim; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? *first : *last, reach, reach < 0 ? first : last))
      fail_size_overflow(sizes());
  }
}

void Layout::append(int64_t size, int64_t stride) {
  if (ndim == MAX_NDIM) fail_too_many_axes(ndim + 1);
  shape[ndim] = size;
  strides[ndim++] = stride;
}

int Layout::axis(int64_t named) const {
  if (named < -ndim || named >= ndim) fail_axis_out_of_range(named, ndim);
  return static_cast<int>(named < 0 ? named + ndim : named);
}

Layout Layout::permute(Shape order) const {
  bool marked[MAX_NDIM];
  mark_axes(*this, order, marked);
  if (order.size() != static_cast<size_t>(ndim))
    fail_axis_count("the order", static_cast<int64_t>(order.size()), ndim);
  Layout out;
  out.offset = offset;
  for (int64_t named : order) out.append(shape[axis(named)], strides[axis(named)]);
  return out;
}

Layout Layout::transpose(int64_t a, int64_t b) const {
  Layout out = *this;
  int i = axis(a), j = axis(b);
  out.shape[i] = shape[j];
  out.strides[i] = strides[j];
  out.shape[j] = shape[i];
  out.strides[j] = strides[i];
  return out;
}

Layout Layout::slice(int64_t named, int64_t start, int64_t count, int64_t step) const {
  Layout out = *this;
  int i = axis(named);
  if (count > 0) out.offset += start * strides[i];
  out.shape[i] = count;
  out.strides[i] = count > 1 ? strides[i] * step : strides[i];
  return out;
}

Layout Layout::select(int64_t named, int64_t index) const {
  int i = axis(named);
  if (index < -shape[i] || index >= shape[i]) fail_index_out_of_bounds(index, i, shape[i]);
  Layout out;
  out.offset = offset + (index < 0 ? index + shape[i] : index) * strides[i];
  for (int j = 0; j < ndim; ++j)
    if (j != i) out.append(shape[j], strides[j]);
  return out;
}

Layout Layout::broadcast_to(Shape target) const {
  size_of(target);
  if (target.size() < static_cast<size_t>(ndim)) fail_broadcast_to(sizes(), target, 0);
  Layout out;
  out.ndim = static_cast<int>(target.size());
  out.offset = offset;
  int added = out.ndim - ndim;
  for (int i = 0; i < out.ndim; ++i) {
    int64_t size = target[static_cast<size_t>(i)];
    bool grows = i < added || (shape[i - added] == 1 && size != 1);
    if (!grows && shape[i - added] != size) fail_broadcast_to(sizes(), target, out.ndim - i);
    out.shape[i] = size;
    out.strides[i] = grows ? 0 : strides[i - added];
  }
  return out;
}

Layout Layout::squeeze(Shape axes) const {
  bool marked[MAX_NDIM];
  mark_axes(*this, axes, marked);
  Layout out;
  out.offset = offset;
  for (int i = 0; i < ndim; ++i) {
    if (marked[i] && shape[i] != 1) fail_axis_not_one(i, shape[i]);
    if (!marked[i]) out.append(shape[i], strides[i]);
  }
  return out;
}

Layout Layout::squeeze_all() const {
  Layout out;
  out.offset = offset;
  for (int i = 0; i < ndim; ++i)
    if (shape[i] != 1) out.append(shape[i], strides[i]);
  return out;
}

Layout Layout::unsqueeze(Shape axes) const {
  check_ndim(static_cast<size_t>(ndim) + axes.size());
  Layout out;
  out.ndim = ndim + static_cast<int>(axes.size());
  out.offset = offset;
  bool marked[MAX_NDIM];
  mark_axes(out, axes, marked);
  for (int i = 0, j = 0; i < out.ndim; ++i) {
    out.shape[i] = marked[i] ? 1 : shape[j];
    // The stride that keeps a contiguous layout contiguous; with size 1 any would do.
    out.strides[i] = !marked[i] ? strides[j] : 1;
    if (marked[i] && j < ndim && __builtin_mul_overflow(strides[j], shape[j], &out.strides[i]))
      out.strides[i] = 1;
    j += !marked[i];
  }
  return out;
}

Layout Layout::flip(Shape axes) const {
  bool marked[MAX_NDIM];
  mark_axes(*this, axes, marked);
  Layout out = *this;
  for (int i = 0; i < ndim; ++i) {
    if (!marked[i] || shape[i] == 0) continue;
    out.offset += (shape[i] - 1) * strides[i];
    out.strides[i] = -strides[i];
  }
  return out;
}

Layout Layout::diagonal(int64_t diagonal, int64_t a, int64_t b) const {
  int i = axis(a), j = axis(b);
  if (i == j) fail_axis_repeated(i);
  int64_t rows = shape[i], columns = shape[j];
  // The comparisons keep shape - |diagonal| from overflowing.
  int64_t down = diagonal < 0 ? (diagonal < -rows ? rows : -diagonal) : 0;
  int64_t right = diagonal > 0 ? (diagonal > columns ? columns : diagonal) : 0;
  int64_t length = rows - down < columns - right ? rows - down : columns - right;
  Layout out;
  out.offset = offset + (length > 0 ? down * strides[i] + right * strides[j] : 0);
  for (int k = 0; k < ndim; ++k)
    if (k != i && k != j) out.append(shape[k], strides[k]);
  out.append(length, strides[i] + strides[j]);
  return out;
}

Layout Layout::unfold(int64_t named, int64_t window, int64_t step) const {
  int i = axis(named);
  if (window < 0 || window > shape[i] || step < 1) fail_window(window, step, shape[i]);
  Layout out = *this;
  out.shape[i] = (shape[i] - window) / step + 1;
  int64_t stride;
  if (__builtin_mul_overflow(strides[i], step, &stride)) stride = strides[i];  // one window only
  out.strides[i] = stride;
  out.append(window, strides[i]);
  size_of(out.sizes());
  return out;
}

Layout Layout::bitcast(int64_t from_size, int64_t to_size) const {
  if (from_size == to_size) return *this;
  if (from_size < 1 || to_size < 1)
    fail_bitcast(sizes(), from_size, to_size, "items have at least one byte");
  if (ndim == 0) fail_bitcast(sizes(), from_size, to_size, "a 0-d tensor has no axis to change");
  Layout out = *this;
  int last = ndim - 1;
  int64_t length, start;
  if (__builtin_mul_overflow(shape[last], from_size, &length) ||
      __builtin_mul_overflow(offset, from_size, &start))
    fail_size_overflow(sizes());
  if (length % to_size)
    fail_bitcast(sizes(), from_size, to_size, "the last axis does not divide into whole items");
  out.shape[last] = length / to_size;
  if (size_of(out.sizes()) == 0) return contiguous(out.sizes());
  bool is_dense = shape[last] == 1 || strides[last] == 1;
  bool is_whole = start % to_size == 0;
  for (int i = 0; i < last; ++i) {
    int64_t bytes;
    // The stride of an axis of size 1 may be anything.
    if (__builtin_mul_overflow(strides[i], from_size, &bytes)) bytes = 0;
    is_whole = is_whole && (shape[i] == 1 || bytes % to_size == 0);
    out.strides[i] = bytes / to_size;
  }
  if (!is_dense || !is_whole)
    fail_bitcast(sizes(), from_size, to_size, "its items do not lie side by side");
  out.strides[last] = 1;
  out.offset = start / to_size;
  return out;
}

Layout resolve_reshape(Shape from, Shape to) {
  check_ndim(to.size());
  int64_t size = size_of(from), known = 1;
  int unknown = -1;
  int64_t resolved[MAX_NDIM];
  for (size_t i = 0; i < to.size(); ++i) {
    resolved[i] = to[i];
    if (to[i] == -1 && unknown >= 0) fail_reshape_unknown(from, to);
    if (to[i] == -1)
      unknown = static_cast<int>(i);
    else if (to[i] < 0)
      fail_size_negative(to);
    else if (__builtin_mul_overflow(known, to[i], &known))
      fail_reshape_size(from, to);
  }
  if (unknown >= 0) {
    if (known == 0 || size % known) fail_reshape_unknown(from, to);
    resolved[unknown] = size / known;
  } else if (known != size) {
    fail_reshape_size(from, to);
  }
  return Layout::contiguous({resolved, to.size()});
}

bool Layout::reshape(Shape target, Layout* out) const {
  *out = resolve_reshape(sizes(), target);
  out->offset = offset;
  if (size() == 0 || is_contiguous()) return true;
  // Walks both shapes from the front, matching groups of axes with equal products; within a group
  // of old axes the strides must run on.
  int i = 0, j = 0;
  while (i < ndim || j < out->ndim) {
    int64_t from = i < ndim ? shape[i] : 1, to = j < out->ndim ? out->shape[j] : 1;
    int first = i, target_first = j;
    i += i < ndim;
    j += j < out->ndim;
    while (from != to) {
      if (from < to)
        from *= shape[i++];
      else
        to *= out->shape[j++];
    }
    int64_t stride = 0;
    bool begun = false;
    for (int axis = i - 1; axis >= first; --axis) {
      if (shape[axis] == 1) continue;
      if (!begun)
        stride = strides[axis], begun = true;
      else if (strides[axis] != stride)
        return false;
      stride *= shape[axis];
    }
    // `stride` is now that of the whole group; each new axis takes its part of it.
    for (int axis = target_first; axis < j; ++axis) {
      stride /= out->shape[axis] ? out->shape[axis] : 1;
      if (out->shape[axis] != 1 && begun) out->strides[axis] = stride;
    }
  }
  return true;
}

Layout broadcast_shapes(Shape x, Shape y) {
  size_t ndim = x.size() > y.size() ? x.size() : y.size();
  check_ndim(ndim);
  int64_t joint[MAX_NDIM];
  for (size_t back = 1; back <= ndim; ++back) {
    int64_t a = back <= x.size() ? x[x.size() - back] : 1;
    int64_t b = back <= y.size() ? y[y.size() - back] : 1;
    if (a != b && a != 1 && b != 1) fail_broadcast(x, y, static_cast<int>(back));
    joint[ndim - back] = a == 1 ? b : a;
  }
  return Layout::contiguous({joint, ndim});
}

Range resolve_slice(int64_t start, int64_t stop, int64_t step, int64_t size) {
  if (step == 0) fail_step_zero();
  if (step == INT64_MIN) step = -INT64_MAX;
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
  auto clamp = [&](int64_t i) {
    if (i < 0) i = i < -size ? low : i + size;
    return i > high ? high : i;
  };
  start = clamp(start);
  stop = clamp(stop);
  int64_t span = step > 0 ? stop - start : start - stop;
  int64_t stride = step > 0 ? step : -step;
  return {start, span > 0 ? (span - 1) / stride + 1 : 0, step};
}

}  // namespace tessella
