// Checks the random kernels: Philox against the published answers, every distribution against its
// formula over the words of a plain Philox, moments, and the same bits for each instruction set,
// each way to cut a stream and each thread count. Exits with 1 at the first difference.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "../../src/core/half.h"
#include "../../src/core/launch/random.h"
#include "../../src/core/threads.h"

using namespace tessella;
using launch::PermutationTask;
using launch::RandomTask;

namespace {

constexpr uint64_t key = 0x0123456789abcdef;
constexpr uint64_t start = ~uint64_t{0} - 100;  // the counter wraps around in the tests

void require(bool ok, const char* what) {
  if (ok) return;
  printf("FAILED: %s (%s)\n", what, name_of(isa));
  exit(1);
}

struct Words {
  uint32_t word[4];
};

// Philox as the paper gives it.
Words philox(Words counter, uint32_t key0, uint32_t key1) {
  uint32_t* c = counter.word;
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    uint32_t first = static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0;
    uint32_t third = static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1;
    c[0] = first, c[1] = static_cast<uint32_t>(b);
    c[2] = third, c[3] = static_cast<uint32_t>(a);
    key0 += 0x9E3779B9, key1 += 0xBB67AE85;
  }
  return counter;
}

// Word i of the stream: groups of 64 words from 16 counters, first all first words, and so on.
uint32_t stream_word(uint64_t first_counter, int64_t i) {
  auto group = static_cast<uint64_t>(i / 64);
  uint64_t counter = first_counter + 16 * group + static_cast<uint64_t>(i % 16);
  Words block{{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}};
  return philox(block, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32))
      .word[i % 64 / 16];
}

uint64_t stream_long(uint64_t counter, int64_t i) {
  return stream_word(counter, 2 * i) | uint64_t{stream_word(counter, 2 * i + 1)} << 32;
}

template <class T>
std::vector<T> draw(Distribution distribution, DType dtype, int64_t n, uint64_t low = 0,
                    uint64_t range = 0, double p = 0, uint64_t counter = start) {
  std::vector<T> out(static_cast<size_t>(n));
  launch::random({distribution, dtype, key, counter, n, out.data(), low, range, p, false});
  return out;
}

void test_known_answers() {
  uint32_t ones = ~0u;
  Words zero = philox({{0, 0, 0, 0}}, 0, 0), full = philox({{ones, ones, ones, ones}}, ones, ones);
  Words expected_zero{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}};
  Words expected_full{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}};
  require(!memcmp(&zero, &expected_zero, sizeof zero), "known answer, zeros");
  require(!memcmp(&full, &expected_full, sizeof full), "known answer, ones");
  uint32_t out[64];
  launch::random({Distribution::bits, DType::uint32, 0, 0, 64, out, 0, 0, 0, false});
  for (int k = 0; k < 4; ++k) require(out[16 * k] == zero.word[k], "known answer of the kernel");
}

template <class T>
void check_integers(DType dtype, int64_t low, uint64_t range) {
  auto numbers = draw<T>(Distribution::integers, dtype, 3001, static_cast<uint64_t>(low), range);
  for (int64_t i = 0; i < 3001; ++i) {
    uint64_t word = stream_long(start, i);
    uint64_t scaled =
        range == 0 ? word
                   : static_cast<uint64_t>(static_cast<unsigned __int128>(word) * range >> 64);
    require(numbers[static_cast<size_t>(i)] == static_cast<T>(static_cast<uint64_t>(low) + scaled),
            "integers");
  }
}

