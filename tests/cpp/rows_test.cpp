// Cumulative operations against a plain loop, and softmax against its definition in long double;
// both with the same bits for every layout, thread count and instruction set with fma. Prints what
// differs and returns 1. Arguments: a seed, a number of rounds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../../src/core/kernels/cast.h"
#include "../../src/core/launch/cumulative.h"
#include "../../src/core/launch/reduce.h"
#include "../../src/core/launch/rows.h"
#include "../../src/core/threads.h"
#include "same_bits.h"

using namespace tessella;

namespace {

std::mt19937_64 rng;
int failures = 0;

int64_t pick(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

// A tensor in memory of its own, with its axes in any order, gaps, and negative strides.
struct Tensor {
  DType dtype;
  std::vector<int64_t> shape, strides;
  std::vector<char> memory;
  int64_t first = 0;

  Tensor(DType dtype, const std::vector<int64_t>& shape, bool is_plain)
      : dtype(dtype), shape(shape) {
    std::vector<size_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (!is_plain && rng() % 3) std::shuffle(order.begin(), order.end(), rng);
    strides.assign(shape.size(), 0);
    int64_t step = 1;
    for (size_t k = order.size(); k-- > 0;) {
      size_t i = order[k];
      int64_t gap = !is_plain && rng() % 4 == 0 ? pick(1, 3) : 1;
      bool is_flipped = !is_plain && rng() % 6 == 0;
      strides[i] = step * gap * (is_flipped ? -1 : 1);
      if (is_flipped && shape[i] > 0) first -= strides[i] * (shape[i] - 1);
      step *= gap * std::max<int64_t>(shape[i], 1);
    }
    memory.assign(static_cast<size_t>((step + 1) * itemsize(dtype)), 0);
  }

  int64_t size() const {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    return n;
  }
  char* data() { return memory.data() + first * itemsize(dtype); }
  char* at(int64_t flat) {
    int64_t offset = 0;
    for (size_t i = shape.size(); i-- > 0;) {
      offset += flat % shape[i] * strides[i];
      flat /= shape[i];
    }
    return data() + offset * itemsize(dtype);
  }
  // Distance in flat numbers between neighbours along the axis.
  int64_t flat_step(int axis) const {
    int64_t step = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) step *= shape[i];
    return step;
  }
};

std::vector<int64_t> random_shape(int64_t most) {
  std::vector<int64_t> shape;
  int ndim = static_cast<int>(pick(0, 4));
  for (int i = 0; i < ndim; ++i) {
    int64_t size = rng() % 3 == 0 ? pick(1, most) : pick(1, std::min<int64_t>(most, 30));
    if (rng() % 100 == 0) size = 0;
    most = std::max<int64_t>(1, most / std::max<int64_t>(size, 1));
    shape.push_back(size);
  }
  return shape;
}

void fill(Tensor& t) {
  int64_t parts = kind(t.dtype) == DKind::complex ? 2 : 1;
  DType part = t.dtype == DType::complex64    ? DType::float32
               : t.dtype == DType::complex128 ? DType::float64
                                              : t.dtype;
  int64_t bytes = itemsize(t.dtype) / parts;
  for (int64_t i = 0; i < t.size(); ++i)
    for (int64_t k = 0; k < parts; ++k) {
      double value = static_cast<double>(rng() % 2001) / 500.0 - 2.0;
      cast_kernel(DType::float64, part)(1, t.at(i) + k * bytes, &value);
    }
}

void report(const char* what, Tensor& x, int axis, int64_t at) {
  ++failures;
  printf("%s %s axis %d element %ld: shape", what, info(x.dtype).name, axis, static_cast<long>(at));
  for (size_t i = 0; i < x.shape.size(); ++i)
    printf(" %ld:%ld", static_cast<long>(x.shape[i]), static_cast<long>(x.strides[i]));
  printf(" isa %d threads %d\n", static_cast<int>(isa), num_threads());
}

template <class T>
struct Number {
  T re, im;
};
template <class T>
T join(T a, T b, bool is_product) {
  return is_product ? a * b : a + b;
}
template <class T>
Number<T> join(Number<T> a, Number<T> b, bool is_product) {
  if (!is_product) return {a.re + b.re, a.im + b.im};
  T t = a.im * b.im, u = a.im * b.re;
  if (is_unfused()) return {a.re * b.re - t, a.re * b.im + u};
  return {std::fma(a.re, b.re, -t), std::fma(a.re, b.im, u)};
}

template <class T>
void check_cumulative_as(DType compute, bool is_product, Tensor& x, Tensor& out, int axis) {
  int64_t step = x.shape.empty() ? 1 : x.flat_step(axis);
  int64_t n = x.shape.empty() ? 1 : x.shape[static_cast<size_t>(axis)];
  std::vector<T> sums(static_cast<size_t>(x.size()));
  for (int64_t i = 0; i < x.size(); ++i) {
    T value, *at = &sums[static_cast<size_t>(i)];
    cast_kernel(x.dtype, compute)(1, &value, x.at(i));
    *at = i / step % n == 0 ? value : join(at[-step], value, is_product);
    char expected[16];
    cast_kernel(compute, out.dtype)(1, expected, at);
    if (is_same(out.dtype, expected, out.at(i))) continue;
    return report(is_product ? "cumulative product" : "cumulative sum", x, axis, i);
  }
}

void check_cumulative(DType dtype, bool is_product, const std::vector<int64_t>& shape) {
  bool ok;
  DType out_dtype = launch::reduce_out_dtype(ReduceOp::sum, dtype, &ok);
  Tensor x(dtype, shape, rng() % 3 == 0), out(out_dtype, shape, rng() % 3 == 0);
  fill(x);
  int ndim = static_cast<int>(shape.size());
  int axis = ndim == 0 ? 0 : static_cast<int>(pick(0, ndim - 1));
  launch::cumulate({is_product ? ScanOp::product : ScanOp::sum,
                    dtype,
                    ndim,
                    shape.data(),
                    x.strides.data(),
                    x.data(),
                    axis,
                    {out.data(), out_dtype, out.strides.data()},
                    true});
  DType compute = compute_dtype(out_dtype);
  switch (compute) {
    case DType::float32:
      return check_cumulative_as<float>(compute, is_product, x, out, axis);
    case DType::float64:
      return check_cumulative_as<double>(compute, is_product, x, out, axis);
    case DType::complex64:
      return check_cumulative_as<Number<float>>(compute, is_product, x, out, axis);
    case DType::complex128:
      return check_cumulative_as<Number<double>>(compute, is_product, x, out, axis);
    default:
      return check_cumulative_as<uint64_t>(compute, is_product, x, out, axis);
  }
}

void softmax(bool is_log, Tensor& x, Tensor& out, int axis) {
  launch::RowsTask task = {is_log,
                           x.dtype,
                           static_cast<int>(x.shape.size()),
                           x.shape.data(),
                           x.strides.data(),
                           x.data(),
                           axis,
                           {out.data(), out.dtype, out.strides.data()},
                           true,
                           num_threads()};
  std::vector<double> scratch(static_cast<size_t>(launch::rows_scratch_bytes(task) + 7) / 8);
  launch::rows(task, scratch.data());
}

double value_of(Tensor& t, int64_t i) {
  double value;
  cast_kernel(t.dtype, DType::float64)(1, &value, t.at(i));
  return value;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-15;
    case DType::float32:
      return 1e-6;
    case DType::float16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

void check_accuracy(bool is_log, Tensor& x, Tensor& out, int axis) {
  int64_t step = x.shape.empty() ? 1 : x.flat_step(axis);
  int64_t n = x.shape.empty() ? 1 : x.shape[static_cast<size_t>(axis)];
  std::vector<long double> sums(static_cast<size_t>(x.size()));
  auto line = [&](int64_t i) { return static_cast<size_t>(i - i / step % n * step); };
  for (int64_t i = 0; i < x.size(); ++i)
    sums[line(i)] += std::exp(static_cast<long double>(value_of(x, i)));
  for (int64_t i = 0; i < x.size(); ++i) {
    long double exact = value_of(x, i) - std::log(sums[line(i)]);
    if (!is_log) exact = std::exp(exact);
    double error = std::fabs(static_cast<double>(value_of(out, i) - exact));
    double scale = std::max(std::fabs(static_cast<double>(exact)), is_log ? 1.0 : 1e-4);
    if (error <= tolerance(x.dtype) * 2 * scale) continue;
    return report(is_log ? "log_softmax" : "softmax", x, axis, i);
  }
}

// The plain layout on one thread is compared with the definition, all others with its bits.
void check_softmax(DType dtype, bool is_log, const std::vector<int64_t>& shape) {
  Tensor x(dtype, shape, true), out(dtype, shape, true);
  fill(x);
  int axis = shape.empty() ? 0 : static_cast<int>(pick(0, static_cast<int64_t>(shape.size()) - 1));
  set_num_threads(1);
  softmax(is_log, x, out, axis);
  check_accuracy(is_log, x, out, axis);
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    if (isa == Isa::avx2 && is_supported(Isa::avx512)) isa = Isa::avx512;
    Tensor other(dtype, shape, false), result(dtype, shape, false);
    size_t bytes = static_cast<size_t>(itemsize(dtype));
    for (int64_t i = 0; i < x.size(); ++i) memcpy(other.at(i), x.at(i), bytes);
    softmax(is_log, other, result, axis);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (is_same(dtype, result.at(i), out.at(i))) continue;
      report(is_log ? "log_softmax bits" : "softmax bits", other, axis, i);
      break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  rng.seed(argc > 1 ? strtoull(argv[1], nullptr, 10) : 1);
  int rounds = argc > 2 ? atoi(argv[2]) : 40;
  for (int round = 0; round < rounds && failures < 20; ++round) {
    for (Isa which : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (!is_supported(which)) continue;
      std::vector<int64_t> shape = random_shape(round % 8 == 0 ? 100000 : 3000);
      for (int dtype = 0; dtype < DTYPE_COUNT; ++dtype) {
        isa = which;
        set_num_threads(static_cast<int>(pick(1, 3)));
        check_cumulative(static_cast<DType>(dtype), rng() % 2, shape);
      }
      for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        isa = which;
        check_softmax(dtype, rng() % 2, shape);
      }
    }
  }
  printf("%s\n", failures ? "failed" : "passed");
  return failures != 0;
}
