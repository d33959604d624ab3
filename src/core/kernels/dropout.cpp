// A group of words at a time, shaped into a mask as it is used.
#include "dropout.h"

#include "philox.h"

namespace tessella::TS_ISA {

namespace {

template <class T>
void drop(const RandomSource& source, int64_t n, void* out, const void* x, double scale) {
  auto* to = static_cast<T*>(out);
  auto* from = static_cast<const T*>(x);
  const T factor = (T)scale;
  // Words below 2^32 cannot say "all of them": the last that stays says so, and whether any does.
  const uint32_t last = (uint32_t)(source.range - 1);
  const bool is_possible = source.range != 0;
  alignas(64) uint32_t words[group_words];
  uint64_t counter = source.counter;
  for (int64_t first = 0; first < n; first += group_words, counter += group_counters) {
    philox_group(source.key, counter, words);
    const int64_t count = n - first < group_words ? n - first : group_words;
    for (int64_t i = 0; i < count; ++i) {
      const T value = from[first + i] * factor;
      to[first + i] = is_possible & (words[i] <= last) ? value : (T)0;
    }
  }
}

}  // namespace

extern constexpr DropoutKernels dropout_kernels = {drop<float>, drop<double>};

}  // namespace tessella::TS_ISA
