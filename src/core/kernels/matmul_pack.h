// Packing: lines of k elements, with any strides, become panels [k][width] of the compute type.
// Where lines are adjacent whole vectors are copied; where k is, squares are transposed in
// registers; otherwise elements are moved one by one. Padding lines are zeros.
#pragma once

#include "matmul.h"
#include "matmul_half.h"

namespace tessella::TS_ISA {

// One panel: `count` lines of `k`, `width` elements from one k to the next.
template <class T, class S>
struct Panel {
  T* out;
  const S* in;
  int64_t line, k_step, count, k, width;
};

template <class T>
inline void store_first(T* p, Native<T> v, int64_t count) {
  if (count >= LANES<T>)
    store(p, v);
  else
    Part<T>(count).store(p, v);
}

template <class T, class S>
inline Native<T> load_first(const S* p, int64_t count) {
  if (count >= LANES<T>) return load_as<T>(p);
  return count > 0 ? load_part_as<T>(p, count) : Native<T>{};
}

// Adjacent lines are read in the order of memory: so many ks of every panel, then the next.
constexpr int64_t COPY_STRIP = 8;

// Lines are adjacent: ks [begin, end) of the panel.
template <class T, class S>
void copy_panel(const Panel<T, S>& x, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; p++) {
    const S* from = x.in + p * x.k_step;
    T* to = x.out + p * x.width;
    for (int64_t i = 0; i < x.width; i += LANES<T>) {
      __builtin_prefetch(from + i + COPY_STRIP * x.k_step);
      store_first(to + i, load_first<T>(from + i, x.count - i), x.width - i);
    }
  }
}

// Lane l of vector i becomes lane i of vector l: swaps off-diagonal blocks of halving size.
template <int SIZE, class V, int N>
inline __attribute__((always_inline)) void transpose(V (&rows)[N]) {
#pragma GCC unroll 16
  for (int i = 0; i < N; i++)
    if (!(i & SIZE)) swap_blocks<SIZE>(rows[i], rows[i + SIZE]);
  if constexpr (SIZE > 1) transpose<SIZE / 2>(rows);
}

// k is adjacent.
template <class T, class S>
void transpose_panel(const Panel<T, S>& x) {
  constexpr int N = LANES<T>;
  for (int64_t i = 0; i < x.width; i += N) {
    const S* from = x.in + i * x.line;
    for (int64_t p = 0; p < x.k; p += N) {
      Native<T> rows[N];
#pragma GCC unroll 16
      for (int r = 0; r < N; r++) {
        __builtin_prefetch(from + (r + x.width) * x.line + p);
        rows[r] = i + r < x.count ? load_first<T>(from + r * x.line + p, x.k - p) : Native<T>{};
      }
      transpose<N / 2>(rows);
      T* to = x.out + p * x.width + i;
#pragma GCC unroll 16
      for (int r = 0; r < N; r++)
        if (p + r < x.k) store_first(to + r * x.width, rows[r], x.width - i);
    }
  }
}

template <class T, class S>
void gather_panel(const Panel<T, S>& x) {
  for (int64_t p = 0; p < x.k; p++) {
    const S* from = x.in + p * x.k_step;
    T* to = x.out + p * x.width;
    for (int64_t i = 0; i < x.width; i++)
      to[i] = i < x.count ? element_as<T>(from[i * x.line]) : T(0);
  }
}

// Panel t of the request.
template <class T, class S>
Panel<T, S> panel_at(const MatmulPanels& x, int64_t panels, int64_t t) {
  int64_t begin = x.even ? matmul_even_begin(t, panels, x.count) : t * x.width;
  int64_t end = x.even ? matmul_even_begin(t + 1, panels, x.count) : begin + x.width;
  int64_t last = end < x.count ? end : x.count;
  return {static_cast<T*>(x.out) + begin * x.k,
          static_cast<const S*>(x.in) + begin * x.line,
          x.line,
          x.k_step,
          last - begin,
          x.k,
          end - begin};
}

template <class T, class S>
void pack(const MatmulPanels& x) {
  int64_t panels = (x.count + x.width - 1) / x.width;
  for (int64_t p = 0; x.line == 1 && p < x.k; p += COPY_STRIP)
    for (int64_t t = 0; t < panels; t++)
      copy_panel(panel_at<T, S>(x, panels, t), p, p + COPY_STRIP < x.k ? p + COPY_STRIP : x.k);
  if (x.line == 1) return;
  for (int64_t t = 0; t < panels; t++) {
    Panel<T, S> panel = panel_at<T, S>(x, panels, t);
    if (x.k_step == 1)
      transpose_panel(panel);
    else
      gather_panel(panel);
  }
}

// Complex rows of a: a real (m, 2k). Sizes and strides of `x` count complex elements.
template <class T>
void pack_complex_a(const MatmulPanels& x) {
  MatmulPanels reals = x;
  reals.line = 2 * x.line;
  reals.k = 2 * x.k;
  reals.k_step = 1;
  if (x.k_step == 1) return pack<T, T>(reals);
  int64_t panels = (x.count + x.width - 1) / x.width;
  for (int64_t t = 0; t < panels; t++) {
    Panel<T, T> panel = panel_at<T, T>(reals, panels, t);
    for (int64_t p = 0; p < x.k; p++) {
      const T* from = panel.in + 2 * p * x.k_step;
      T* to = panel.out + 2 * p * panel.width;
      for (int64_t i = 0; i < panel.width; i++) {
        to[i] = from[i * panel.line];
        to[i + panel.width] = from[i * panel.line + 1];
      }
    }
  }
}

// Complex columns of b: each element becomes [re im; -im re], a real (2k, 2n).
template <class T>
void pack_complex_b(const MatmulPanels& x) {
  for (int64_t j = 0; 2 * j < x.width * ((2 * x.count + x.width - 1) / x.width); j++) {
    int64_t panel = 2 * j / x.width;
    T* to = static_cast<T*>(x.out) + panel * x.width * 2 * x.k + (2 * j - panel * x.width);
    const T* from = static_cast<const T*>(x.in) + 2 * j * x.line;
    for (int64_t p = 0; p < x.k; p++, to += 2 * x.width) {
      T re = j < x.count ? from[2 * p * x.k_step] : T(0);
      T im = j < x.count ? from[2 * p * x.k_step + 1] : T(0);
      to[0] = re;
      to[1] = im;
      to[x.width] = -im;
      to[x.width + 1] = re;
    }
  }
}

}  // namespace tessella::TS_ISA
