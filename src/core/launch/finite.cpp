// See finite.h.
#include "finite.h"

#include <algorithm>
#include <atomic>

#include "../kernels/finite.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t chunk_bytes = 64 << 10;
constexpr int64_t chunk_ns = 4000;  // at the speed of the second cache

DType part_of(DType dtype) {
  if (kind(dtype) != DKind::complex) return dtype;
  return dtype == DType::complex64 ? DType::float32 : DType::float64;
}

}  // namespace

bool are_finite(DType dtype, int64_t size, const char* data) {
  if (!has_gradients(dtype)) return true;
  DType part = part_of(dtype);
  FiniteFn kernel = TS_CHOSEN(finite_kernels).are_finite[static_cast<int>(part)];
  int64_t item = itemsize(part), count = size * itemsize(dtype) / item;
  int64_t each = chunk_bytes / item, chunks = (count + each - 1) / each;
  if (chunks <= 1) return kernel(count, data);
  std::atomic<bool> is_finite{true};
  parallel(chunks, chunk_ns, false, [&](int64_t number, int) {
    if (!is_finite.load(std::memory_order_relaxed)) return;
    int64_t first = number * each;
    if (!kernel(std::min(each, count - first), data + first * item))
      is_finite.store(false, std::memory_order_relaxed);
  });
  return is_finite;
}

}  // namespace tessella::launch
