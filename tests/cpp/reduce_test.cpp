// Reductions against a plain reference that follows the order of kernels/reduce.h one element at a
// time: the same bits for every layout, thread count and instruction set. Prints what differs and
// returns 1. Argument: a seed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../../src/core/kernels/cast.h"
#include "../../src/core/launch/reduce.h"
#include "../../src/core/threads.h"
#include "same_bits.h"

using namespace tessella;
using launch::ReduceTask;

namespace {

std::mt19937_64 rng;
int failures = 0;

int64_t pick(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

// A tensor with a random layout over memory that is just as large as it needs to be.
struct Case {
  DType dtype;
  std::vector<int64_t> shape, strides;
  uint64_t reduced = 0;
  std::vector<char> memory;
  int64_t first = 0;

  const char* data() const { return memory.data() + first * itemsize(dtype); }
  int64_t size(bool is_reduced) const {
    int64_t n = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      if ((reduced >> i & 1) == is_reduced) n *= shape[i];
    return n;
  }
  // The offset of one element, from linear indices over the kept and the reduced axes.
  int64_t offset(int64_t kept, int64_t r) const {
    int64_t at = 0;
    for (size_t i = shape.size(); i-- > 0;) {
      int64_t& index = reduced >> i & 1 ? r : kept;
      at += index % shape[i] * strides[i];
      index /= shape[i];
    }
    return at;
  }
};

double random_value(DType dtype) {
  static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e-30};
  if (kind(dtype) == DKind::boolean) return static_cast<double>(rng() & 1);
  if (kind(dtype) == DKind::unsigned_int) return static_cast<double>(rng() % 100);
  if (kind(dtype) == DKind::signed_int) return static_cast<double>(rng() % 200) - 100;
  if (rng() % 2000 == 0) return specials[rng() % 7];
  return static_cast<double>(rng() % 20001) / 10000.0 - 1.0 +
         1e-9 * static_cast<double>(rng() % 99);
}

void fill(Case& c, int64_t elements) {
  int64_t bytes = itemsize(c.dtype);
  bool is_complex = kind(c.dtype) == DKind::complex;
  DType part = c.dtype == DType::complex64    ? DType::float32
               : c.dtype == DType::complex128 ? DType::float64
                                              : c.dtype;
  if (is_complex) elements *= 2, bytes /= 2;
  c.memory.resize(static_cast<size_t>(elements * bytes));
  for (int64_t i = 0; i < elements; ++i) {
    double value = random_value(part);
    cast_kernel(DType::float64, part)(1, c.memory.data() + i * bytes, &value);
  }
}

Case random_case(DType dtype, int64_t most) {
  Case c;
  c.dtype = dtype;
  int ndim = static_cast<int>(pick(0, 4));
  int64_t left = most;
  for (int i = 0; i < ndim; ++i) {
    int64_t size = rng() % 4 == 0 ? pick(1, left) : pick(1, std::min<int64_t>(left, 40));
    if (rng() % 100 == 0) size = 0;
    left = std::max<int64_t>(1, left / std::max<int64_t>(size, 1));
    c.shape.push_back(size);
  }
  c.reduced = rng() & ((uint64_t{1} << ndim) - 1);
  std::vector<size_t> order(c.shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (rng() % 2) std::shuffle(order.begin(), order.end(), rng);
  c.strides.assign(c.shape.size(), 0);
  int64_t step = 1, low = 0, high = 0;
  for (size_t k = order.size(); k-- > 0;) {
    size_t i = order[k];
    int64_t gap = rng() % 4 == 0 ? pick(1, 3) : 1;
    bool is_broadcast = rng() % 12 == 0;
    c.strides[i] = is_broadcast ? 0 : step * gap * (rng() % 6 == 0 ? -1 : 1);
    if (!is_broadcast) step *= gap * std::max<int64_t>(c.shape[i], 1);
    int64_t reach = c.strides[i] * std::max<int64_t>(c.shape[i] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  c.first = -low;
  fill(c, high - low + 1);
  return c;
}

// The order of kernels/reduce.h, for elements that `at` yields.
template <class T, class Join>
T fold_lanes(int64_t lane, int64_t span, int64_t n, const T* x, Join join) {
  constexpr int64_t lanes = 256 / sizeof(T);
  if (span < lanes && lane + span < n) {
    T left = fold_lanes(lane, span * 2, n, x, join);
    return join(left, fold_lanes(lane + span, span * 2, n, x, join));
  }
  T value = x[lane];
  for (int64_t r = lane + lanes; r < n; r += lanes) value = join(value, x[r]);
  return value;
}

template <class T, class Join>
T fold(const std::vector<T>& x, Join join) {
  int64_t n = static_cast<int64_t>(x.size()), block = reduce_block(sizeof(T));
  std::vector<T> parts;
  for (int64_t i = 0; i < n; i += block)
    parts.push_back(fold_lanes<T>(0, 1, std::min(block, n - i), x.data() + i, join));
  while (parts.size() > 1) {
    std::vector<T> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) next.push_back(join(parts[i], parts[i + 1]));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = next;
  }
  return parts[0];
}

template <class T>
struct Number {
  T re, im;
};

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<Number<T>> {
  using type = T;
};

template <class T>
T multiply(T a, T b) {
  return a * b;
}
template <class T>
Number<T> multiply(Number<T> a, Number<T> b) {
  T t = a.im * b.im, u = a.im * b.re;
  if (is_unfused()) return {a.re * b.re - t, a.re * b.im + u};
  return {std::fma(a.re, b.re, -t), std::fma(a.re, b.im, u)};
}

template <class T>
T extremum(T a, T b, bool is_max) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return (std::signbit(static_cast<double>(a)) != 0) == is_max ? b : a;
  return (a > b) == is_max ? a : b;
}

template <class T>
int64_t arg_extremum(const std::vector<T>& x, bool is_max) {
  size_t best = 0;
  for (size_t i = 1; i < x.size(); ++i) {
    if (x[best] != x[best]) break;
    if (x[i] != x[i] || (is_max ? x[i] > x[best] : x[i] < x[best])) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class T>
T fold_parts(const std::vector<T>& x) {
  return fold(x, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
Number<T> fold_parts(const std::vector<Number<T>>& x) {
  std::vector<T> re, im;
  for (Number<T> v : x) re.push_back(v.re), im.push_back(v.im);
  return {fold_parts(re), fold_parts(im)};
}

// One output of the reduction of x, in the dtype `compute`, as bytes of the dtype `out`.
template <class T>
void reference(ReduceOp op, const std::vector<T>& x, DType compute, DType out, char* to) {
  constexpr bool is_complex = !std::is_same_v<T, typename RealPart<T>::type>;
  T value{};
  if (op == ReduceOp::prod) {
    value = fold(x, [](T a, T b) { return static_cast<T>(multiply(a, b)); });
  } else if (op == ReduceOp::sum || op == ReduceOp::mean) {
    value = fold_parts(x);
  }
  if (op == ReduceOp::mean) {
    auto n = static_cast<typename RealPart<T>::type>(x.size());
    if constexpr (is_complex)
      value = {value.re / n, value.im / n};
    else
      value /= n;
  }
  if constexpr (!is_complex) {
    if (op == ReduceOp::argmax || op == ReduceOp::argmin) {
      int64_t index = arg_extremum(x, op == ReduceOp::argmax);
      memcpy(to, &index, sizeof index);
      return;
    }
    bool is_max = op == ReduceOp::max || op == ReduceOp::any;
    if (is_max || op == ReduceOp::min || op == ReduceOp::all)
      value = fold(x, [=](T a, T b) { return extremum(a, b, is_max); });
  }
  cast_kernel(compute, out)(1, to, &value);
}

template <class T>
void reference_all(ReduceOp op, const Case& c, DType compute, DType out, char* to) {
  int64_t n = c.size(true), outputs = c.size(false);
  std::vector<T> x(static_cast<size_t>(n));
  for (int64_t i = 0; i < outputs; ++i) {
    for (int64_t r = 0; r < n; ++r)
      cast_kernel(c.dtype, compute)(1, &x[static_cast<size_t>(r)],
                                    c.data() + c.offset(i, r) * itemsize(c.dtype));
    reference<T>(op, x, compute, out, to + i * itemsize(out));
  }
}

void reference_of(ReduceOp op, const Case& c, DType out, char* to) {
  bool is_arg = op == ReduceOp::argmax || op == ReduceOp::argmin;
  DType compute = compute_dtype(is_arg ? c.dtype : out);
  switch (compute) {
    case DType::boolean:
    case DType::uint8:
      return reference_all<uint8_t>(op, c, compute, out, to);
    case DType::int8:
      return reference_all<int8_t>(op, c, compute, out, to);
    case DType::int16:
      return reference_all<int16_t>(op, c, compute, out, to);
    case DType::int32:
      return reference_all<int32_t>(op, c, compute, out, to);
    case DType::uint16:
      return reference_all<uint16_t>(op, c, compute, out, to);
    case DType::uint32:
      return reference_all<uint32_t>(op, c, compute, out, to);
    case DType::uint64:
      return reference_all<uint64_t>(op, c, compute, out, to);
    case DType::int64:
      if (op == ReduceOp::sum || op == ReduceOp::prod)  // wraps around
        return reference_all<uint64_t>(op, c, compute, out, to);
      return reference_all<int64_t>(op, c, compute, out, to);
    case DType::float32:
      return reference_all<float>(op, c, compute, out, to);
    case DType::float64:
      return reference_all<double>(op, c, compute, out, to);
    case DType::complex64:
      return reference_all<Number<float>>(op, c, compute, out, to);
    default:
      return reference_all<Number<double>>(op, c, compute, out, to);
  }
}

void report(ReduceOp op, const Case& c, const char* what, int64_t at) {
  ++failures;
  printf("%s %s %s output %ld: shape", REDUCE_NAMES[static_cast<int>(op)], info(c.dtype).name, what,
         static_cast<long>(at));
  for (size_t i = 0; i < c.shape.size(); ++i)
    printf(" %ld:%ld%s", static_cast<long>(c.shape[i]), static_cast<long>(c.strides[i]),
           c.reduced >> i & 1 ? "r" : "");
  printf(" isa %d\n", static_cast<int>(isa));
}

std::vector<char> run(ReduceOp op, const Case& c, DType out) {
  std::vector<char> result(static_cast<size_t>(c.size(false) * itemsize(out)));
  ReduceTask task = {op,
                     c.dtype,
                     static_cast<int>(c.shape.size()),
                     c.shape.data(),
                     c.strides.data(),
                     c.data(),
                     c.reduced,
                     result.data(),
                     false};
  std::vector<int64_t> scratch(static_cast<size_t>(launch::reduce_scratch_bytes(task) + 7) / 8);
  launch::reduce(task, scratch.data());
  return result;
}

void check(ReduceOp op, const Case& c) {
  bool ok;
  DType out = launch::reduce_out_dtype(op, c.dtype, &ok);
  bool is_extremum = op == ReduceOp::max || op == ReduceOp::min || op >= ReduceOp::argmax;
  if (!ok || (c.size(true) == 0 && is_extremum)) return;
  std::vector<char> expected(static_cast<size_t>(c.size(false) * itemsize(out)));
  for (Isa which : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (!is_supported(which)) continue;
    isa = which;
    if (c.size(true) > 0) reference_of(op, c, out, expected.data());
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      std::vector<char> got = run(op, c, out);
      if (c.size(true) == 0) continue;
      for (int64_t i = 0; i < c.size(false); ++i) {
        int64_t at = i * itemsize(out);
        if (is_same(out, got.data() + at, expected.data() + at)) continue;
        report(op, c, "differs", i);
        break;
      }
    }
  }
}

// Few columns without gaps, and lengths around the lanes and blocks.
void check_dense() {
  for (int64_t rows : {1, 5, 31, 33, 63, 64, 65, 127, 129, 1000, 1024, 1030, 5000})
    for (int64_t columns : {1, 2, 3, 7, 8, 17, 63, 64, 65})
      for (DType dtype : {DType::int8, DType::float32, DType::float64, DType::complex64}) {
        Case c;
        c.dtype = dtype;
        c.shape = {rows, columns};
        c.strides = {columns, 1};
        c.reduced = 1;
        fill(c, rows * columns);
        for (ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::argmin}) check(op, c);
      }
}

void check_accuracy() {
  Case c;
  c.dtype = DType::float32;
  c.shape = {10'000'000};
  c.strides = {1};
  c.reduced = 1;
  for (float value : {0.1f, 1.0f / 3, 0.7f}) {
    std::vector<float> x(10'000'000, value);
    c.memory.assign(reinterpret_cast<char*>(x.data()),
                    reinterpret_cast<char*>(x.data() + x.size()));
    std::vector<char> got = run(ReduceOp::sum, c, DType::float32);
    float sum;
    memcpy(&sum, got.data(), sizeof sum);
    double exact = static_cast<double>(value) * 1e7;
    if (std::fabs(sum - exact) > 1e-6 * std::fabs(exact)) report(ReduceOp::sum, c, "inaccurate", 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  rng.seed(argc > 1 ? strtoull(argv[1], nullptr, 10) : 1);
  int rounds = argc > 2 ? atoi(argv[2]) : 40;
  check_accuracy();
  check_dense();
  for (int round = 0; round < rounds && failures < 20; ++round)
    for (int op = 0; op < REDUCE_COUNT; ++op)
      for (int dtype = 0; dtype < DTYPE_COUNT; ++dtype)
        check(static_cast<ReduceOp>(op),
              random_case(static_cast<DType>(dtype), round % 8 == 0 ? 40000 : 3000));
  printf("%s\n", failures ? "failed" : "passed");
  return failures != 0;
}
