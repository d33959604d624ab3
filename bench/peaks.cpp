// What this machine can do: loops that only read, only copy, only multiply and add, or take a value
// through a few operations without leaving its register.
// They are the yardsticks of the kernel rows, compiled for the machine at hand when the benchmark
// runs. They are no part of the library, and nothing else is measured here: Python times the calls.
//
// Each function splits its work evenly over `threads`, and repeats it `times` inside one call, so
// that starting threads and entering C cost nothing that shows.

#include <stdint.h>
#include <string.h>

#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

typedef float Vector __attribute__((vector_size(kVectorBytes)));
typedef int32_t Bits __attribute__((vector_size(kVectorBytes)));
constexpr int64_t kLanes = kVectorBytes / sizeof(float);

// Two FMA units with a latency of 4 need 8 accumulators; 12 and two operands fit in 16 registers.
constexpr int kAccumulators = 12;

template <typename Body>
void on_threads(int threads, Body body) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(body, i);
  body(0);
  for (std::thread& other : others) other.join();
}

Vector load(const float* from) {
  Vector value;
  memcpy(&value, from, sizeof value);
  return value;
}

float sum_lanes(Vector value) {
  float total = 0;
  for (int64_t i = 0; i < kLanes; ++i) total += value[i];
  return total;
}

float sum_range(const float* x, int64_t count) {
  constexpr int64_t step = 8 * kLanes;
  Vector sums[8] = {};
  int64_t i = 0;
  for (; i + step <= count; i += step) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) sums[j] += load(x + i + j * kLanes);
  }
  Vector all = {};
  for (int j = 0; j < 8; ++j) all += sums[j];
  float total = sum_lanes(all);
  for (; i < count; ++i) total += x[i];
  return total;
}

// The accumulators begin apart from each other and from 2, which x / 2 + 1 leaves as it is: GCC
// would fold equal ones into one, and a constant one into nothing.
float multiply_add(int64_t iterations) {
  Vector sums[kAccumulators];
  for (int j = 0; j < kAccumulators; ++j) sums[j] = Vector{} + (float(j) + 0.25f);
  const Vector x = Vector{} + 0.5f, y = Vector{} + 1.0f;
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) sums[j] = sums[j] * x + y;
  }
  Vector all = {};
  for (int j = 0; j < kAccumulators; ++j) all += sums[j];
  return sum_lanes(all);
}

// Rounds of three operations, none of which contracts with its neighbour, on a value in a register.
template <int rounds>
void chain_range(float* y, const float* x, int64_t count) {
  const Bits all_but_sign = Bits{} + 0x7fffffff;
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    const Vector given = load(x + i);
    Vector value = given;
#pragma GCC unroll 8
    for (int j = 0; j < rounds; ++j) {
      value *= given;
      value = (Vector)((Bits)value & all_but_sign);
      value -= given;
    }
    memcpy(y + i, &value, sizeof value);
  }
}

int64_t border(int64_t count, int part, int parts) { return count / parts * part; }

int64_t part_size(int64_t count, int part, int parts) {
  return part + 1 == parts ? count - border(count, part, parts) : count / parts;
}

}  // namespace

extern "C" {

float peak_read(const float* x, int64_t count, int64_t times, int threads) {
  std::vector<float> totals(threads);
  on_threads(threads, [&](int part) {
    const float* from = x + border(count, part, threads);
    float total = 0;
    for (int64_t i = 0; i < times; ++i) {
      total += sum_range(from, part_size(count, part, threads));
      __asm__ volatile("" : : : "memory");  // each repetition reads again
    }
    totals[part] = total;
  });
  float total = 0;
  for (float part : totals) total += part;
  return total;
}

void peak_copy(float* y, const float* x, int64_t count, int64_t times, int threads) {
  on_threads(threads, [=](int part) {
    const int64_t from = border(count, part, threads);
    for (int64_t i = 0; i < times; ++i) {
      memcpy(y + from, x + from, part_size(count, part, threads) * sizeof(float));
      __asm__ volatile("" : : : "memory");
    }
  });
}

// 3, 6 or 12 operations over vectors, in one thread; a count is a multiple of 16.
void peak_chain(float* y, const float* x, int64_t count, int64_t operations, int64_t times) {
  for (int64_t i = 0; i < times; ++i) {
    if (operations == 3) chain_range<1>(y, x, count);
    if (operations == 6) chain_range<2>(y, x, count);
    if (operations == 12) chain_range<4>(y, x, count);
    __asm__ volatile("" : : : "memory");
  }
}

float peak_fma(int64_t iterations, int threads) {
  std::vector<float> totals(threads);
  on_threads(threads, [&](int part) { totals[part] = multiply_add(iterations); });
  return totals[0];
}

// Multiplications and additions of one iteration in one thread.
int64_t peak_fma_flops(void) { return 2 * kLanes * kAccumulators; }
}
