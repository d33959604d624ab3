// The matrix product against its definition, bit for bit: random shapes, strides, batches, dtypes,
// thread counts, special values. A program of its own: `matmul_test [cases] [seed]`; TESSELLA_ISA
// selects the kernels. Since the definition is exact, agreement of AVX2 and AVX-512 follows.
// Operands lie in allocations without a spare byte, so that ASan sees a read outside of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul.h"
#include "launch/matmul_plan.h"
#include "launch/matmul_ref.h"
#include "threads.h"

namespace tessella {

static Isa isa_from_environment() {
  const char* name = std::getenv("TESSELLA_ISA");
  std::string text = name ? name : "baseline";
  return text == "avx512" ? Isa::avx512 : text == "avx2" ? Isa::avx2 : Isa::baseline;
}
Isa isa = isa_from_environment();
const MatmulKernels& matmul_kernels() { return TS_CHOSEN(matmul_kernels); }

}  // namespace tessella

using namespace tessella;
using launch::MatmulOperand;
using launch::MatmulTask;

#if defined(__aarch64__)
constexpr bool HAS_FMA = true;  // in its baseline too
using Float16 = __fp16;
#else
constexpr bool HAS_FMA = false;
using Float16 = _Float16;
#endif

static std::mt19937_64 rng;
static int64_t below(int64_t n) { return int64_t(rng() % uint64_t(n)); }

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

static float widened(Bfloat x) {
  uint32_t bits = uint32_t(x.bits) << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static float widened(Half x) {
  Float16 value;
  memcpy(&value, &x, 2);
  return float(value);
}
template <class S>
static S widened(S x) {
  return x;
}

template <class S, class T>
static S rounded(T x) {
  return S(x);
}
template <>
Half rounded<Half>(float x) {
  Float16 value = Float16(x);
  Half half;
  memcpy(&half, &value, 2);
  return half;
}
// The nearer of the two neighbours, the even one at a tie; overflow goes the way of float's bits.
template <>
Bfloat rounded<Bfloat>(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (std::isnan(x)) return {0x7fc0};
  uint32_t rest = bits & 0xffff, kept = bits >> 16;
  bool up = rest > 0x8000 || (rest == 0x8000 && (kept & 1));
  return {uint16_t(kept + up)};
}

template <class S>
static bool same(S x, S y) {
  auto u = widened(x), v = widened(y);
  return (u != u && v != v) || memcmp(&x, &y, sizeof x) == 0;
}

static bool has_specials;  // in some cases only: in a long sum they hide everything else

static double random_value() {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-30, -1e-30, 6e-8, 3e38};
  if (has_specials && below(50) == 0) return special[below(9)];
  return std::ldexp(double(below(2000001) - 1000000) / 1e6, int(below(8)) - 4);
}
template <class S>
static S random_element() {
  if constexpr (std::is_integral_v<S>)
    return S(rng());
  else
    return rounded<S>(std::conditional_t<sizeof(S) == 8, double, float>(random_value()));
}

// A tensor (batch..., rows, cols) with random strides in an allocation that just holds it. An
// element is `parts` values of S (2 for complex).
template <class S>
struct Tensor {
  std::vector<int64_t> shape, strides;
  std::unique_ptr<S[]> memory;
  S* first;
  int parts;

