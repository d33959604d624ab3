// Checks sort against std::stable_sort: every dtype, direction, lengths around the borders between
// methods, lines in every position, the first few only, awkward distributions of keys, NaN and
// signed zeros, several thread counts. Exits with 1 at the first difference.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../../src/core/half.h"
#include "../../src/core/launch/sort.h"
#include "../../src/core/threads.h"

using namespace tessella;
using launch::SortTask;

namespace {

std::mt19937_64 generator(11);

void require(bool ok, const char* what, DType dtype, int64_t n) {
  if (ok) return;
  printf("FAILED: %s, %s, n = %lld\n", what, info(dtype).name, static_cast<long long>(n));
  exit(1);
}

enum class Pattern { random, few, sorted, reversed, narrow, two_clusters, outlier, special, COUNT };

template <class T>
struct Ordinary {
  static T value(T x) { return x; }
};
template <class Half>
struct Widened {
  static float value(Half x) { return to_float(x); }
};

template <class T>
T from_bits(uint64_t bits) {
  T x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
std::vector<T> make(Pattern shape, int64_t n) {
  std::vector<T> x(static_cast<size_t>(n));
  uint64_t i = 0;
  // Bits of zeros, ones, infinities and NaNs of the widest float that fits are among these.
  const uint64_t specials[] = {0,          1ull << (8 * sizeof(T) - 1),
                               ~0ull,      0x7ff8000000000000,
                               0x7fc00000, 0xffc00000,
                               0x7f800000, 0x7e00,
                               0xfc00,     0x7fc0};
  for (T& element : x) {
    uint64_t word = generator();
    switch (shape) {
      case Pattern::random:
        break;
      case Pattern::few:
        word %= 7;
        break;
      case Pattern::sorted:
        word = i;
        break;
      case Pattern::reversed:
        word = static_cast<uint64_t>(n) - i;
        break;
      case Pattern::narrow:
        word = word >> 24 << 4 & 0xfffffff;
        break;
      case Pattern::two_clusters:
        word = (word & 1) << 62 | (word >> 34);
        break;
      case Pattern::outlier:  // nearly all agree in their upper bits
        word = i % 5000 == 17 ? word >> 1 : 0x3ff0000000000000 | (word & 0xffff);
        break;
      case Pattern::special:
        word = word & 3 ? specials[(word >> 3) % 10] : word;
        break;
      case Pattern::COUNT:
        break;
    }
    element = from_bits<T>(word);
    ++i;
  }
  return x;
}

// NaN is above everything.
template <class V>
bool is_less(V a, V b) {
  if constexpr (static_cast<V>(0.5) != 0) {
    if (a != a) return false;
    if (b != b) return true;
  }
  return a < b;
}

template <class T>
bool is_same(T a, T b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

// How x lies: (before, n, after) with gaps, sorted along its middle axis.
struct Shape {
  int64_t before, n, after;
  int64_t gap;
};

struct Wish {
  bool descending, values, indices;
  int64_t wanted;
};

template <class T>
struct Sorted {
  std::vector<T> values;
  std::vector<int64_t> indices;
};

template <class T>
Sorted<T> run(DType dtype, const std::vector<T>& x, const Shape& s, const Wish& wish) {
  auto size = static_cast<size_t>(s.before * wish.wanted * s.after);
  Sorted<T> out{std::vector<T>(size), std::vector<int64_t>(size, -1)};
  int64_t sizes[] = {s.before, s.n, s.after};
  int64_t steps[] = {s.n * s.after * s.gap, s.after * s.gap, s.gap};
  int64_t out_steps[] = {wish.wanted * s.after, s.after, 1};
  SortTask task{dtype,       3,
                sizes,       1,
                wish.wanted, reinterpret_cast<const char*>(x.data()),
                steps,       wish.values ? reinterpret_cast<char*>(out.values.data()) : nullptr,
                out_steps,   wish.indices ? out.indices.data() : nullptr,
                out_steps,   wish.descending,
                false};
  int workers = num_threads();
  std::vector<char> scratch(static_cast<size_t>(launch::sort_scratch_bytes(task, workers)) + 64);
  char* memory = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
  launch::sort(task, workers, memory);
  return out;
}

template <class T, class Value>
void check(DType dtype, Pattern pattern, const Shape& s, const Wish& wish) {
  std::vector<T> x = make<T>(pattern, s.before * s.n * s.after * s.gap);
  Sorted<T> out = run(dtype, x, s, wish);
  std::vector<int64_t> order(static_cast<size_t>(s.n));
  for (int64_t line = 0; line < s.before * s.after; ++line) {
    int64_t before = line / s.after, after = line % s.after;
    auto at = [&](int64_t i) {
      return x[static_cast<size_t>(((before * s.n + i) * s.after + after) * s.gap)];
    };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      auto a = Value::value(at(i)), b = Value::value(at(j));
      return wish.descending ? is_less(b, a) : is_less(a, b);
    });
    for (int64_t i = 0; i < wish.wanted; ++i) {
      auto to = static_cast<size_t>((before * wish.wanted + i) * s.after + after);
      int64_t index = order[static_cast<size_t>(i)];
      auto value = Value::value(at(index)), found = Value::value(out.values[to]);
      bool is_nan = value != value;
      bool is_right = is_nan ? found != found : is_same(out.values[to], at(index));
      require(!wish.values || is_right, "values", dtype, s.n);
      require(!wish.indices || out.indices[to] == index, "indices", dtype, s.n);
    }
  }
}

// Every pattern and direction; values, indices or both; all or the first few.
template <class T, class Value>
void check_shape(DType dtype, const Shape& shape) {
  for (int pattern = 0; pattern < static_cast<int>(Pattern::COUNT); ++pattern) {
    for (bool descending : {false, true}) {
      int64_t n = shape.n, few = n == 0 ? 0 : (n * (pattern + 1)) / 9;
      bool values = (pattern + n) % 3 != 0;
      check<T, Value>(dtype, static_cast<Pattern>(pattern), shape, {descending, true, false, n});
      check<T, Value>(dtype, static_cast<Pattern>(pattern), shape, {descending, values, true, n});
      check<T, Value>(dtype, static_cast<Pattern>(pattern), shape,
                      {descending, true, !values, few});
    }
  }
}

template <class T, class Value = Ordinary<T>>
void check_dtype(DType dtype) {
  for (int64_t n : {0, 1, 2, 10, 16, 17, 24, 25, 32, 33, 64, 65, 100})
    for (Shape shape : {Shape{1, n, 1, 1}, Shape{37, n, 1, 1}, Shape{1, n, 70, 1},
                        Shape{5, n, 7, 1}, Shape{20, n, 1, 2}})
      check_shape<T, Value>(dtype, shape);
  for (int64_t n : {128, 129, 200, 256, 257, 520, 1000})
    for (Shape shape : {Shape{9, n, 1, 1}, Shape{1, n, 17, 1}}) check_shape<T, Value>(dtype, shape);
  for (int64_t n : {2048, 2049, 5000})
    for (Shape shape : {Shape{1, n, 1, 1}, Shape{1, n, 3, 1}}) check_shape<T, Value>(dtype, shape);
}

// The order of false and true, and that equal ones keep theirs.
void check_bool() {
  std::vector<uint8_t> x{1, 0, 1, 0, 0, 1}, values(6);
  std::vector<int64_t> indices(6);
  int64_t size = 6, step = 1;
  SortTask task{DType::boolean, 1,
                &size,          0,
                size,           reinterpret_cast<const char*>(x.data()),
                &step,          reinterpret_cast<char*>(values.data()),
                &step,          indices.data(),
                &step,          true,
                false};
  std::vector<int64_t> scratch(static_cast<size_t>(launch::sort_scratch_bytes(task, 1)) / 8 + 1);
  launch::sort(task, 1, scratch.data());
  require(values == std::vector<uint8_t>({1, 1, 1, 0, 0, 0}), "values", DType::boolean, 6);
  require(indices == std::vector<int64_t>({0, 2, 5, 1, 3, 4}), "indices", DType::boolean, 6);
}

}  // namespace

