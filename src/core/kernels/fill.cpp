// Whole vectors of the pattern; the last one overlaps the one before it, as the pattern goes on
// alike from any element. Rows that are shorter than a vector are written in halves of it.
#include "fill.h"

#include "../simd/vector.h"

namespace tessella::TS_ISA {

namespace {

using Bytes = VecN<uint8_t, VB>;

void fill_short(int64_t bytes, char* to, const char* pattern) {
  for (int64_t part = VB / 2; part > 0; part /= 2) {
    if (!(bytes & part)) continue;
    memcpy(to, pattern, (size_t)part);
    to += part;
  }
}

void fill_rows(int64_t rows, int64_t row_bytes, int64_t step, char* to, const char* pattern) {
  if (row_bytes < VB) {
    for (int64_t i = 0; i < rows; ++i) fill_short(row_bytes, to + i * step, pattern);
    return;
  }
  Bytes v = load<Bytes>((const uint8_t*)pattern);
  for (int64_t i = 0; i < rows; ++i) {
    auto* row = (uint8_t*)to + i * step;
    for (int64_t j = 0; j + VB <= row_bytes; j += VB) store(row + j, v);
    store(row + row_bytes - VB, v);
  }
}

}  // namespace

extern constexpr FillKernels fill_kernels = {fill_rows};

}  // namespace tessella::TS_ISA
