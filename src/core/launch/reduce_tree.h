// The tree over the blocks of a reduction, as they come: see kernels/reduce.h for its shape.
#pragma once

#include "reduce_plan.h"

namespace tessella::launch {

// The values of blocks that wait for their partners: one for each bit set in the number of blocks.
// A block may also be a subtree, if all but the last are of one size. It has room for CAPACITY
// values: `count` for each level.
template <int64_t CAPACITY>
class WaitingBlocks {
 public:
  WaitingBlocks(const ReducePlan& plan, int64_t count)
      : kernel_(plan.kernel), count_(count), bytes_(itemsize(plan.compute)) {}

  Partials next() { return level(top_); }

  void push() {
    for (int64_t bits = pushed_++; bits & 1; bits >>= 1) join_top();
    ++top_;
  }

  Partials finish() {
    for (--top_; top_ > 0;) join_top();
    return level(0);
  }

 private:
  Partials level(int i) { return {values_ + i * count_ * bytes_, indices_ + i * count_}; }

  void join_top() {
    --top_;
    kernel_->join(count_, level(top_), level(top_ + 1));
  }

  const ReduceKernel* kernel_;
  int64_t count_, bytes_;
  int top_ = 0;
  int64_t pushed_ = 0;
  alignas(64) char values_[CAPACITY * 16];
  int64_t indices_[CAPACITY];
};

}  // namespace tessella::launch
