// The largest element of windows, vector by vector over neighbouring places.
#include "pool.h"

#include "matmul_simd.h"

namespace tessella::TS_ISA {

namespace {

template <int BYTES>
struct IndexOf {
  using type = int32_t;
};
template <>
struct IndexOf<8> {
  using type = int64_t;
};

template <class T>
void largest(int32_t* taps, const void* image, const int64_t* offsets, int64_t count, int64_t n) {
  using Index = IndexOf<sizeof(T)>::type;
  using V = Native<T>;
  using I = Native<Index>;
  for (int64_t i = 0; i < n; i += LANES<T>) {
    const T* x = static_cast<const T*>(image) + i;
    V most = splat<V>(-T(__builtin_inf()));
    I which = splat<I>(Index(-1));
    for (int64_t t = 0; t < count; t++) {
      V next = load<V>(x + offsets[t]);
      auto is_larger = (next > most) | (next != next);
      most = is_larger ? next : most;
      which = is_larger ? splat<I>(Index(t)) : which;
    }
    auto narrow = __builtin_convertvector(which, VecN<int32_t, LANES<T>>);
    int64_t left = n - i < LANES<T> ? n - i : LANES<T>;
    for (int64_t l = 0; l < left; l++) taps[i + l] = narrow[l];
  }
}

}  // namespace

extern const PoolKernels pool_kernels = {{largest<float>}, {largest<double>}};

}  // namespace tessella::TS_ISA
