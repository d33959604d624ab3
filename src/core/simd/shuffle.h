// Lanes of vectors by their numbers. GCC has a builtin for it; other compilers see through the
// loop, where the numbers are constants once all is inlined.
#pragma once

namespace tessella {

// Lane i is lane from[i] of a and b, one behind the other.
template <class V, class Numbers>
static inline __attribute__((always_inline)) V shuffle(V a, V b, Numbers from) {
#if defined(__clang__)
  constexpr int N = sizeof(V) / sizeof(a[0]);
  V out{};
  for (int i = 0; i < N; ++i) {
    const int lane = (int)from[i] & (2 * N - 1);
    out[i] = lane < N ? a[lane] : b[lane - N];
  }
  return out;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

template <class V, class Numbers>
static inline __attribute__((always_inline)) V shuffle(V a, Numbers from) {
#if defined(__clang__)
  constexpr int N = sizeof(V) / sizeof(a[0]);
  V out{};
  for (int i = 0; i < N; ++i) out[i] = a[(int)from[i] & (N - 1)];
  return out;
#else
  return __builtin_shuffle(a, from);
#endif
}

}  // namespace tessella
