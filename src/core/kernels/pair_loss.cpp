// Loops over pairs of numbers.
#include "pair_loss.h"

#include "lane.h"
#include "row_sums.h"

namespace tessella::TS_ISA {

namespace {

template <class V>
TS_INLINE V limited(V logarithm) {
  const V least = splat<V>(-100);
  return logarithm < least ? least : logarithm;
}

#define PAIR(name, value_of, slope_of) \
  struct name {                        \
    template <class V>                 \
    TS_INLINE V value(V x, V y, V p) { \
      const V d = x - y;               \
      (void)d, (void)p;                \
      return value_of;                 \
    }                                  \
    template <class V>                 \
    TS_INLINE V slope(V x, V y, V p) { \
      const V d = x - y;               \
      (void)d, (void)p;                \
      return slope_of;                 \
    }                                  \
  };
#include "pair_loss.def"

template <class Loss, class T>
struct Pairs {
  using V = Vec<T>;

  static void losses(int64_t n, void* out, const void* x, const void* y, double p) {
    const V own = splat<V>((T)p);
    auto* to = static_cast<T*>(out);
    auto *xs = static_cast<const T*>(x), *ys = static_cast<const T*>(y);
    each_of<T>(n, [&](int64_t i, auto lanes) {
      lanes.write(to + i, Loss::value(lanes.read(xs + i), lanes.read(ys + i), own));
    });
  }

  static void slopes(int64_t n, void* dx, const void* dout, double all, const void* x,
                     const void* y, double p) {
    const V own = splat<V>((T)p), same = splat<V>((T)all);
    auto* to = static_cast<T*>(dx);
    auto *xs = static_cast<const T*>(x), *ys = static_cast<const T*>(y);
    auto* g = static_cast<const T*>(dout);
    each_of<T>(n, [&](int64_t i, auto lanes) {
      V slope = Loss::slope(lanes.read(xs + i), lanes.read(ys + i), own);
      lanes.write(to + i, slope * (g ? lanes.read(g + i) : same));
    });
  }
};

#define PAIR(name, value, slope) {Pairs<name, T>::losses, Pairs<name, T>::slopes},
template <class T>
constexpr PairLossKernel of_type[PAIR_LOSSES] = {
#include "pair_loss.def"
};

template <class T>
constexpr void copy_to(PairLossKernel* out) {
  for (int i = 0; i < PAIR_LOSSES; ++i) out[i] = of_type<T>[i];
}

constexpr PairLossKernels all_kernels() {
  PairLossKernels out{};
  copy_to<float>(out.float32);
  copy_to<double>(out.float64);
  return out;
}

}  // namespace

extern constexpr PairLossKernels pair_loss_kernels = all_kernels();

}  // namespace tessella::TS_ISA
