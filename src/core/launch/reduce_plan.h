// How one reduction is carried out: its axes after merging, the path, and the borders of the work.
// An item of work is `group` outputs along one kept axis and `span` of the elements of each.
#pragma once

#include "../kernels/cast.h"
#include "reduce.h"
#include "runs.h"

namespace tessella::launch {

// The kept axes after merging. The last is `inner`, along which an item takes its outputs.
struct KeptAxes {
  int ndim = 0;  // without inner
  int64_t shape[MAX_NDIM + 1];
  int64_t strides[MAX_NDIM + 1];
  int64_t out_strides[MAX_NDIM + 1];
  int64_t outer_size = 1;
  int64_t size = 1, stride = 1, out_stride = 1;  // of inner

  // Where outputs begin whose outer axes are at the linear index `outer`.
  void seek(int64_t outer, int64_t* offset, int64_t* out_offset) const;
};

enum class ReducePath : uint8_t {
  rows,            // the elements of an output are one run: straight from memory
  columns,         // outputs lie side by side: straight from memory
  dense,           // the same for a few columns without gaps
  staged_rows,     // elements are gathered and converted into runs in a tile
  staged_columns,  // outputs lie side by side, and are converted into a tile
};

struct ReducePlan {
  ReduceOp op;
  ReducePath path;
  bool has_indices;
  DType from, compute, out;  // complex sums and means are planned as real ones
  CastFn cast;               // to `compute`, or null
  const ReduceKernel* kernel;
  Runs<1> reduced;
  KeptAxes kept;
  int64_t n, outputs;  // elements of one output; outputs
  int64_t block, group, span;
  int64_t groups, spans;

  explicit ReducePlan(const ReduceTask& task);

  int64_t items() const { return kept.outer_size * groups * spans; }
  int64_t item_ns() const;
  // Of partial values in scratch, padded so that indices may follow.
  int64_t value_bytes() const { return (spans * outputs * itemsize(compute) + 15) / 16 * 16; }
  int64_t scratch_bytes() const;

 private:
  void choose_dtypes(const ReduceTask& task);
  void collect_kept(const ReduceTask& task, int64_t scale);
  void choose_inner();
  void choose_path();
  void cut();
};

constexpr int64_t REDUCE_TILE_BYTES = 32768;      // of staged rows: with their source in L1 or L2
constexpr int64_t REDUCE_COLUMNS_BYTES = 131072;  // of staged columns, as wide as a few lines
// Values that wait for their partners in the tree over blocks within an item (see cut()).
constexpr int64_t REDUCE_WAITING = 2048;

// Brings `count` finished values into the dtype of the result.
void reduce_finish(const ReducePlan& plan, int64_t count, Partials values, char* out,
                   int64_t out_stride);
// Keeps the values of one span of `count` outputs, `stride` apart, until all spans are there; and
// joins all spans into the results.
void reduce_keep(const ReducePlan& plan, void* scratch, int64_t span, int64_t first, int64_t stride,
                 int64_t count, Partials values);
void reduce_join(const ReducePlan& plan, char* out, void* scratch, bool interruptible);
// The result of reducing no elements at all.
void reduce_fill_empty(const ReducePlan& plan, char* out);

}  // namespace tessella::launch
