// The cells, vector by vector along each row. Written as the composites of nn/functional/recurrent
// are, operation by operation, so that a step has their bits.
#include "recurrent.h"

#include "../simd/maths.h"
#include "lane.h"

namespace tessella::TS_ISA {

namespace {

// Some lanes of rows: a whole vector of them, or the last few.
template <class T, bool WHOLE>
struct Place {
  using V = Vec<T>;
  int64_t first;
  int count;

  TS_MEMBER V read(const T* row) const {
    return WHOLE ? load<V>(row + first) : load_partial<V>(row + first, count);
  }
  TS_MEMBER void write(T* row, V value) const {
    WHOLE ? store(row + first, value) : store_partial(row + first, value, count);
  }
};

// f(row, place) for all lanes of all rows.
template <class T, class F>
TS_INLINE void each(int64_t rows, int64_t hidden, F f) {
  constexpr int W = lanes<Vec<T>>;
  for (int64_t row = 0; row < rows; row++) {
    int64_t j = 0;
    for (; j + W <= hidden; j += W) f(row, Place<T, true>{j, W});
    if (j < hidden) f(row, Place<T, false>{j, (int)(hidden - j)});
  }
}

template <class T>
TS_INLINE const T* row_of(const void* data, int64_t row, int64_t width) {
  return static_cast<const T*>(data) + row * width;
}
template <class T>
TS_INLINE T* row_of(void* data, int64_t row, int64_t width) {
  return static_cast<T*>(data) + row * width;
}

// The two halves of what goes into one gate: of the input, and of the state before.
template <class T>
struct Gates {
  const CellStep& step;
  const T *x, *product;

  TS_MEMBER Gates(const CellStep& of, int64_t row, int count)
      : step(of),
        x(row_of<T>(of.x, row, count * of.hidden)),
        product(row_of<T>(of.product, row, count * of.hidden)) {}

  template <class L>
  TS_MEMBER Vec<T> input(int gate, L at) const {
    int64_t skip = gate * step.hidden;
    return at.read(x + skip) + at.read(static_cast<const T*>(step.bias_ih) + skip);
  }
  template <class L>
  TS_MEMBER Vec<T> state(int gate, L at) const {
    int64_t skip = gate * step.hidden;
    return at.read(product + skip) + at.read(static_cast<const T*>(step.bias_hh) + skip);
  }
  template <class L>
  TS_MEMBER Vec<T> sum(int gate, L at) const {
    return input(gate, at) + state(gate, at);
  }
};

template <class T, bool IS_RELU>
struct Plain {
  static void step(const CellStep& x) {
    each<T>(x.rows, x.hidden, [&](int64_t row, auto at) {
      Vec<T> sum = Gates<T>(x, row, 1).sum(0, at);
      at.write(row_of<T>(x.h, row, x.hidden), IS_RELU ? lane::relu(sum) : simd::tanh(sum));
    });
  }

  static void slopes(const CellSlopes& x) {
    each<T>(x.rows, x.hidden, [&](int64_t row, auto at) {
      auto h = at.read(row_of<T>(x.h, row, x.hidden));
      auto g = at.read(row_of<T>(x.g, row, x.hidden)) + at.read(row_of<T>(x.dh, row, x.hidden));
      Vec<T> zero{};
      at.write(row_of<T>(x.dx, row, x.hidden), IS_RELU ? (h > zero ? g : zero) : g * (1 - h * h));
    });
  }
};

template <class T>
struct Lstm {
  static void step(const CellStep& x) {
    int64_t n = x.hidden;
    each<T>(x.rows, n, [&](int64_t row, auto at) {
      Gates<T> gates(x, row, 4);
      Vec<T> i = simd::sigmoid(gates.sum(0, at)), f = simd::sigmoid(gates.sum(1, at));
      Vec<T> g = simd::tanh(gates.sum(2, at)), o = simd::sigmoid(gates.sum(3, at));
      Vec<T> c = f * at.read(row_of<T>(x.c_before, row, n)) + i * g;
      at.write(row_of<T>(x.c, row, n), c);
      at.write(row_of<T>(x.h, row, n), o * simd::tanh(c));
      T* kept = row_of<T>(x.kept, row, 4 * n);
      at.write(kept, i), at.write(kept + n, f), at.write(kept + 2 * n, g);
      at.write(kept + 3 * n, o);
    });
  }

