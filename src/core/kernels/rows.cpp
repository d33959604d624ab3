// Elementwise loops of softmax and log_softmax over contiguous runs.
#include "rows.h"

#include "../simd/maths.h"

namespace tessella::TS_ISA {

namespace {

// One number for all elements, or one for each.
template <class T, int Step>
struct Shared {
  const T* p;
  __attribute__((always_inline)) Vec<T> at(int64_t i) const {
    return Step == 0 ? splat<Vec<T>>(*p) : load<Vec<T>>(p + i);
  }
  __attribute__((always_inline)) Vec<T> at(int64_t i, int n) const {
    return Step == 0 ? splat<Vec<T>>(*p) : load_partial<Vec<T>>(p + i, n);
  }
};

template <class T, int Step>
void exponentials_run(int64_t n, T* out, const T* x, Shared<T, Step> shift) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  int64_t i = 0;
  for (; i + W <= n; i += W) store(out + i, simd::exp(load<V>(x + i) - shift.at(i)));
  if (int rest = (int)(n - i); rest > 0)
    store_partial(out + i, simd::exp(load_partial<V>(x + i, rest) - shift.at(i, rest)), rest);
}

template <class T, int Step>
void quotients_run(int64_t n, T* out, Shared<T, Step> sum) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  int64_t i = 0;
  for (; i + W <= n; i += W) store(out + i, load<V>(out + i) / sum.at(i));
  if (int rest = (int)(n - i); rest > 0)
    store_partial(out + i, load_partial<V>(out + i, rest) / sum.at(i, rest), rest);
}

template <class T, int Step>
void differences_run(int64_t n, T* out, const T* x, Shared<T, Step> shift, Shared<T, Step> sum) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  int64_t i = 0;
  for (; i + W <= n; i += W) store(out + i, (load<V>(x + i) - shift.at(i)) - sum.at(i));
  if (int rest = (int)(n - i); rest > 0)
    store_partial(out + i, (load_partial<V>(x + i, rest) - shift.at(i, rest)) - sum.at(i, rest),
                  rest);
}

template <class T>
struct Runs {
  static void exponentials(int64_t n, void* out, const void* x, const void* shift, int step) {
    auto* to = static_cast<T*>(out);
    auto* from = static_cast<const T*>(x);
    auto* s = static_cast<const T*>(shift);
    if (step == 0) return exponentials_run(n, to, from, Shared<T, 0>{s});
    exponentials_run(n, to, from, Shared<T, 1>{s});
  }

  static void quotients(int64_t n, void* out, const void* sum, int step) {
    auto* to = static_cast<T*>(out);
    auto* s = static_cast<const T*>(sum);
    if (step == 0) return quotients_run(n, to, Shared<T, 0>{s});
    quotients_run(n, to, Shared<T, 1>{s});
  }

  static void differences(int64_t n, void* out, const void* x, const void* shift,
                          const void* log_sum, int step) {
    auto* to = static_cast<T*>(out);
    auto* from = static_cast<const T*>(x);
    auto* s = static_cast<const T*>(shift);
    auto* l = static_cast<const T*>(log_sum);
    if (step == 0) return differences_run(n, to, from, Shared<T, 0>{s}, Shared<T, 0>{l});
    differences_run(n, to, from, Shared<T, 1>{s}, Shared<T, 1>{l});
  }

  static void logarithms(int64_t n, void* out) {
    using V = Vec<T>;
    constexpr int W = lanes<V>;
    auto* to = static_cast<T*>(out);
    int64_t i = 0;
    for (; i + W <= n; i += W) store(to + i, simd::log(load<V>(to + i)));
    if (int rest = (int)(n - i); rest > 0)
      store_partial(to + i, simd::log(load_partial<V>(to + i, rest)), rest);
  }

  static constexpr RowsKernel kernel = {exponentials, quotients, differences, logarithms};
};

}  // namespace

extern constexpr RowsKernels rows_kernels = {Runs<float>::kernel, Runs<double>::kernel};

}  // namespace tessella::TS_ISA
