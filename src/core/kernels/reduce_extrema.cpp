// The kernels of max and min, which any and all share: those are the max and min of bytes.
#include "reduce_extrema.h"

namespace tessella::TS_ISA {

namespace {

template <class T>
struct MaxKernel {
  static constexpr ReduceKernel value = fold_kernel<Max, T>;
};
template <class T>
struct MinKernel {
  static constexpr ReduceKernel value = fold_kernel<Min, T>;
};

}  // namespace

extern constexpr ReduceFamily reduce_max = real_family<MaxKernel>();
extern constexpr ReduceFamily reduce_min = real_family<MinKernel>();

}  // namespace tessella::TS_ISA
