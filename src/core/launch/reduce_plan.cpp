// Plans a reduction: dtypes, axes, path and borders. Cheap, since it runs for tiny tensors too.
#include "reduce_plan.h"

#include <algorithm>

namespace tessella::launch {

namespace {

constexpr int64_t item_elements = 131072;   // of one item, if its outputs and blocks allow
constexpr int64_t near_elements = 1 << 19;  // of a tensor that stays in a cache
constexpr int64_t few_columns = 8;          // fewer side by side are gathered into rows

DType widened(DType in) {
  switch (kind(in)) {
    case DKind::boolean:
    case DKind::signed_int:
      return DType::int64;
    case DKind::unsigned_int:
      return DType::uint64;
    default:
      return in;
  }
}

bool is_inexact(DType dtype) {
  return kind(dtype) == DKind::floating || kind(dtype) == DKind::complex;
}

// Gives the runs of the reduced axes, in elements of dtype `from`.
Runs<1> collect_reduced(const ReduceTask& task, int64_t scale) {
  int64_t shape[MAX_NDIM], strides[MAX_NDIM];
  int axes = 0;
  for (int axis = 0; axis < task.ndim; ++axis) {
    if (!(task.reduced_axes >> axis & 1)) continue;
    shape[axes] = task.shape[axis];
    strides[axes++] = task.strides[axis] * scale;
  }
  return Runs<1>(axes, shape, {strides});
}

}  // namespace

DType reduce_out_dtype(ReduceOp op, DType in, bool* ok) {
  *ok = !is_user(in);
  if (!*ok) return in;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::prod:
      return widened(in);
    case ReduceOp::mean:
      *ok = is_inexact(in);
      return in;
    case ReduceOp::max:
    case ReduceOp::min:
      *ok = kind(in) != DKind::complex;
      return in;
    case ReduceOp::any:
    case ReduceOp::all:
      return DType::boolean;
    default:
      *ok = kind(in) != DKind::complex;
      return DType::int64;
  }
}

void KeptAxes::seek(int64_t outer, int64_t* offset, int64_t* out_offset) const {
  *offset = *out_offset = 0;
  for (int axis = ndim - 1; axis >= 0; --axis) {
    int64_t at = outer % shape[axis];
    outer /= shape[axis];
    *offset += at * strides[axis];
    *out_offset += at * out_strides[axis];
  }
}

ReducePlan::ReducePlan(const ReduceTask& task)
    : op(task.op),
      reduced(collect_reduced(
          task, kind(task.dtype) == DKind::complex && (op == ReduceOp::sum || op == ReduceOp::mean)
                    ? 2
                    : 1)) {
  choose_dtypes(task);
  n = reduced.size;
  collect_kept(task, itemsize(task.dtype) / itemsize(from));
  if (n == 0 || outputs == 0) return;
  choose_inner();
  choose_path();
  cut();
}

void ReducePlan::choose_dtypes(const ReduceTask& task) {
  bool ok;
  from = task.dtype;
  out = reduce_out_dtype(op, from, &ok);
  bool adds = op == ReduceOp::sum || op == ReduceOp::mean;
  if (adds && from == DType::complex64) from = out = DType::float32;
  if (adds && from == DType::complex128) from = out = DType::float64;
  has_indices = op == ReduceOp::argmax || op == ReduceOp::argmin;
  compute = compute_dtype(has_indices ? from : out);
  cast = from == compute ? nullptr : cast_kernel(from, compute);
  kernel = &reduce_kernel(op, compute);
  block = reduce_block(itemsize(compute));
}

