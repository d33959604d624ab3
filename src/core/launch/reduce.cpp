// Runs a planned reduction: items on the thread pool, then the tree over their partial results.
#include "reduce.h"

#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "patch.h"
#include "reduce_tree.h"

namespace tessella::launch {

namespace {

// One thread's view of one item: `count` outputs from `data`, elements begin … end-1 of each.
struct Item {
  const char* data;
  int64_t count, begin, end;
};

void reduce_columns(const ReducePlan& plan, const Item& item, int64_t begin, int64_t end,
                    Partials out) {
  int64_t offsets[REDUCE_MAX_BLOCK];
  int64_t stride = plan.reduced.inner_stride(0), rows = 0;
  plan.reduced.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    for (int64_t i = 0; i < count; ++i) offsets[rows++] = offset[0] + i * stride;
  });
  plan.kernel->columns(rows, item.count, offsets, out, item.data, begin);
}

void reduce_staged_columns(const ReducePlan& plan, const Item& item, int64_t begin, int64_t end,
                           Partials out) {
  alignas(64) char tile[REDUCE_COLUMNS_BYTES];
  int64_t offsets[REDUCE_MAX_BLOCK];
  int64_t stride = plan.reduced.inner_stride(0), rows = 0;
  int64_t from = itemsize(plan.from), to = itemsize(plan.compute);
  plan.reduced.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++rows) {
      offsets[rows] = rows * item.count;
      plan.cast(item.count, tile + offsets[rows] * to, item.data + (offset[0] + i * stride) * from);
    }
  });
  plan.kernel->columns(rows, item.count, offsets, out, tile, begin);
}

// Gathers elements begin … end-1 of `count` outputs into rows of a tile, and reduces those.
class StagedRows {
 public:
  StagedRows(const ReducePlan& plan, int64_t begin, int64_t end)
      : plan_(plan),
        begin_(begin),
        length_(end - begin),
        has_runs_(plan.reduced.inner_stride(0) == 1) {}

  int64_t rows_at_once() const {
    int64_t bytes = length_ * std::max(itemsize(plan_.from), itemsize(plan_.compute));
    return std::max<int64_t>(1, REDUCE_TILE_BYTES / bytes);
  }

  void reduce(const char* data, int64_t count, Partials out) {
    int64_t filled = 0;
    const char* direct = nullptr;
    plan_.reduced.walk(begin_, begin_ + length_, [&](const int64_t (&offset)[1], int64_t run) {
      const char* x = data + offset[0] * itemsize(plan_.from);
      if (has_runs_ && !plan_.cast && run == length_) {
        direct = x;
      } else if (has_runs_ && plan_.cast) {
        cast_runs(x, count, filled, run);
      } else {
        copy_runs(x, count, filled, run);
      }
      filled += run;
    });
    if (direct) return plan_.kernel->rows(count, length_, plan_.kept.stride, out, direct, begin_);
    if (plan_.cast && !has_runs_) plan_.cast(count * length_, tile_, raw_);
    plan_.kernel->rows(count, length_, length_, out, tile_, begin_);
  }

 private:
  void cast_runs(const char* x, int64_t count, int64_t at, int64_t run) {
    int64_t from = itemsize(plan_.from), to = itemsize(plan_.compute);
    for (int64_t i = 0; i < count; ++i)
      plan_.cast(run, tile_ + (i * length_ + at) * to, x + i * plan_.kept.stride * from);
  }

  void copy_runs(const char* x, int64_t count, int64_t at, int64_t run) {
    int64_t bytes = itemsize(plan_.from);
    copy_patch(bytes, count, run, (plan_.cast ? raw_ : tile_) + at * bytes, {length_, 1}, x,
               {plan_.kept.stride, plan_.reduced.inner_stride(0)});
  }

  const ReducePlan& plan_;
  int64_t begin_, length_;
  bool has_runs_;
  alignas(64) char tile_[REDUCE_TILE_BYTES];
  alignas(64) char raw_[REDUCE_TILE_BYTES];
};

void reduce_staged_rows(const ReducePlan& plan, const Item& item, int64_t begin, int64_t end,
                        Partials out) {
  StagedRows staged(plan, begin, end);
  int64_t step = staged.rows_at_once();
  int64_t from = itemsize(plan.from), to = itemsize(plan.compute);
  for (int64_t i = 0; i < item.count; i += step) {
    Partials part = {static_cast<char*>(out.values) + i * to, out.indices + i};
    staged.reduce(item.data + i * plan.kept.stride * from, std::min(step, item.count - i), part);
  }
}