int main() {
  set_num_threads(2);
  check_dtype<int8_t>(DType::int8);
  check_dtype<uint8_t>(DType::uint8);
  check_dtype<int16_t>(DType::int16);
  check_dtype<uint16_t>(DType::uint16);
  check_dtype<int32_t>(DType::int32);
  check_dtype<uint32_t>(DType::uint32);
  check_dtype<int64_t>(DType::int64);
  check_dtype<uint64_t>(DType::uint64);
  check_dtype<Float16, Widened<Float16>>(DType::float16);
  check_dtype<BFloat16, Widened<BFloat16>>(DType::bfloat16);
  check_dtype<float>(DType::float32);
  check_dtype<double>(DType::float64);
  check_bool();
  for (int threads : {1, 5}) {
    set_num_threads(threads);
    check_shape<uint8_t, Ordinary<uint8_t>>(DType::uint8, {1, 70000, 1, 1});
    check_shape<float, Ordinary<float>>(DType::float32, {1, 66000, 2, 1});
    check_shape<double, Ordinary<double>>(DType::float64, {1, 210000, 1, 1});
  }
  for (Pattern pattern : {Pattern::random, Pattern::outlier})
    check<int64_t, Ordinary<int64_t>>(DType::int64, pattern, {1, 2200000, 1, 1},
                                      {true, false, true, 2200000});
  check<float, Ordinary<float>>(DType::float32, Pattern::special, {1, 2200000, 1, 1},
                                {false, true, false, 2200000});
  printf("sort: ok\n");
}
