// Loops over the elements of channels.
#include "channels.h"

#include "row_sums.h"

namespace tessella::TS_ISA {

namespace {

template <class T>
struct Channels {
  using V = Vec<T>;

  static double sum(int64_t n, const void* x) {
    auto* from = static_cast<const T*>(x);
    return (double)sum_of<T>(n, [&](int64_t i, auto lanes) { return lanes.read(from + i); });
  }

  static double squares(int64_t n, const void* x, double mean) {
    auto* from = static_cast<const T*>(x);
    const V m = splat<V>((T)mean);
    return (double)sum_of<T>(n, [&](int64_t i, auto lanes) {
      V d = lanes.read(from + i) - m;
      return d * d;
    });
  }

  static void pulls(int64_t n, const void* g, const void* x, double mean, double* sums) {
    auto *from = static_cast<const T*>(x), *pulled = static_cast<const T*>(g);
    const V m = splat<V>((T)mean);
    sums[0] = sum(n, g);
    sums[1] = (double)sum_of<T>(n, [&](int64_t i, auto lanes) {
      return lanes.read(pulled + i) * (lanes.read(from + i) - m);
    });
  }

  static void sum_rows(int64_t rows, int64_t n, void* sums, const void* x) {
    auto* to = static_cast<T*>(sums);
    auto* from = static_cast<const T*>(x);
    each_of<T>(n, [&](int64_t i, auto lanes) {
      V total = lanes.read(to + i);
      for (int64_t r = 0; r < rows; ++r) total = total + lanes.read(from + r * n + i);
      lanes.write(to + i, total);
    });
  }

  static void square_rows(int64_t rows, int64_t n, void* sums, const void* x, const void* mean) {
    auto* to = static_cast<T*>(sums);
    auto *from = static_cast<const T*>(x), *means = static_cast<const T*>(mean);
    each_of<T>(n, [&](int64_t i, auto lanes) {
      V total = lanes.read(to + i), m = lanes.read(means + i);
      for (int64_t r = 0; r < rows; ++r) {
        V d = lanes.read(from + r * n + i) - m;
        total = total + d * d;
      }
      lanes.write(to + i, total);
    });
  }

  static void pull_rows(int64_t rows, int64_t n, void* sums, const void* g, const void* x,
                        const void* mean) {
    auto *first = static_cast<T*>(sums), *second = first + n;
    auto *from = static_cast<const T*>(x), *pulled = static_cast<const T*>(g);
    auto* means = static_cast<const T*>(mean);
    each_of<T>(n, [&](int64_t i, auto lanes) {
      V all = lanes.read(first + i), moment = lanes.read(second + i), m = lanes.read(means + i);
      for (int64_t r = 0; r < rows; ++r) {
        V d = lanes.read(pulled + r * n + i);
        all = all + d;
        moment = moment + d * (lanes.read(from + r * n + i) - m);
      }
      lanes.write(first + i, all);
      lanes.write(second + i, moment);
    });
  }

  // One number for all elements, or one for each.
  template <bool IsEach>
  struct Number {
    const T* p;
    template <class Lanes>
    __attribute__((always_inline)) V at(int64_t i, Lanes lanes) const {
      return IsEach ? lanes.read(p + i) : splat<V>(*p);
    }
  };

  template <bool IsEach>
  static void apply_to(int64_t n, T* out, const T* x, const ChannelNumbers& of) {
    using N = Number<IsEach>;
    const N mean{static_cast<const T*>(of.mean)}, scale{static_cast<const T*>(of.scale)},
        shift{static_cast<const T*>(of.shift)};
    each_of<T>(n, [&](int64_t i, auto lanes) {
      lanes.write(out + i, (lanes.read(x + i) - mean.at(i, lanes)) * scale.at(i, lanes) +
                               shift.at(i, lanes));
    });
  }

  template <bool IsEach>
  static void pull_to(int64_t n, T* out, const T* g, const T* x, const ChannelNumbers& of) {
    using N = Number<IsEach>;
    const N mean{static_cast<const T*>(of.mean)}, scale{static_cast<const T*>(of.scale)},
        shift{static_cast<const T*>(of.shift)}, level{static_cast<const T*>(of.level)};
    each_of<T>(n, [&](int64_t i, auto lanes) {
      V far = (lanes.read(x + i) - mean.at(i, lanes)) * shift.at(i, lanes);
      lanes.write(out + i, (lanes.read(g + i) - level.at(i, lanes) - far) * scale.at(i, lanes));
    });
  }

  static void apply(int64_t n, void* out, const void* x, const ChannelNumbers& of, bool each) {
    auto* to = static_cast<T*>(out);
    auto* from = static_cast<const T*>(x);
    each ? apply_to<true>(n, to, from, of) : apply_to<false>(n, to, from, of);
  }

  static void pull(int64_t n, void* out, const void* g, const void* x, const ChannelNumbers& of,
                   bool each) {
    auto* to = static_cast<T*>(out);
    auto *from = static_cast<const T*>(x), *pulled = static_cast<const T*>(g);
    each ? pull_to<true>(n, to, pulled, from, of) : pull_to<false>(n, to, pulled, from, of);
  }

  static constexpr ChannelKernel kernel = {sum,         squares,   pulls, sum_rows,
                                           square_rows, pull_rows, apply, pull};
};

}  // namespace

extern constexpr ChannelKernels channel_kernels = {Channels<float>::kernel,
                                                   Channels<double>::kernel};

}  // namespace tessella::TS_ISA
