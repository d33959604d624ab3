// Chains: a value goes through several operations before it is written. Each has the value as one
// operand; the other is in memory, a number, what the value began as, or the value itself. Every
// operation rounds as its own kernel does, so the bits are those of one kernel after the other.
#pragma once

#include "elementwise.h"

namespace tessella {

// An operation as kernels choose by it, with what it is given beside the value; `first`: that is
// its first operand, and the value the second.
enum class ChainCode : uint8_t {
#define UNARY(name) name,
#define BINARY(name) name##_memory, name##_number, name##_start, name##_itself,
#define TURNS(name)                                                                     \
  name##_memory, name##_number, name##_start, name##_memory_first, name##_number_first, \
      name##_start_first, name##_itself,
#include "chain.def"
  none,
};

struct ChainStep {
  ChainCode code;
  const void* operand;  // in memory, or a number
};

// out[i] = the value that begins as x[i] and goes through the steps, of which there is one at
// least; all contiguous, and out may be x or an operand.
using ChainFn = void (*)(int64_t n, void* out, const void* x, const ChainStep* steps, int count);

struct ChainKernels {
  ChainFn f32, f64;
};
TS_KERNELS(ChainKernels, chain_kernels)

}  // namespace tessella
