// Arithmetic of sizes and strides that has no operator. Not for kernels: functions in this
// namespace would be symbols that instruction sets share.
#pragma once

#include <stdint.h>

namespace tessella {

// y > 0. It does not overflow.
constexpr int64_t ceil_div(int64_t x, int64_t y) { return x / y + (x % y > 0); }

constexpr int64_t align64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

constexpr int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

}  // namespace tessella