// Merges kept axes that lie behind one another in the input: in the output they always do. With
// scale 2 the real and imaginary parts are a last axis of their own.
void ReducePlan::collect_kept(const ReduceTask& task, int64_t scale) {
  int count = 0;
  auto append = [&](int64_t size, int64_t stride) {
    outputs *= size;
    if (size == 1) return;
    if (count > 0 && kept.strides[count - 1] == stride * size) {
      kept.shape[count - 1] *= size;
    } else {
      kept.shape[count++] = size;
    }
    kept.strides[count - 1] = stride;
  };
  outputs = 1;
  for (int axis = 0; axis < task.ndim; ++axis)
    if (!(task.reduced_axes >> axis & 1)) append(task.shape[axis], task.strides[axis] * scale);
  if (scale == 2) append(2, 1);
  int64_t step = 1;
  for (int axis = count - 1; axis >= 0; --axis) {
    kept.out_strides[axis] = step;
    step *= kept.shape[axis];
  }
  kept.ndim = count;
}

// Takes out the axis along which items are cut: where outputs lie side by side, else the last.
void ReducePlan::choose_inner() {
  if (kept.ndim == 0) return;
  int last = kept.ndim - 1, inner = last;
  for (int axis = 0; axis < last; ++axis)
    if (kept.strides[axis] == 1 && kept.shape[axis] >= few_columns) inner = axis;
  kept.size = kept.shape[inner];
  kept.stride = kept.strides[inner];
  kept.out_stride = kept.out_strides[inner];
  for (int axis = inner; axis < last; ++axis) {
    kept.shape[axis] = kept.shape[axis + 1];
    kept.strides[axis] = kept.strides[axis + 1];
    kept.out_strides[axis] = kept.out_strides[axis + 1];
  }
  kept.ndim = last;
  kept.outer_size = outputs / kept.size;
}

void ReducePlan::choose_path() {
  bool side_by_side = kept.stride == 1 && kept.size >= few_columns;
  bool one_run = reduced.ndim == 1 && reduced.inner_stride(0) == 1;
  bool has_no_gaps = kept.stride == 1 && kept.size > 1 && kept.size <= REDUCE_DENSE_COLUMNS &&
                     reduced.ndim == 1 && reduced.inner_stride(0) == kept.size;
  if (has_no_gaps && !cast && kernel->dense) {
    path = ReducePath::dense;
  } else if (side_by_side && !one_run) {
    path = cast ? ReducePath::staged_columns : ReducePath::columns;
  } else if (reduced.ndim <= 1 && reduced.inner_stride(0) == 1 && !cast) {
    path = ReducePath::rows;
  } else {
    path = ReducePath::staged_rows;
  }
}

// Items hold about item_elements elements. A span is a power of two of blocks, so that wherever it
// ends, it is a subtree of the tree over blocks. group * span / block stays below REDUCE_WAITING /
// 2 unless a span is one block, as group * span <= item_elements and blocks have 256 or more.
void ReducePlan::cut() {
  bool is_rows = path == ReducePath::rows || path == ReducePath::staged_rows;
  // Long lines are wide, as each row may lie in a page of its own; what stays in a cache is rather
  // cut into pieces that threads can share.
  bool is_near = outputs <= near_elements / n;
  int64_t most = is_near ? REDUCE_MAX_COLUMNS / 4 : REDUCE_MAX_COLUMNS;
  if (path == ReducePath::staged_columns)
    most = std::clamp(REDUCE_COLUMNS_BYTES / (std::min(n, block) * itemsize(compute)), few_columns,
                      REDUCE_MAX_COLUMNS);
  if (is_rows) most = std::clamp<int64_t>(item_elements / n, 1, REDUCE_MAX_COLUMNS);
  group = std::min(kept.size, most);
  span = block;
  while (span < n && group * span * 2 <= item_elements) span *= 2;
  groups = (kept.size + group - 1) / group;
  spans = (n + span - 1) / span;
}

int64_t ReducePlan::item_ns() const {
  bool is_staged = path == ReducePath::staged_rows || path == ReducePath::staged_columns;
  int64_t bytes = group * std::min(span, n) * itemsize(from);
  return 20 + bytes / (is_staged ? 4 : 16);
}

int64_t ReducePlan::scratch_bytes() const {
  if (n == 0 || outputs == 0 || spans == 1) return 0;
  return value_bytes() + (has_indices ? spans * outputs * int64_t{sizeof(int64_t)} : 0);
}

}  // namespace tessella::launch
