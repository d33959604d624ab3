// The table of ranking kernels, with which a few keys are sorted: each key's place is the number of
// keys that go before it. Quadratic, but without a branch that depends on the keys.
#pragma once

#include "isa.h"

namespace tessella {

// Keys and ranks are arrays of MAX_RANKED. The keys after the first n have any defined value, and
// their ranks none. Of equal keys the earlier goes before.
constexpr int64_t MAX_RANKED = 64;

struct RankKernels {
  void (*rank32)(int64_t n, uint32_t* ranks, const uint32_t* keys);
  void (*rank64)(int64_t n, uint64_t* ranks, const uint64_t* keys);
};

TS_KERNELS(RankKernels, rank_kernels)

}  // namespace tessella