  Tensor(std::vector<int64_t> sizes, std::vector<bool> broadcast, int parts_)
      : shape(std::move(sizes)), strides(shape.size()), parts(parts_) {
    std::vector<int> order(shape.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = int(i);
    if (below(2))
      std::shuffle(order.begin(), order.end(), rng);
    else if (below(2))
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    bool odd = below(3) == 0;
    int64_t stride = odd && below(2) ? 2 : 1, low = 0, high = 0;
    for (size_t i = order.size(); i-- > 0;) {
      int axis = order[i];
      if (broadcast[size_t(axis)]) continue;
      bool flip = odd && below(4) == 0;
      strides[size_t(axis)] = flip ? -stride : stride;
      int64_t reach = stride * (shape[size_t(axis)] - 1);
      if (shape[size_t(axis)] > 0) (flip ? low : high) += reach;
      stride *= std::max<int64_t>(shape[size_t(axis)], 1);
      if (odd) stride += below(3);
    }
    int64_t count = (low + high + 1) * parts;
    memory.reset(new S[size_t(count)]);
    for (int64_t i = 0; i < count; i++) memory[size_t(i)] = random_element<S>();
    first = memory.get() + low * parts;
  }

  S* at(int64_t batch, int64_t row, int64_t col) {
    size_t d = shape.size();
    int64_t offset = row * strides[d - 2] + col * strides[d - 1];
    for (size_t axis = d - 2; axis-- > 0;) {
      offset += batch % shape[axis] * strides[axis];
      batch /= shape[axis];
    }
    return first + offset * parts;
  }

  MatmulOperand operand() {
    size_t d = shape.size();
    return {first, strides[d - 2], strides[d - 1], strides.data()};
  }
};

struct Case {
  DType dtype;
  int64_t m, n, k;
  std::vector<int64_t> batch;
  bool accumulate;
};

static int64_t random_size() {
  switch (below(8)) {
    case 0:
      return 1;
    case 1:
      return below(4);
    case 2:
      return 60 + below(80);
    default:
      return 1 + below(40);
  }
}

static Case random_case() {
  Case x;
  x.dtype = DType(1 + below(DTYPE_COUNT - 1));
  x.m = random_size(), x.n = random_size(), x.k = random_size();
  if (below(30) == 0) x.m = 200 + below(500), x.n = 200 + below(200);
  if (below(20) == 0) x.k = 300 + below(1500);
  if (below(60) == 0) x.m = 60 + below(540), x.n = 300 + below(300), x.k = 200 + below(700);
  if (below(40) == 0) x.m = below(6), x.n = 1, x.k = 30000 + below(60000);
  if (below(40) == 0) x.m = 1, x.n = below(1200), x.k = below(600);
  if (below(60) == 0) x.m = 30 + below(50), x.n = 30 + below(50), x.k = 2000 + below(6000);
  if (below(400) == 0) x.m = 8, x.n = 8 + below(4), x.k = 65536 + below(80000);
  for (int64_t axes = below(3) * below(2); axes > 0; axes--) x.batch.push_back(below(4));
  if (below(200) == 0) x.batch = {9 + below(3)}, x.m = 64, x.n = 40 + below(20), x.k = 2048;
  x.accumulate = below(3) == 0;
  has_specials = below(4) == 0;
  return x;
}

static void report(const Case& x, int threads, const char* what) {
  std::printf("%s: %s m=%ld n=%ld k=%ld batch axes %zu accumulate %d threads %d\n", what,
              info(x.dtype).name, long(x.m), long(x.n), long(x.k), x.batch.size(), x.accumulate,
              threads);
}

// The real matrices that the product of one batch index stands for, row-major: complex elements
// are 2 columns in a and the block [re im; -im re] in b.
template <class S, class T>
struct Reals {
  std::vector<T> a, b, c;

