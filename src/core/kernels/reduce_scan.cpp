// Cumulative sums, products and extremes. Lines side by side are vectors; other lines are taken
// several at a time, because one line alone waits for each addition to end before it can begin the
// next.
#include "reduce_scan.h"

#include "../simd/maths.h"
#include "reduce_complex.h"

namespace tessella::TS_ISA {

namespace {

struct Plus {
  template <class T>
  TS_INLINE T join(T a, T b) {
    return a + b;
  }
};

struct Times {
  template <class T>
  TS_INLINE T join(T a, T b) {
    return a * b;
  }
  template <class T>
  TS_INLINE ComplexElement<T> join(ComplexElement<T> a, ComplexElement<T> b) {
    return product(a, b);
  }
};

struct LogPlus {
  template <class V>
    requires requires(V v) { v[0]; }
  TS_INLINE V join(V a, V b) {
    return simd::logaddexp(a, b);
  }
  template <class T>
  TS_INLINE T join(T a, T b) {
    using V = VecN<T, 1>;
    return simd::logaddexp(splat<V>(a), splat<V>(b))[0];
  }
};

// out[j] = before[j] x[j]
template <class Op, class T>
TS_INLINE void scan_row(int64_t columns, T* out, const T* before, const T* x) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  int64_t j = 0;
  for (; j + W <= columns; j += W) store(out + j, Op::join(load<V>(before + j), load<V>(x + j)));
  if (int rest = (int)(columns - j); rest > 0)
    store_partial(out + j,
                  Op::join(load_partial<V>(before + j, rest), load_partial<V>(x + j, rest)), rest);
}

// Lines side by side: each row of the output is made from the one before it.
template <class Op, class T>
void scan_rows(int64_t rows, int64_t columns, T* carry, bool is_start, T* out, int64_t out_step,
               const T* x, int64_t x_step) {
  size_t bytes = (size_t)columns * sizeof(T);
  if (is_start) {
    if (out != x) memcpy(out, x, bytes);
  } else {
    scan_row<Op>(columns, out, carry, x);
  }
  for (int64_t i = 1; i < rows; ++i)
    scan_row<Op>(columns, out + i * out_step, out + (i - 1) * out_step, x + i * x_step);
  memcpy(carry, out + (rows - 1) * out_step, bytes);
}

template <int N, class Op, class T>
TS_INLINE void scan_lines(int64_t rows, T* carry, bool is_start, T* out, ScanSteps out_steps,
                          const T* x, ScanSteps x_steps) {
  T value[N];
  for (int k = 0; k < N; ++k) {
    T first = x[k * x_steps.column];
    value[k] = is_start ? first : Op::join(carry[k], first);
    out[k * out_steps.column] = value[k];
  }
  for (int64_t i = 1; i < rows; ++i)
    for (int k = 0; k < N; ++k) {
      value[k] = Op::join(value[k], x[i * x_steps.row + k * x_steps.column]);
      out[i * out_steps.row + k * out_steps.column] = value[k];
    }
  for (int k = 0; k < N; ++k) carry[k] = value[k];
}

template <class T>
constexpr bool has_vectors = true;
template <class T>
constexpr bool has_vectors<ComplexElement<T>> = false;

template <class Op, class T>
void scan(int64_t rows, int64_t columns, void* carry, bool is_start, void* out, ScanSteps out_steps,
          const void* x, ScanSteps x_steps) {
  constexpr int N = 4;
  auto* to = static_cast<T*>(out);
  auto* from = static_cast<const T*>(x);
  auto* carried = static_cast<T*>(carry);
  if constexpr (has_vectors<T>) {
    if (columns > N && out_steps.column == 1 && x_steps.column == 1)
      return scan_rows<Op>(rows, columns, carried, is_start, to, out_steps.row, from, x_steps.row);
  }
  int64_t j = 0;
  for (; j + N <= columns; j += N)
    scan_lines<N, Op>(rows, carried + j, is_start, to + j * out_steps.column, out_steps,
                      from + j * x_steps.column, x_steps);
  for (; j < columns; ++j)
    scan_lines<1, Op>(rows, carried + j, is_start, to + j * out_steps.column, out_steps,
                      from + j * x_steps.column, x_steps);
}

template <bool is_greatest, class T>
TS_INLINE bool replaces(T best, T x) {
  if (x != x) return true;
  return is_greatest ? x >= best : x <= best;  // false beside a NaN, which stays
}

template <int N, bool is_greatest, class T>
TS_INLINE void place_lines(int64_t begin, int64_t end, int64_t* out, ScanSteps out_steps,
                           const T* x, ScanSteps x_steps) {
  int64_t place[N];
  T best[N];
  for (int k = 0; k < N; ++k) {
    place[k] = begin ? out[(begin - 1) * out_steps.row + k * out_steps.column] : 0;
    best[k] = x[place[k] * x_steps.row + k * x_steps.column];
  }
  for (int64_t i = begin; i < end; ++i)
    for (int k = 0; k < N; ++k) {
      T value = x[i * x_steps.row + k * x_steps.column];
      bool is_new = replaces<is_greatest>(best[k], value);
      best[k] = is_new ? value : best[k];
      place[k] = is_new ? i : place[k];
      out[i * out_steps.row + k * out_steps.column] = place[k];
    }
}

template <bool is_greatest, class T>
void scan_places(int64_t begin, int64_t end, int64_t columns, int64_t* out, ScanSteps out_steps,
                 const void* x, ScanSteps x_steps) {
  constexpr int N = 4;
  auto* from = static_cast<const T*>(x);
  int64_t j = 0;
  for (; j + N <= columns; j += N)
    place_lines<N, is_greatest>(begin, end, out + j * out_steps.column, out_steps,
                                from + j * x_steps.column, x_steps);
  for (; j < columns; ++j)
    place_lines<1, is_greatest>(begin, end, out + j * out_steps.column, out_steps,
                                from + j * x_steps.column, x_steps);
}

template <bool is_greatest>
constexpr void fill_places(ScanPlaceFn (&table)[DTYPE_COUNT]) {
  table[static_cast<int>(DType::boolean)] = scan_places<is_greatest, uint8_t>;
  table[static_cast<int>(DType::int8)] = scan_places<is_greatest, int8_t>;
  table[static_cast<int>(DType::int16)] = scan_places<is_greatest, int16_t>;
  table[static_cast<int>(DType::int32)] = scan_places<is_greatest, int32_t>;
  table[static_cast<int>(DType::int64)] = scan_places<is_greatest, int64_t>;
  table[static_cast<int>(DType::uint8)] = scan_places<is_greatest, uint8_t>;
  table[static_cast<int>(DType::uint16)] = scan_places<is_greatest, uint16_t>;
  table[static_cast<int>(DType::uint32)] = scan_places<is_greatest, uint32_t>;
  table[static_cast<int>(DType::uint64)] = scan_places<is_greatest, uint64_t>;
  table[static_cast<int>(DType::float32)] = scan_places<is_greatest, float>;
  table[static_cast<int>(DType::float64)] = scan_places<is_greatest, double>;
}

template <class Op>
constexpr void fill(ScanFn (&table)[DTYPE_COUNT]) {
  table[static_cast<int>(DType::int64)] = scan<Op, uint64_t>;
  table[static_cast<int>(DType::uint64)] = scan<Op, uint64_t>;
  table[static_cast<int>(DType::float32)] = scan<Op, float>;
  table[static_cast<int>(DType::float64)] = scan<Op, double>;
}

constexpr ScanKernels kernels() {
  ScanKernels k{};
  fill<Plus>(k.join[static_cast<int>(ScanOp::sum)]);
  auto& product = k.join[static_cast<int>(ScanOp::product)];
  fill<Times>(product);
  product[static_cast<int>(DType::complex64)] = scan<Times, ComplexElement<float>>;
  product[static_cast<int>(DType::complex128)] = scan<Times, ComplexElement<double>>;
  auto& log_sum = k.join[static_cast<int>(ScanOp::log_sum)];
  log_sum[static_cast<int>(DType::float32)] = scan<LogPlus, float>;
  log_sum[static_cast<int>(DType::float64)] = scan<LogPlus, double>;
  fill_places<true>(k.greatest);
  fill_places<false>(k.smallest);
  return k;
}

}  // namespace

extern constexpr ScanKernels scan_kernels = kernels();

}  // namespace tessella::TS_ISA
