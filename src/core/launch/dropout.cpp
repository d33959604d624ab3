// Chunks begin at a group of words of their own, so that they do not depend on the threads.
#include "dropout.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t chunk_elements = 16384;  // a whole number of groups
constexpr int64_t tile_elements = 1024;    // converted at once; likewise

RandomSource source_at(const DropoutTask& task, int64_t first) {
  auto groups = static_cast<uint64_t>(first / RANDOM_GROUP_WORDS);
  auto range = static_cast<uint64_t>((1 - task.p) * 0x1p32 + 0.5);
  return {task.key, task.counter + groups * RANDOM_GROUP_COUNTERS, 0, range};
}

void drop_halves(const DropoutTask& task, int64_t first, int64_t last, double scale, char* out) {
  alignas(64) float from[tile_elements], to[tile_elements];
  for (int64_t i = first; i < last; i += tile_elements) {
    int64_t n = std::min(tile_elements, last - i), offset = i * itemsize(task.dtype);
    cast_kernel(task.dtype, DType::float32)(n, from, task.x + offset);
    TS_CHOSEN(dropout_kernels).float32(source_at(task, i), n, to, from, scale);
    cast_kernel(DType::float32, task.dtype)(n, out + offset, to);
  }
}

}  // namespace

uint64_t dropout_counters(int64_t n) {
  auto groups = static_cast<uint64_t>((n + RANDOM_GROUP_WORDS - 1) / RANDOM_GROUP_WORDS);
  return groups * RANDOM_GROUP_COUNTERS;
}

void dropout(const DropoutTask& task, char* out) {
  double scale = task.p < 1 ? 1 / (1 - task.p) : 0;
  const DropoutKernels& kernels = TS_CHOSEN(dropout_kernels);
  auto drop = task.dtype == DType::float64 ? kernels.float64 : kernels.float32;
  int64_t chunks = (task.n + chunk_elements - 1) / chunk_elements;
  parallel(chunks, chunk_elements, task.interruptible, [&](int64_t chunk, int) {
    int64_t first = chunk * chunk_elements, last = std::min(task.n, first + chunk_elements);
    if (compute_dtype(task.dtype) != task.dtype) return drop_halves(task, first, last, scale, out);
    int64_t offset = first * itemsize(task.dtype);
    drop(source_at(task, first), last - first, out + offset, task.x + offset, scale);
  });
}

}  // namespace tessella::launch
