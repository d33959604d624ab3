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
  // f(out, x, r) for run r of those that have a number each.
  template <class F>
  static __attribute__((always_inline)) void each_run(const RowsRuns& runs, F f) {
    auto* out = static_cast<T*>(runs.out);
    auto* x = static_cast<const T*>(runs.x);
    for (int64_t r = 0; r < runs.count; r++) f(out + r * runs.out_step, x + r * runs.step, r);
  }

  static void exponentials(const RowsRuns& runs, const void* shift) {
    auto* s = static_cast<const T*>(shift);
    each_run(runs, [&](T* out, const T* x, int64_t r) {
      if (runs.each) return exponentials_run(runs.n, out, x, Shared<T, 1>{s});
      exponentials_run(runs.n, out, x, Shared<T, 0>{s + r});
    });
  }

  static void quotients(const RowsRuns& runs, const void* sum) {
    auto* s = static_cast<const T*>(sum);
    each_run(runs, [&](T* out, const T*, int64_t r) {
      if (runs.each) return quotients_run(runs.n, out, Shared<T, 1>{s});
      quotients_run(runs.n, out, Shared<T, 0>{s + r});
    });
  }

  static void differences(const RowsRuns& runs, const void* shift, const void* log_sum) {
    auto* s = static_cast<const T*>(shift);
    auto* l = static_cast<const T*>(log_sum);
    each_run(runs, [&](T* out, const T* x, int64_t r) {
      if (runs.each) return differences_run(runs.n, out, x, Shared<T, 1>{s}, Shared<T, 1>{l});
      differences_run(runs.n, out, x, Shared<T, 0>{s + r}, Shared<T, 0>{l + r});
    });
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