void test_formulas() {
  constexpr int64_t n = 3001;
  auto words = draw<uint32_t>(Distribution::bits, DType::uint32, n);
  auto longs = draw<uint64_t>(Distribution::bits, DType::uint64, n);
  auto bytes = draw<uint8_t>(Distribution::bits, DType::uint8, n);
  auto single = draw<float>(Distribution::uniform, DType::float32, n);
  auto wide = draw<double>(Distribution::uniform, DType::float64, n);
  auto half = draw<Float16>(Distribution::uniform, DType::float16, n);
  auto brain = draw<BFloat16>(Distribution::uniform, DType::bfloat16, n);
  auto coin = draw<uint8_t>(Distribution::bernoulli, DType::boolean, n, 0, 0, 0.25);
  for (int64_t i = 0; i < n; ++i) {
    uint32_t word = stream_word(start, i);
    uint64_t pair = stream_long(start, i);
    auto at = static_cast<size_t>(i);
    require(words[at] == word && longs[at] == pair, "bits");
    require(bytes[at] == static_cast<uint8_t>(word), "bits of a byte");
    require(single[at] == static_cast<float>(word >> 8) * 0x1p-24f, "uniform float32");
    require(wide[at] == static_cast<double>(pair >> 11) * 0x1p-53, "uniform float64");
    require(to_float(half[at]) == static_cast<float>(word >> 21) * 0x1p-11f, "uniform float16");
    require(to_float(brain[at]) == static_cast<float>(word >> 24) * 0x1p-8f, "uniform bfloat16");
    require(coin[at] == (word < 1u << 30), "bernoulli");
  }
  check_integers<int8_t>(DType::int8, -128, 256);
  check_integers<uint16_t>(DType::uint16, 7, 10000);
  check_integers<int32_t>(DType::int32, -5, 11);
  check_integers<int64_t>(DType::int64, INT64_MIN, 0);
  check_integers<int64_t>(DType::int64, -17, uint64_t{1} << 32);
  check_integers<uint64_t>(DType::uint64, 1, 0xfffffffffffffff0);
}

void test_bernoulli_ends() {
  auto never = draw<uint8_t>(Distribution::bernoulli, DType::boolean, 10000, 0, 0, 0.0);
  auto always = draw<uint8_t>(Distribution::bernoulli, DType::boolean, 10000, 0, 0, 1.0);
  for (size_t i = 0; i < never.size(); ++i)
    require(never[i] == 0 && always[i] == 1, "bernoulli with p = 0 and p = 1");
}

// The numbers of group g: radii from its first half, angles from its second.
template <class T>
void check_normal(DType dtype, double tolerance) {
  constexpr int64_t n = 6400, group = 64 * 4 / sizeof(T), half = group / 2;
  auto numbers = draw<T>(Distribution::normal, dtype, n);
  for (int64_t i = 0; i < n; ++i) {
    int64_t base = i / group * group, radius_at = base + i % half, angle_at = radius_at + half;
    double u, turns;
    if (sizeof(T) == 4) {
      u = (static_cast<float>(stream_word(start, radius_at)) + 0.5f) * 0x1p-32;
      turns = stream_word(start, angle_at) * 0x1p-32;
    } else {
      u = (static_cast<double>(stream_long(start, radius_at) >> 11) + 0.5) * 0x1p-53;
      turns = static_cast<double>(stream_long(start, angle_at) >> 11) * 0x1p-53;
    }
    double radius = sqrt(-2 * log(u)), angle = 2 * M_PI * turns;
    double expected = radius * (i % group < half ? cos(angle) : sin(angle));
    require(fabs(static_cast<double>(numbers[static_cast<size_t>(i)]) - expected) < tolerance,
            "normal");
  }
}

