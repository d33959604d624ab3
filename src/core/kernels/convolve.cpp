// Windows of images, panels by tables of offsets, and the writing of sums with their bias.
#include "convolve.h"

#include "matmul_pack.h"

namespace tessella::TS_ISA {

namespace {

template <class T>
inline __attribute__((always_inline)) void fill(T* out, int64_t count, Native<T> value) {
  int64_t i = 0;
  for (; i + LANES<T> <= count; i += LANES<T>) store(out + i, value);
  if (i < count) Part<T>(count - i).store(out + i, value);
}

// Every second element of two vectors.
template <class V>
inline V even_lanes(V x, V y) {
  constexpr int N = sizeof(V) / sizeof(x[0]);
  VecN<typename BitsOf<sizeof(x[0])>::type, N> mask;
  for (int l = 0; l < N; l++) mask[l] = 2 * l;
  return shuffle(x, y, mask);
}

template <class T, class S>
inline __attribute__((always_inline)) void copy_line(T* out, const S* in, int64_t step,
                                                     int64_t count) {
  int64_t i = 0;
  if (step == 1) {
    for (; i + LANES<T> <= count; i += LANES<T>) store(out + i, load_as<T>(in + i));
    if (i < count) Part<T>(count - i).store(out + i, load_part_as<T>(in + i, count - i));
    return;
  }
  if (step == 2)  // the second vector would end behind the last element
    for (; i + LANES<T> < count; i += LANES<T>)
      store(out + i, even_lanes(load_as<T>(in + 2 * i), load_as<T>(in + 2 * i + LANES<T>)));
  for (; i < count; i++) out[i] = element_as<T>(in[i * step]);
}

// The places [begin, end) of a range that lie inside of the axis.
struct Inside {
  int64_t begin, end;
  explicit Inside(const ConvolveRange& x) {
    int64_t low = x.first < 0 ? (-x.first + x.step - 1) / x.step : 0;
    int64_t high = x.first < x.size ? (x.size - x.first + x.step - 1) / x.step : 0;
    begin = low < x.count ? low : x.count;
    end = high < x.count ? high : x.count;
    if (end < begin) end = begin;
  }
};

template <class T, class S>
void window(const ConvolveWindow& x) {
  Inside rows(x.rows), cols(x.cols);
  auto outside = splat<Native<T>>(T(x.outside));
  int64_t inside = cols.end - cols.begin, step = x.cols.step * x.in_col;
  const S* start = static_cast<const S*>(x.in);
  if (inside > 0) start += (x.cols.first + cols.begin * x.cols.step) * x.in_col;
  for (int64_t c = 0; c < x.channels; c++)
    for (int64_t i = 0; i < x.rows.count; i++) {
      T* out = static_cast<T*>(x.out) + c * x.out_channel + i * x.out_row;
      if (i < rows.begin || i >= rows.end || inside == 0) {
        fill(out, x.cols.count, outside);
        continue;
      }
      const S* in = start + c * x.in_channel + (x.rows.first + i * x.rows.step) * x.in_row;
      fill(out, cols.begin, outside);
      copy_line(out + cols.begin, in, step, inside);
      fill(out + cols.end, x.cols.count - cols.end, outside);
    }
}

template <class T, class S>
void columns(const ConvolveWindow& x) {
  Inside rows(x.rows), cols(x.cols);
  int64_t inside = cols.end - cols.begin, width = x.out_col;
  const S* start = static_cast<const S*>(x.in);
  if (inside > 0) start += (x.cols.first + cols.begin * x.cols.step) * x.in_col;
  for (int64_t i = 0; i < x.rows.count; i++) {
    T* out = static_cast<T*>(x.out) + i * x.out_row;
    if (i < rows.begin || i >= rows.end || inside == 0) {
      fill(out, x.cols.count * width, Native<T>{});
      continue;
    }
    const S* in = start + (x.rows.first + i * x.rows.step) * x.in_row;
    fill(out, cols.begin * width, Native<T>{});
    pack<T, S>({out + cols.begin * width, in, x.in_channel, x.cols.step * x.in_col, x.channels,
                inside, width, false});
    fill(out + cols.end * width, (x.cols.count - cols.end) * width, Native<T>{});
  }
}

inline bool are_adjacent(const int64_t* offsets, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

// Ks [p, p + count) of the panel of lines [begin, end), at most a vector of them.
template <class T, class S>
void panel_strip(const ConvolvePanels& x, int64_t begin, int64_t end, int64_t p, int64_t count) {
  constexpr int N = LANES<T>;
  const S* in = static_cast<const S*>(x.in);
  int64_t width = end - begin;
  T* to = static_cast<T*>(x.out) + begin * x.k + p * width;
  if (!are_adjacent(x.steps + p, count)) {
    for (int64_t q = 0; q < count; q++)
      for (int64_t i = 0; i < width; i++)
        to[q * width + i] = element_as<T>(in[x.lines[begin + i] + x.steps[p + q]]);
    return;
  }
  for (int64_t i = 0; i < width; i += N) {
    Native<T> rows[N];
#pragma GCC unroll 16
    for (int r = 0; r < N; r++) {
      const S* from = in + (begin + i + r < end ? x.lines[begin + i + r] : 0) + x.steps[p];
      rows[r] = begin + i + r < end ? load_first<T>(from, count) : Native<T>{};
    }
    transpose<N / 2>(rows);
#pragma GCC unroll 16
    for (int r = 0; r < N; r++)
      if (r < count) store_first(to + r * width + i, rows[r], width - i);
  }
}

// Lines are adjacent, as the channels of an image may be.
template <class T, class S>
void copy_lines(const ConvolvePanels& x, int64_t begin, int64_t end) {
  int64_t width = end - begin;
  for (int64_t p = 0; p < x.k; p++) {
    const S* from = static_cast<const S*>(x.in) + x.lines[begin] + x.steps[p];
    T* to = static_cast<T*>(x.out) + begin * x.k + p * width;
    for (int64_t i = 0; i < width; i += LANES<T>)
      store_first(to + i, load_first<T>(from + i, width - i), width - i);
  }
}

template <class T, class S>
void panels(const ConvolvePanels& x) {
  int64_t tiles = (x.count + x.width - 1) / x.width;
  for (int64_t t = 0; t < tiles; t++) {
    int64_t begin = matmul_even_begin(t, tiles, x.count);
    int64_t end = matmul_even_begin(t + 1, tiles, x.count);
    if (end - begin > 1 && are_adjacent(x.lines + begin, end - begin)) {
      copy_lines<T, S>(x, begin, end);
      continue;
    }
    for (int64_t p = 0; p < x.k; p += LANES<T>)
      panel_strip<T, S>(x, begin, end, p, x.k - p < LANES<T> ? x.k - p : LANES<T>);
  }
}

template <class T, class S>
void store_line(S* out, int64_t step, const T* sums, int64_t count, T bias, bool has_bias) {
  int64_t j = 0;
  if constexpr (__is_same(T, S)) {
    Native<T> more = splat<Native<T>>(bias);
    for (; step == 1 && j + LANES<T> <= count; j += LANES<T>) {
      Native<T> sum = load<Native<T>>(sums + j);
      store(out + j, has_bias ? sum + more : sum);
    }
    if (step == 1 && j < count) {
      Part<T> part(count - j);
      Native<T> sum = part.load(sums + j);
      part.store(out + j, has_bias ? sum + more : sum);
      return;
    }
  }
  for (; j < count; j++) out[j * step] = element_from<S>(has_bias ? sums[j] + bias : sums[j]);
}

template <class T, class S>
void store_sums_with_bias(const ConvolveStore& x) {
  for (int64_t c = 0; c < x.channels; c++) {
    const S* bias = static_cast<const S*>(x.bias);
    T more = bias ? element_as<T>(bias[c * x.bias_step]) : T(0);
    for (int64_t i = 0; i < x.rows; i++) {
      S* out = static_cast<S*>(x.out) + c * x.out_channel + i * x.out_row;
      const T* sums = static_cast<const T*>(x.sums) + c * x.sums_channel + i * x.sums_row;
      store_line(out, x.out_col, sums, x.cols, more, bias != nullptr);
    }
  }
}

// So many taps at once: their chains keep the multipliers busy.
constexpr int LANE_TAPS = 9;

template <class T, int TAPS>
void lanes_of(const ConvolveLanes& x, int64_t tap, int64_t lane) {
  using V = Native<T>;
  const T* y = static_cast<const T*>(x.y) + lane;
  const T* from[TAPS];
  V sums[TAPS];
  for (int t = 0; t < TAPS; t++) {
    from[t] = static_cast<const T*>(x.x) + x.taps[tap + t] + lane;
    sums[t] = V{};
  }
  for (int64_t p = 0; p < x.places; p++) {
    V g = load<V>(y + p * x.width);
#pragma GCC unroll 16
    for (int t = 0; t < TAPS; t++) sums[t] = multiply_add(g, load<V>(from[t] + x.rows[p]), sums[t]);
  }
  T* out = static_cast<T*>(x.sums) + tap * x.width + lane;
  for (int t = 0; t < TAPS; t++, out += x.width)
    store(out, x.add ? load<V>(out) + sums[t] : sums[t]);
}

template <class T, int TAPS>
void lanes_up_to(const ConvolveLanes& x, int64_t tap, int64_t lane, int64_t count) {
  if (count == TAPS) return lanes_of<T, TAPS>(x, tap, lane);
  if constexpr (TAPS > 1) lanes_up_to<T, TAPS - 1>(x, tap, lane, count);
}

template <class T>
void lanes(const ConvolveLanes& x) {
  for (int64_t tap = 0; tap < x.tap_count; tap += LANE_TAPS)
    for (int64_t lane = 0; lane < x.width; lane += LANES<T>)
      lanes_up_to<T, LANE_TAPS>(x, tap, lane,
                                x.tap_count - tap < LANE_TAPS ? x.tap_count - tap : LANE_TAPS);
}

template <class T, class S>
constexpr ConvolveDtype KERNELS = {window<T, S>, columns<T, S>, panels<T, S>,
                                   store_sums_with_bias<T, S>, lanes<T>};

}  // namespace

extern const ConvolveKernels convolve_kernels = {
    KERNELS<float, Half>,
    KERNELS<float, Bfloat>,
    KERNELS<float, float>,
    KERNELS<double, double>,
};

}  // namespace tessella::TS_ISA
