// A row is read several times, and stays in L1 meanwhile.
#include "norm.h"

#include "../simd/maths.h"
#include "row_sums.h"

namespace tessella::TS_ISA {

namespace {

template <class T>
struct Norm {
  using V = Vec<T>;

  // Of one row: what is subtracted, and what is multiplied by.
  struct Moments {
    T mean, scale;
  };

  template <bool IsCentred>
  __attribute__((noinline)) static Moments measure(const T* x, int64_t n, double eps) {
    T mean = 0;
    if constexpr (IsCentred)
      mean = sum_of<T>(n, [&](int64_t i, auto lanes) { return lanes.read(x + i); }) / (T)n;
    const V m = splat<V>(mean);
    T squares = sum_of<T>(n, [&](int64_t i, auto lanes) {
      V d = IsCentred ? lanes.read(x + i) - m : lanes.read(x + i);
      return d * d;
    });
    T variance = squares / (T)n + (T)eps;
    return {mean, 1 / sqrt(VecN<T, 1>{variance})[0]};
  }

  template <bool IsCentred, bool IsStreamed>
  static void normalise(const NormRows& of, void* out) {
    auto *w = static_cast<const T*>(of.weight), *b = static_cast<const T*>(of.bias);
    for (int64_t r = 0; r < of.rows; ++r) {
      const T* x = static_cast<const T*>(of.x) + r * of.n;
      T* to = static_cast<T*>(out) + r * of.n;
      Moments own = measure<IsCentred>(x, of.n, of.eps);
      const V mean = splat<V>(own.mean), scale = splat<V>(own.scale);
      each_of<T, IsStreamed>(of.n, [&](int64_t i, auto lanes) {
        V value = (IsCentred ? lanes.read(x + i) - mean : lanes.read(x + i)) * scale;
        if (w) value = value * lanes.read(w + i);
        if (b) value = value + lanes.read(b + i);
        lanes.send(to + i, value);
        fetch_early(x + of.n + i);
      });
    }
  }

  // Of one row of a gradient: with y = (x - m) r and g = dout weight it is
  // dx = (g - mean(g) - y mean(g y)) r, where mean(g) is 0 unless a mean was subtracted.
  template <bool IsCentred, bool HasWeight>
  struct Row {
    const T *x, *g, *w;
    T* dx;
    V mean, scale, level, slope;

    // Sums along a row are long loops: a call costs nothing beside them, and copies of them space.
    __attribute__((noinline)) Row(const NormRows& of, const void* dout, void* out, int64_t r)
        : x(static_cast<const T*>(of.x) + r * of.n),
          g(static_cast<const T*>(dout) + r * of.n),
          w(static_cast<const T*>(of.weight)),
          dx(static_cast<T*>(out) + r * of.n) {
      Moments own = measure<IsCentred>(x, of.n, of.eps);
      mean = splat<V>(own.mean);
      scale = splat<V>(own.scale);
      level = V{};
      if constexpr (IsCentred)
        level = splat<V>(sum_of<T>(of.n, [&](int64_t i, auto lanes) { return pulled(i, lanes); }) /
                         (T)of.n);
      slope = splat<V>(
          sum_of<T>(of.n,
                    [&](int64_t i, auto lanes) { return pulled(i, lanes) * normal(i, lanes); }) /
          (T)of.n);
    }

    template <class Lanes>
    __attribute__((always_inline)) V pulled(int64_t i, Lanes lanes) const {
      return HasWeight ? lanes.read(g + i) * lanes.read(w + i) : lanes.read(g + i);
    }
    template <class Lanes>
    __attribute__((always_inline)) V normal(int64_t i, Lanes lanes) const {
      return (IsCentred ? lanes.read(x + i) - mean : lanes.read(x + i)) * scale;
    }
    // Writes dx; adds to the sums of the gradients of weight and bias.
    template <class Lanes>
    __attribute__((always_inline)) void finish(int64_t i, Lanes lanes, V& dweight, V& dbias) const {
      V d = lanes.read(g + i), y = normal(i, lanes);
      V back = HasWeight ? d * lanes.read(w + i) : d;
      if constexpr (IsCentred) back = back - level;
      lanes.send(dx + i, (back - y * slope) * scale);
      dweight = dweight + d * y;
      dbias = dbias + d;
    }
  };

  // Two rows at a time, so that the sums over rows are read and written half as often.
  template <bool IsCentred, bool HasWeight, bool IsStreamed>
  static void pull(const NormRows& of, const void* dout, void* dx, T* dweight, T* dbias) {
    using R = Row<IsCentred, HasWeight>;
    auto finish = [&](const R& first, const R* second) {
      each_of<T, IsStreamed>(of.n, [&](int64_t i, auto lanes) {
        V dw = HasWeight ? lanes.read(dweight + i) : V{};
        V db = HasWeight ? lanes.read(dbias + i) : V{};
        first.finish(i, lanes, dw, db);
        if (second) second->finish(i, lanes, dw, db);
        for (int64_t next = 2; next < 4; ++next) {
          fetch_early(first.x + next * of.n + i);
          fetch_early(first.g + next * of.n + i);
        }
        if constexpr (HasWeight) {
          lanes.write(dweight + i, dw);
          lanes.write(dbias + i, db);
        }
      });
    };
    int64_t r = 0;
    for (; r + 2 <= of.rows; r += 2) {
      const R first(of, dout, dx, r), second(of, dout, dx, r + 1);
      finish(first, &second);
    }
    if (r < of.rows) finish(R(of, dout, dx, r), nullptr);
  }

  template <bool IsCentred>
  static void normalise_all(const NormRows& of, void* out) {
    if (!of.is_streamed || !can_stream(static_cast<T*>(out), of.n))
      return normalise<IsCentred, false>(of, out);
    normalise<IsCentred, true>(of, out);
    end_stream();
  }

  template <bool IsCentred, bool HasWeight>
  static void pull_all(const NormRows& of, const void* dout, void* dx, T* dweight, T* dbias) {
    if (!of.is_streamed || !can_stream(static_cast<T*>(dx), of.n))
      return pull<IsCentred, HasWeight, false>(of, dout, dx, dweight, dbias);
    pull<IsCentred, HasWeight, true>(of, dout, dx, dweight, dbias);
    end_stream();
  }

  static void forward(const NormRows& of, void* out) {
    of.is_centred ? normalise_all<true>(of, out) : normalise_all<false>(of, out);
  }

  static void backward(const NormRows& of, const void* dout, void* dx, void* dweight, void* dbias) {
    auto *dw = static_cast<T*>(dweight), *db = static_cast<T*>(dbias);
    if (!of.weight)
      return of.is_centred ? pull_all<true, false>(of, dout, dx, dw, db)
                           : pull_all<false, false>(of, dout, dx, dw, db);
    memset(dw, 0, sizeof(T) * (size_t)of.n);
    memset(db, 0, sizeof(T) * (size_t)of.n);
    of.is_centred ? pull_all<true, true>(of, dout, dx, dw, db)
                  : pull_all<false, true>(of, dout, dx, dw, db);
  }

  static constexpr NormKernel kernel = {forward, backward};
};

}  // namespace

extern constexpr NormKernels norm_kernels = {Norm<float>::kernel, Norm<double>::kernel};

}  // namespace tessella::TS_ISA