  Reals(Tensor<S>& ta, Tensor<S>& tb, const Case& x, int64_t t, int parts)
      : a(size_t(x.m * x.k * parts)),
        b(size_t(x.k * x.n * parts * parts)),
        c(size_t(x.m * x.n * parts)) {
    for (int64_t i = 0; i < x.m; i++)
      for (int64_t p = 0; p < x.k; p++)
        for (int q = 0; q < parts; q++)
          a[size_t((i * x.k + p) * parts + q)] = T(widened(ta.at(t, i, p)[q]));
    for (int64_t p = 0; p < x.k; p++)
      for (int64_t j = 0; j < x.n; j++) {
        S* from = tb.at(t, p, j);
        T* to = b.data() + (p * x.n * parts + j) * parts;
        to[0] = T(widened(from[0]));
        if (parts == 1) continue;
        to[1] = T(widened(from[1]));
        to[x.n * 2] = -to[1];
        to[x.n * 2 + 1] = to[0];
      }
    bool vector = parts == 1 && (x.m == 1 || x.n == 1);
    launch::MatmulOrder order = launch::matmul_ref_order(x.m, x.n, x.k, vector);
    order.segment *= parts;
    launch::matmul_ref(c.data(), a.data(), b.data(), x.m, x.n * parts, x.k * parts, order,
                       HAS_FMA || isa != Isa::baseline);
  }
};

template <class S, class T>
static bool check(const Case& x, int parts) {
  auto sizes = [&](int64_t rows, int64_t cols) {
    std::vector<int64_t> shape = x.batch;
    shape.push_back(rows), shape.push_back(cols);
    return shape;
  };
  std::vector<bool> a_broadcast(x.batch.size() + 2), b_broadcast(a_broadcast), none(a_broadcast);
  for (size_t i = 0; i < x.batch.size(); i++)
    a_broadcast[i] = below(3) == 0, b_broadcast[i] = below(2) == 0;
  if (below(30) == 0) a_broadcast[x.batch.size() + size_t(below(2))] = true;
  Tensor<S> a(sizes(x.m, x.k), a_broadcast, parts), b(sizes(x.k, x.n), b_broadcast, parts);
  Tensor<S> c(sizes(x.m, x.n), none, parts);
  int64_t batch = 1;
  for (int64_t size : x.batch) batch *= size;
  std::vector<S> expected;
  for (int64_t t = 0; t < batch && x.m * x.n > 0; t++) {
    Reals<S, T> reals(a, b, x, t, parts);
    for (int64_t i = 0; i < x.m * x.n * parts; i++) {
      S old = c.at(t, i / parts / x.n, i / parts % x.n)[i % parts];
      S sum = rounded<S>(reals.c[size_t(i)]);
      if (x.accumulate && x.k == 0)
        sum = old;
      else if (x.accumulate)
        sum = rounded<S>(T(T(widened(old)) + T(widened(sum))));
      expected.push_back(sum);
    }
  }
  MatmulTask task{x.dtype,        x.m,         x.n,         x.k,         int(x.batch.size()),
                  x.batch.data(), a.operand(), b.operand(), c.operand(), x.accumulate,
                  false};
  int threads = int(1 + below(3));
  launch::MatmulPlan plan = launch::plan_matmul(task);
  int64_t bytes = plan.scratch_bytes(threads);
  void* scratch = aligned_alloc(64, size_t((bytes + 63) / 64 * 64));
  launch::matmul(task, plan, scratch, threads);
  std::free(scratch);
  for (size_t i = 0; i < expected.size(); i++) {
    int64_t element = int64_t(i) / parts, t = element / (x.m * x.n), rest = element % (x.m * x.n);
    S found = c.at(t, rest / x.n, rest % x.n)[int64_t(i) % parts];
    if (same(found, expected[i])) continue;
    report(x, threads, "differs");
    std::printf("  element %zu: %.9g, expected %.9g; strides a %ld %ld b %ld %ld c %ld %ld\n", i,
                double(widened(found)), double(widened(expected[i])), long(task.a.row_stride),
                long(task.a.col_stride), long(task.b.row_stride), long(task.b.col_stride),
                long(task.c.row_stride), long(task.c.col_stride));
    return false;
  }
  return true;
}

static bool check(const Case& x) {
  switch (x.dtype) {
    case DType::int8:
      return check<int8_t, uint32_t>(x, 1);
    case DType::int16:
      return check<int16_t, uint32_t>(x, 1);
    case DType::int32:
      return check<int32_t, uint32_t>(x, 1);
    case DType::int64:
      return check<int64_t, uint64_t>(x, 1);
    case DType::uint8:
      return check<uint8_t, uint32_t>(x, 1);
    case DType::uint16:
      return check<uint16_t, uint32_t>(x, 1);
    case DType::uint32:
      return check<uint32_t, uint32_t>(x, 1);
    case DType::uint64:
      return check<uint64_t, uint64_t>(x, 1);
    case DType::float16:
      return check<Half, float>(x, 1);
    case DType::bfloat16:
      return check<Bfloat, float>(x, 1);
    case DType::float32:
      return check<float, float>(x, 1);
    case DType::float64:
      return check<double, double>(x, 1);
    case DType::complex64:
      return check<float, float>(x, 2);
    case DType::complex128:
      return check<double, double>(x, 2);
    default:
      return true;
  }
}

int main(int count, char** arguments) {
  int64_t cases = count > 1 ? std::atoll(arguments[1]) : 2000;
  rng.seed(count > 2 ? uint64_t(std::atoll(arguments[2])) : 1);
  set_num_threads(3);
  int64_t failures = 0;
  for (int64_t i = 0; i < cases && failures < 10; i++) failures += !check(random_case());
  std::printf("matmul: %ld cases, %ld failures\n", long(cases), long(failures));
  return failures != 0;
}
