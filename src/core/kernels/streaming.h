// Writing past the caches: for results that are larger than those, whose lines would be read before
// they are written, and put out what is of use.
#pragma once

#include "isa.h"

namespace tessella {

constexpr int64_t STREAMED_BYTES = 16 << 20;  // of results that a cache would not hold

struct StreamingKernels {
  void (*copy)(int64_t bytes, char* to, const char* from);
  void (*end)();  // other threads see what was written after it
};
TS_KERNELS(StreamingKernels, streaming_kernels)

}  // namespace tessella
