// Drives optimizers' updates over many parameters at once. Parameters, gradients and states may
// have any strides; halves are computed in float32 and rounded once.
#pragma once

#include <span>

#include "../kernels/updates.h"
#include "operand.h"

namespace tessella::launch {

// One parameter: its element type is real, complex ones have an axis more.
struct UpdateItem {
  UpdateOp op;
  const UpdateSettings* settings;
  DType dtype;
  int ndim;
  int64_t size;
  const int64_t* shape;         // nullptr: all operands are contiguous
  const int64_t* strides;       // [UPDATE_OPERANDS][ndim], in elements
  char* data[UPDATE_OPERANDS];  // the parameter, its gradient, its states; nullptr: none such
  char* counters[UPDATE_COUNTERS];
};

// What an item needs while it is worked on; whoever calls has it ready, as nothing may fail then.
struct UpdatePlan {
  UpdateFactors factors;
  int64_t end;  // number of chunks up to its last
};

// Work of more elements is shared between threads, and items of such work are taken in any order.
constexpr int64_t UPDATE_SHARED = 1 << 15;

// Writes parameters, states and counters, to the end. The operands of an item do not overlap;
// those of several may, if `in_order`. Each item has its plan.
void update(std::span<const UpdateItem> items, UpdatePlan* plans, bool in_order);

}  // namespace tessella::launch
