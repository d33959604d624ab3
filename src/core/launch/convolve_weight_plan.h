// How the adjoint of a convolution in its weight will be done. Used by launch/convolve_weight*.cpp
// only.
#pragma once

#include "convolve_plan.h"

namespace tessella::launch {

struct WeightPlan {
  const ConvolveDtype* kind;
  const ConvolveDtype* compute_kind;
  const MatmulCompute* compute;
  TapAxis rows, cols;  // of places
  int64_t taps, blocks, parts;
  bool is_exchanged;  // columns are channels of y
  bool is_lanewise;   // one channel in a group: `outs` groups are taken together, and ins is 1

  int64_t outs, ins;  // channels of y and x in a unit, at most
  int64_t out_blocks, in_blocks, units;
  int64_t lines, columns, width;  // of a unit's product; width: from one place to the next
  int64_t rounds, ns_each;

  int64_t sums_bytes, shared_bytes;
  int64_t tables_bytes, panels_bytes, image_bytes, worker_bytes;
};

WeightPlan plan_weight(const ConvolveTask& task);

// Elements of one channel in the window of x that a block of places needs.
inline int64_t window_elements(const WeightPlan& plan) {
  return plan.rows.slots * plan.cols.slots * plan.rows.extent * plan.cols.extent;
}

}  // namespace tessella::launch
