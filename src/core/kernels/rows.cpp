// Loops of softmax, cross entropy and their gradients over contiguous runs.
#include "rows.h"

#include "../simd/maths.h"
#include "row_sums.h"

namespace tessella::TS_ISA {

namespace {

// One number for all elements of a run, or one for each.
template <class T, bool IsEach>
struct Shared {
  const T* p;
  template <class Lanes>
  __attribute__((always_inline)) Vec<T> at(int64_t i, Lanes lanes) const {
    return IsEach ? lanes.read(p + i) : splat<Vec<T>>(*p);
  }
};

template <class T>
struct Runs {
  using V = Vec<T>;

  // f(out, x, r) for each run r.
  template <class F>
  static __attribute__((always_inline)) void each_run(const RowsRuns& runs, F f) {
    auto* out = static_cast<T*>(runs.out);
    auto* x = static_cast<const T*>(runs.x);
    for (int64_t r = 0; r < runs.count; r++) f(out + r * runs.out_step, x + r * runs.step, r);
  }

  // f(out, x, shared): what is shared by the elements of a run stands in `values`.
  template <class F>
  static __attribute__((always_inline)) void each_shared(const RowsRuns& runs, const void* values,
                                                         F f) {
    auto* s = static_cast<const T*>(values);
    each_run(runs, [&](T* out, const T* x, int64_t r) {
      runs.each ? f(out, x, Shared<T, true>{s}, r) : f(out, x, Shared<T, false>{s + r}, r);
    });
  }

  static void exponentials(const RowsRuns& runs, const void* shift) {
    each_shared(runs, shift, [&](T* out, const T* x, auto shared, int64_t) {
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        lanes.write(out + i, simd::exp(lanes.read(x + i) - shared.at(i, lanes)));
      });
    });
  }

  static void exponential_sums(const RowsRuns& runs, const void* shift, void* sums) {
    auto* s = static_cast<const T*>(shift);
    auto* to = static_cast<T*>(sums);
    bool is_stored = runs.out;
    each_run(runs, [&](T* out, const T* x, int64_t r) {
      V own = splat<V>(s[r]);
      if (is_stored)
        to[r] = sum_of<T>(runs.n, [&](int64_t i, auto lanes) {
          V e = simd::exp(lanes.read(x + i) - own);
          lanes.write(out + i, e);
          fetch_early(x + runs.step + i);
          return e;
        });
      else
        to[r] = sum_of<T>(runs.n, [&](int64_t i, auto lanes) {
          fetch_early(x + runs.step + i);
          return simd::exp(lanes.read(x + i) - own);
        });
    });
  }

  static void weighted_sums(const RowsRuns& runs, const void* shift, const void* weight,
                            void* sums) {
    auto* s = static_cast<const T*>(shift);
    auto* w = static_cast<const T*>(weight);
    auto* to = static_cast<T*>(sums);
    each_run(runs, [&](T*, const T* x, int64_t r) {
      V own = splat<V>(s[r]);
      to[r] = sum_of<T>(runs.n, [&](int64_t i, auto lanes) {
        V difference = lanes.read(x + i) - own;
        return w ? difference * lanes.read(w + i) : difference;
      });
    });
  }

  static void scaled(const RowsRuns& runs, const void* factor, const void* share,
                     const void* weight) {
    auto* f = static_cast<const T*>(factor);
    auto* s = static_cast<const T*>(share);
    auto* w = static_cast<const T*>(weight);
    each_run(runs, [&](T* out, const T*, int64_t r) {
      V own = splat<V>(f[r]), part = splat<V>(s ? s[r] : T{});
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        V value = lanes.read(out + i) * own;
        if (s) value = value - (w ? part * lanes.read(w + i) : part);
        lanes.write(out + i, value);
      });
    });
  }

  static void products(const RowsRuns& runs, const void* factor) {
    each_shared(runs, factor, [&](T* out, const T*, auto shared, int64_t) {
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        lanes.write(out + i, lanes.read(out + i) * shared.at(i, lanes));
      });
    });
  }

  static void differences(const RowsRuns& runs, const void* shift, const void* log_sum) {
    auto* l = static_cast<const T*>(log_sum);
    each_shared(runs, shift, [&](T* out, const T* x, auto shared, int64_t r) {
      decltype(shared) logarithm{runs.each ? l : l + r};
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        lanes.write(out + i, (lanes.read(x + i) - shared.at(i, lanes)) - logarithm.at(i, lanes));
      });
    });
  }

  static void logarithms(int64_t n, void* out) {
    auto* to = static_cast<T*>(out);
    each_of<T>(n,
               [&](int64_t i, auto lanes) { lanes.write(to + i, simd::log(lanes.read(to + i))); });
  }

  static void reciprocals(int64_t n, void* out) {
    auto* to = static_cast<T*>(out);
    each_of<T>(
        n, [&](int64_t i, auto lanes) { lanes.write(to + i, splat<V>(1) / lanes.read(to + i)); });
  }

  static void softmax_back(const RowsRuns& runs, const void* y, int64_t y_step) {
    each_run(runs, [&](T* out, const T* g, int64_t r) {
      auto* own = static_cast<const T*>(y) + r * y_step;
      V sum = splat<V>(sum_of<T>(
          runs.n, [&](int64_t i, auto lanes) { return lanes.read(g + i) * lanes.read(own + i); }));
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        lanes.write(out + i, (lanes.read(g + i) - sum) * lanes.read(own + i));
        fetch_early(g + runs.step + i);
        fetch_early(own + y_step + i);
      });
    });
  }

  static void log_softmax_back(const RowsRuns& runs, const void* y, int64_t y_step) {
    each_run(runs, [&](T* out, const T* g, int64_t r) {
      auto* own = static_cast<const T*>(y) + r * y_step;
      V sum = splat<V>(sum_of<T>(runs.n, [&](int64_t i, auto lanes) { return lanes.read(g + i); }));
      each_of<T>(runs.n, [&](int64_t i, auto lanes) {
        lanes.write(out + i, lanes.read(g + i) - simd::exp(lanes.read(own + i)) * sum);
        fetch_early(g + runs.step + i);
        fetch_early(own + y_step + i);
      });
    });
  }

  static constexpr RowsKernel kernel = {exponentials, exponential_sums, weighted_sums, scaled,
                                        products,     differences,      logarithms,    reciprocals,
                                        softmax_back, log_softmax_back};
};

}  // namespace

extern constexpr RowsKernels rows_kernels = {Runs<float>::kernel, Runs<double>::kernel};

}  // namespace tessella::TS_ISA