template <class T>
void check_moments(DType dtype) {
  constexpr int64_t n = 1 << 20;
  auto numbers = draw<T>(Distribution::normal, dtype, n, 0, 0, 0, 0);
  double sums[5] = {};
  for (T number : numbers) {
    double x = static_cast<double>(number), power = 1;
    for (double& sum : sums) sum += power, power *= x;
  }
  // Five standard deviations of each mean: those of x, x^2, x^3, x^4 are 1, 2, 15, 96.
  double expected[5] = {1, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
  for (int k = 1; k < 5; ++k)
    require(fabs(sums[k] / n - expected[k]) < 5 * sqrt(variance[k] / n), "moments of normal");
}

template <class T>
void check_cuts(Distribution distribution, DType dtype) {
  constexpr int64_t n = 100003, cut = 16384 * 2;
  set_num_threads(1);
  auto whole = draw<T>(distribution, dtype, n, 3, 1000, 0.3);
  for (int threads : {2, 3, 8}) {
    set_num_threads(threads);
    auto again = draw<T>(distribution, dtype, n, 3, 1000, 0.3);
    require(!memcmp(whole.data(), again.data(), sizeof(T) * n), "the same at any thread count");
  }
  uint64_t used = launch::random_counters(distribution, dtype, cut);
  auto tail = draw<T>(distribution, dtype, n - cut, 3, 1000, 0.3, start + used);
  require(!memcmp(whole.data() + cut, tail.data(), sizeof(T) * (n - cut)), "a stream goes on");
}

void test_cuts() {
  check_cuts<uint32_t>(Distribution::bits, DType::uint32);
  check_cuts<float>(Distribution::uniform, DType::float32);
  check_cuts<double>(Distribution::normal, DType::float64);
  check_cuts<float>(Distribution::normal, DType::float32);
  check_cuts<int16_t>(Distribution::integers, DType::int16);
  check_cuts<uint8_t>(Distribution::bernoulli, DType::boolean);
}

std::vector<int64_t> permute(uint64_t counter, int64_t n) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::vector<int64_t> scratch(static_cast<size_t>(launch::permutation_scratch_bytes(n)) / 8);
  launch::permutation({key, counter, n, out.data(), false}, scratch.data());
  return out;
}

void test_permutation() {
  for (int64_t n : {0, 1, 2, 100, 16384, 16385, 300000}) {
    set_num_threads(1);
    auto order = permute(start, n);
    std::vector<bool> seen(static_cast<size_t>(n));
    for (int64_t i : order) {
      require(i >= 0 && i < n && !seen[static_cast<size_t>(i)], "a permutation");
      seen[static_cast<size_t>(i)] = true;
    }
    set_num_threads(4);
    require(permute(start, n) == order, "the same permutation at any thread count");
  }
  // Each of the 24 orders of four: counts within five standard deviations of 10,000.
  int counts[256] = {};
  for (uint64_t i = 0; i < 240000; ++i) {
    auto p = permute(i * launch::permutation_counters(4), 4);
    ++counts[p[0] << 6 | p[1] << 4 | p[2] << 2 | p[3]];
  }
  for (int count : counts) require(count == 0 || abs(count - 10000) < 500, "orders are as likely");
  // With buckets: the mean of i * order[i] / n^2 is 1/4, with the deviation 1 / (12 sqrt(n)).
  constexpr int64_t n = 1 << 20;
  auto order = permute(0, n);
  double mean = 0;
  for (int64_t i = 0; i < n; ++i)
    mean += static_cast<double>(i) * static_cast<double>(order[static_cast<size_t>(i)]) / n / n / n;
  require(fabs(mean - 0.25) < 5.0 / 12 / 1024, "places and numbers are independent");
}

}  // namespace

int main() {
  std::vector<float> single;
  std::vector<double> wide;
  for (Isa which : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (!is_supported(which)) continue;
    isa = which;
    test_known_answers();
    test_formulas();
    test_bernoulli_ends();
    check_normal<float>(DType::float32, 4e-6);
    check_normal<double>(DType::float64, 1e-14);
    check_moments<float>(DType::float32);
    check_moments<double>(DType::float64);
    test_cuts();
    test_permutation();
    auto new_single = draw<float>(Distribution::normal, DType::float32, 1 << 20);
    auto new_wide = draw<double>(Distribution::normal, DType::float64, 1 << 20);
    if (which == Isa::avx512)
      require(single == new_single && wide == new_wide, "normal agrees with AVX2");
    single = new_single;
    wide = new_wide;
  }
  printf("random: ok\n");
}