  static void slopes(const CellSlopes& x) {
    int64_t n = x.hidden;
    each<T>(x.rows, n, [&](int64_t row, auto at) {
      const T* kept = row_of<T>(x.kept, row, 4 * n);
      Vec<T> i = at.read(kept), f = at.read(kept + n);
      Vec<T> g = at.read(kept + 2 * n), o = at.read(kept + 3 * n);
      Vec<T> dh = at.read(row_of<T>(x.g, row, n)) + at.read(row_of<T>(x.dh, row, n));
      Vec<T> t = simd::tanh(at.read(row_of<T>(x.c, row, n)));
      Vec<T> dc = at.read(row_of<T>(x.dc, row, n)) + dh * o * (1 - t * t);
      at.write(row_of<T>(x.dc, row, n), dc * f);
      T* dx = row_of<T>(x.dx, row, 4 * n);
      at.write(dx, dc * g * (i * (1 - i)));
      at.write(dx + n, dc * at.read(row_of<T>(x.c_before, row, n)) * (f * (1 - f)));
      at.write(dx + 2 * n, dc * i * (1 - g * g));
      at.write(dx + 3 * n, dh * t * (o * (1 - o)));
    });
  }
};

template <class T>
struct Gru {
  static void step(const CellStep& x) {
    int64_t n = x.hidden;
    each<T>(x.rows, n, [&](int64_t row, auto at) {
      Gates<T> gates(x, row, 3);
      Vec<T> r = simd::sigmoid(gates.sum(0, at)), z = simd::sigmoid(gates.sum(1, at));
      Vec<T> state = gates.state(2, at);
      Vec<T> fresh = simd::tanh(gates.input(2, at) + r * state);
      Vec<T> before = at.read(row_of<T>(x.h_before, row, n));
      at.write(row_of<T>(x.h, row, n), (before - fresh) * z + fresh);
      T* kept = row_of<T>(x.kept, row, 4 * n);
      at.write(kept, r), at.write(kept + n, z), at.write(kept + 2 * n, fresh);
      at.write(kept + 3 * n, state);
    });
  }

  static void slopes(const CellSlopes& x) {
    int64_t n = x.hidden;
    each<T>(x.rows, n, [&](int64_t row, auto at) {
      const T* kept = row_of<T>(x.kept, row, 4 * n);
      Vec<T> r = at.read(kept), z = at.read(kept + n);
      Vec<T> fresh = at.read(kept + 2 * n), state = at.read(kept + 3 * n);
      Vec<T> before = at.read(row_of<T>(x.h_before, row, n));
      Vec<T> dh = at.read(row_of<T>(x.g, row, n)) + at.read(row_of<T>(x.dh, row, n));
      Vec<T> dz = dh * (before - fresh) * (z * (1 - z));
      Vec<T> dn = dh * (1 - z) * (1 - fresh * fresh);
      Vec<T> dr = dn * state * (r * (1 - r));
      at.write(row_of<T>(x.dh, row, n), dh * z);
      T *dx = row_of<T>(x.dx, row, 3 * n), *dproduct = row_of<T>(x.dproduct, row, 3 * n);
      at.write(dx, dr), at.write(dx + n, dz), at.write(dx + 2 * n, dn);
      at.write(dproduct, dr), at.write(dproduct + n, dz), at.write(dproduct + 2 * n, dn * r);
    });
  }
};

template <class C>
constexpr CellKernel kernel = {C::step, C::slopes};

}  // namespace

extern constexpr CellKernels cell_kernels = {
    {kernel<Plain<float, false>>, kernel<Plain<float, true>>, kernel<Lstm<float>>,
     kernel<Gru<float>>},
    {kernel<Plain<double, false>>, kernel<Plain<double, true>>, kernel<Lstm<double>>,
     kernel<Gru<double>>},
};

}  // namespace tessella::TS_ISA
