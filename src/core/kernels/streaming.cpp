// Whole vectors are written past the caches; what lies before and behind them is not.
#include "streaming.h"

#include "../simd/vector.h"

namespace tessella::TS_ISA {

namespace {

using Bytes = VecN<uint8_t, VB>;

void copy(int64_t bytes, char* to, const char* from) {
  int64_t head = (int64_t)(-(uintptr_t)to % VB), i = head < bytes ? head : bytes;
  memcpy(to, from, (size_t)i);
  for (; i + VB <= bytes; i += VB) stream((uint8_t*)to + i, load<Bytes>((const uint8_t*)from + i));
  memcpy(to + i, from + i, (size_t)(bytes - i));
}

void end() { end_stream(); }

}  // namespace

extern constexpr StreamingKernels streaming_kernels = {copy, end};

}  // namespace tessella::TS_ISA
