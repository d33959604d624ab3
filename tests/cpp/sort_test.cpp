// Checks sort against std::stable_sort: every dtype, direction, lengths around the borders between
// methods, strides, awkward distributions of keys, NaN and signed zeros, several thread counts.
// Exits with 1 at the first difference.
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

enum class Pattern { random, few, sorted, reversed, narrow, two_clusters, special, COUNT };

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

// Sorts the middle axis of (2, n, 1) with gaps between the elements, and compares both rows.
template <class T, class Value>
void check(DType dtype, Pattern shape, int64_t n, bool descending, int64_t gap, bool with_indices) {
  std::vector<T> x = make<T>(shape, 2 * n * gap), values(static_cast<size_t>(2 * n));
  std::vector<int64_t> indices(static_cast<size_t>(2 * n), -1);
  int64_t sizes[] = {2, n, 1}, steps[] = {n * gap, gap, 1}, out_steps[] = {n, 1, 1};
  SortTask task{dtype,
                3,
                sizes,
                1,
                reinterpret_cast<const char*>(x.data()),
                steps,
                reinterpret_cast<char*>(values.data()),
                out_steps,
                with_indices ? indices.data() : nullptr,
                out_steps,
                descending,
                false};
  int workers = num_threads();
  std::vector<char> scratch(static_cast<size_t>(launch::sort_scratch_bytes(task, workers)) + 64);
  char* memory = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
  launch::sort(task, workers, memory);
  for (int64_t row = 0; row < 2; ++row) {
    auto at = [&](int64_t i) { return x[static_cast<size_t>((row * n + i) * gap)]; };
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      auto a = Value::value(at(i)), b = Value::value(at(j));
      return descending ? is_less(b, a) : is_less(a, b);
    });
    for (int64_t i = 0; i < n; ++i) {
      auto to = static_cast<size_t>(row * n + i);
      T expected = at(order[static_cast<size_t>(i)]);
      auto value = Value::value(expected), found = Value::value(values[to]);
      bool is_nan = value != value;
      require(is_nan ? found != found : is_same(values[to], expected), "values", dtype, n);
      if (with_indices) require(indices[to] == order[static_cast<size_t>(i)], "indices", dtype, n);
    }
  }
}

template <class T, class Value = Ordinary<T>>
void check_dtype(DType dtype) {
  for (int64_t n : {0, 1, 2, 15, 16, 17, 100, 191, 192, 1000, 5000, 70000}) {
    for (int shape = 0; shape < static_cast<int>(Pattern::COUNT); ++shape) {
      for (bool descending : {false, true}) {
        bool with_indices = (shape + n) % 2 == 0 || n < 200;
        check<T, Value>(dtype, static_cast<Pattern>(shape), n, descending, 1 + n % 3, with_indices);
        if (n < 6000) check<T, Value>(dtype, static_cast<Pattern>(shape), n, descending, 1, false);
      }
    }
  }
}

// The order of false and true, and that equal ones keep theirs.
void check_bool() {
  std::vector<uint8_t> x{1, 0, 1, 0, 0, 1}, values(6);
  std::vector<int64_t> indices(6);
  int64_t size = 6, step = 1;
  SortTask task{DType::boolean,
                1,
                &size,
                0,
                reinterpret_cast<const char*>(x.data()),
                &step,
                reinterpret_cast<char*>(values.data()),
                &step,
                indices.data(),
                &step,
                true,
                false};
  std::vector<int64_t> scratch(static_cast<size_t>(launch::sort_scratch_bytes(task, 1)) / 8 + 1);
  launch::sort(task, 1, scratch.data());
  require(values == std::vector<uint8_t>({1, 1, 1, 0, 0, 0}), "values", DType::boolean, 6);
  require(indices == std::vector<int64_t>({0, 2, 5, 1, 3, 4}), "indices", DType::boolean, 6);
}

}  // namespace

int main() {
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
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
  }
  check_bool();
  set_num_threads(3);
  check<double, Ordinary<double>>(DType::float64, Pattern::random, 2200000, false, 1, true);
  check<int64_t, Ordinary<int64_t>>(DType::int64, Pattern::two_clusters, 2200000, true, 1, false);
  check<float, Ordinary<float>>(DType::float32, Pattern::special, 2200000, false, 1, false);
  printf("sort: ok\n");
}