void reduce_block_of(const ReducePlan& plan, const Item& item, int64_t begin, int64_t end,
                     Partials out) {
  switch (plan.path) {
    case ReducePath::columns:
      return reduce_columns(plan, item, begin, end, out);
    case ReducePath::dense:
      return plan.kernel->dense(end - begin, item.count, out,
                                item.data + begin * item.count * itemsize(plan.from));
    case ReducePath::staged_columns:
      return reduce_staged_columns(plan, item, begin, end, out);
    default:
      return reduce_staged_rows(plan, item, begin, end, out);
  }
}

Partials reduce_blocks(const ReducePlan& plan, const Item& item,
                       WaitingBlocks<REDUCE_WAITING>& waiting) {
  if (plan.path == ReducePath::rows) {
    Partials out = waiting.next();
    const char* x = item.data + item.begin * itemsize(plan.from);
    plan.kernel->rows(item.count, item.end - item.begin, plan.kept.stride, out, x, item.begin);
    return out;
  }
  for (int64_t at = item.begin; at < item.end; at += plan.block) {
    reduce_block_of(plan, item, at, std::min(at + plan.block, item.end), waiting.next());
    waiting.push();
  }
  return waiting.finish();
}

void reduce_item(const ReducePlan& plan, const ReduceTask& task, void* scratch, int64_t index) {
  int64_t span = index % plan.spans, group = index / plan.spans;
  int64_t outer = group / plan.groups, first = group % plan.groups * plan.group;
  int64_t offset, out_offset;
  plan.kept.seek(outer, &offset, &out_offset);
  offset += first * plan.kept.stride;
  out_offset += first * plan.kept.out_stride;
  int64_t begin = span * plan.span;
  Item item = {task.data + offset * itemsize(plan.from),
               std::min(plan.group, plan.kept.size - first), begin,
               std::min(begin + plan.span, plan.n)};
  WaitingBlocks<REDUCE_WAITING> waiting(plan, item.count);
  Partials result = reduce_blocks(plan, item, waiting);
  if (plan.spans == 1)
    return reduce_finish(plan, item.count, result, task.out + out_offset * itemsize(plan.out),
                         plan.kept.out_stride);
  reduce_keep(plan, scratch, span, out_offset, plan.kept.out_stride, item.count, result);
}

// The shortest way for small tensors that are one run in memory and become one number.
bool reduce_small_run(const ReduceTask& task) {
  if (task.op != ReduceOp::sum && task.op != ReduceOp::max && task.op != ReduceOp::min)
    return false;
  const ReduceKernel& kernel = reduce_kernel(task.op, task.dtype);
  if (!kernel.dense) return false;  // computed in another dtype, or complex
  int64_t n = 1;
  for (int axis = task.ndim - 1; axis >= 0; --axis) {
    if (task.shape[axis] == 1) continue;
    if (task.strides[axis] != n || !(task.reduced_axes >> axis & 1)) return false;
    n *= task.shape[axis];
  }
  if (n == 0 || n > REDUCE_MIN_BLOCK) return false;
  kernel.rows(1, n, 0, {task.out, nullptr}, task.data, 0);
  return true;
}

}  // namespace

int64_t reduce_scratch_bytes(const ReduceTask& task) {
  int64_t n = 1;
  for (int axis = 0; axis < task.ndim; ++axis)
    if (task.reduced_axes >> axis & 1) n *= task.shape[axis];
  return n <= REDUCE_MIN_BLOCK ? 0 : ReducePlan(task).scratch_bytes();
}

void reduce(const ReduceTask& task, void* scratch) {
  if (reduce_small_run(task)) return;
  ReducePlan plan(task);
  if (plan.outputs == 0) return;
  if (plan.n == 0) return reduce_fill_empty(plan, task.out);
  parallel(plan.items(), plan.item_ns(), task.interruptible,
           [&](int64_t index, int) { reduce_item(plan, task, scratch, index); });
  if (plan.spans > 1) reduce_join(plan, task.out, scratch, task.interruptible);
}

}  // namespace tessella::launch
