// Quantised blocks against their definitions, spelled out one number at a time: dequantisation,
// and products whose every bit is known, for any address, thread count and instruction set. Prints
// what differs and returns 1. Arguments: a seed, a number of rounds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../../src/core/half.h"
#include "../../src/core/launch/blocks.h"
#include "../../src/core/threads.h"

using namespace tessella;

namespace {

std::mt19937_64 rng;
int failures = 0;

int64_t pick(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

float half_at(const uint8_t* p) {
  Float16 half;
  memcpy(&half.bits, p, 2);
  return to_float(half);
}

// A number is scale * whole + minimum * weight.
struct Number {
  float scale, minimum = 0;
  int whole, weight = 1;
};

int nibble(const uint8_t* bytes, int i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }
int fifth(const uint8_t* bytes, int i) { return bytes[i / 8] >> i % 8 & 1; }

// Number i of a block of 256 with factors and weights of six bits.
Number six_bits(const uint8_t* b, int i, int code) {
  const uint8_t* s = b + 4;
  int run = i / 32, low = run % 4;
  int factor = run < 4 ? s[low] & 63 : (s[8 + low] & 15) | s[low] >> 6 << 4;
  int weight = run < 4 ? s[4 + low] & 63 : s[8 + low] >> 4 | s[4 + low] >> 6 << 4;
  return {half_at(b), -half_at(b + 2), factor * code, weight};
}

Number number_of(BlockFormat format, const uint8_t* b, int i) {
  int place = i % 32, group = i / 32;
  switch (format) {
    case BlockFormat::q8_0:
      return {half_at(b), 0, static_cast<int8_t>(b[2 + i])};
    case BlockFormat::q4_0:
      return {half_at(b), 0, nibble(b + 2, i) - 8};
    case BlockFormat::q4_1:
      return {half_at(b), half_at(b + 2), nibble(b + 4, i)};
    case BlockFormat::q5_0:
      return {half_at(b), 0, nibble(b + 6, i) + 16 * fifth(b + 2, i) - 16};
    case BlockFormat::q5_1:
      return {half_at(b), half_at(b + 2), nibble(b + 8, i) + 16 * fifth(b + 4, i)};
    case BlockFormat::q4_k:
      return six_bits(b, i, b[16 + group / 2 * 32 + place] >> 4 * (group % 2) & 15);
    case BlockFormat::q5_k:
      return six_bits(b, i,
                      (b[48 + group / 2 * 32 + place] >> 4 * (group % 2) & 15) +
                          16 * (b[16 + place] >> group & 1));
    default: {
      int half = i / 128, part = group % 4;
      int low = b[half * 64 + part % 2 * 32 + place] >> 4 * (part / 2) & 15;
      int high = b[128 + half * 32 + place] >> 2 * part & 3;
      return {half_at(b + 208), 0, static_cast<int8_t>(b[192 + i / 16]) * (low + 16 * high - 32)};
    }
  }
}

bool has_minimum(BlockFormat format) {
  return format != BlockFormat::q8_0 && format != BlockFormat::q4_0 &&
         format != BlockFormat::q5_0 && format != BlockFormat::q6_k;
}

// Random bytes, with scales and minima of ordinary size.
std::vector<uint8_t> draw_blocks(BlockFormat format, int64_t count, int64_t offset) {
  const BlockInfo& of = info(format);
  std::vector<uint8_t> out(static_cast<size_t>(offset + count * of.bytes));
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(rng());
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* block = out.data() + offset + i * of.bytes;
    int place = format == BlockFormat::q6_k ? 208 : 0;
    block[place + 1] = static_cast<uint8_t>(0x20 | (rng() & 0x87));
    if (has_minimum(format)) block[3] = static_cast<uint8_t>(0x20 | (rng() & 0x87));
  }
  return out;
}

void report(const char* what, BlockFormat format, int64_t place, float found, float want) {
  if (found == want || (std::isnan(found) && std::isnan(want))) return;
  if (++failures < 20)
    printf("%s %s at %lld: %.9g, want %.9g\n", what, info(format).name,
           static_cast<long long>(place), static_cast<double>(found), static_cast<double>(want));
}

void test_numbers(BlockFormat format) {
  const BlockInfo& of = info(format);
  int64_t count = pick(0, 70), offset = pick(0, 3), size = count * of.elements;
  std::vector<uint8_t> blocks = draw_blocks(format, count, offset);
  std::vector<float> found(static_cast<size_t>(size));
  launch::BlocksTask task{format, DType::float32, count, false, 2};
  launch::dequantize(task, reinterpret_cast<char*>(found.data()), blocks.data() + offset, nullptr);
  for (int64_t i = 0; i < size; ++i) {
    const uint8_t* block = blocks.data() + offset + i / of.elements * of.bytes;
    Number number = number_of(format, block, static_cast<int>(i % of.elements));
    float want = number.scale * static_cast<float>(number.whole);
    if (has_minimum(format)) want += number.minimum * static_cast<float>(number.weight);
    report("dequantize", format, i, found[static_cast<size_t>(i)], want);
  }
}

// A row of x as int8, and the scales of its blocks.
void code(const float* x, int64_t k, int64_t each, std::vector<int>* codes,
          std::vector<float>* scales) {
  for (int64_t b = 0; b < k; b += each) {
    float most = 0;
    for (int64_t i = 0; i < each; ++i) most = std::max(most, std::fabs(x[b + i]));
    float scale = most / 127;
    scales->push_back(scale);
    for (int64_t i = 0; i < each; ++i)
      codes->push_back(static_cast<int>(std::nearbyint(x[b + i] * (1 / scale))));
  }
}

float product_ref(BlockFormat format, const uint8_t* row, const std::vector<int>& codes,
                  const std::vector<float>& scales) {
  const BlockInfo& of = info(format);
  float out = 0;
  for (size_t b = 0; b < scales.size(); ++b, row += of.bytes) {
    int sum = 0, weighted = 0;
    Number number{};
    for (int i = 0; i < of.elements; ++i) {
      number = number_of(format, row, i);
      int x = codes[b * static_cast<size_t>(of.elements) + static_cast<size_t>(i)];
      sum += x * number.whole, weighted += x * number.weight;
    }
    out += number.scale * scales[b] * static_cast<float>(sum);
    if (has_minimum(format)) out += number.minimum * scales[b] * static_cast<float>(weighted);
  }
  return out;
}

void test_product(BlockFormat format) {
  const BlockInfo& of = info(format);
  int64_t m = pick(1, 12), n = pick(1, 40), k = pick(1, 2400 / of.elements) * of.elements;
  int64_t offset = pick(0, 3), bytes = row_bytes(format, k);
  std::vector<uint8_t> blocks = draw_blocks(format, n * k / of.elements, offset);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(m * k)), bias(static_cast<size_t>(n));
  for (float& each : x) each = normal(rng);
  for (float& each : bias) each = normal(rng);
  bool has_bias = rng() % 2;
  launch::BlockProductTask task{.format = format,
                                .dtype = DType::float32,
                                .m = m,
                                .n = n,
                                .k = k,
                                .blocks = blocks.data() + offset,
                                .bias = has_bias ? reinterpret_cast<char*>(bias.data()) : nullptr,
                                .is_exact = false,
                                .interruptible = false,
                                .workers = static_cast<int>(pick(1, 4))};
  set_num_threads(task.workers);
  auto scratch_bytes = static_cast<size_t>(launch::block_product_scratch_bytes(task));
  void* scratch = aligned_alloc(64, (scratch_bytes + 127) / 64 * 64);
  std::vector<float> found(static_cast<size_t>(m * n));
  launch::block_product(task, reinterpret_cast<char*>(found.data()),
                        reinterpret_cast<const char*>(x.data()), scratch);
  free(scratch);
  for (int64_t i = 0; i < m; ++i) {
    std::vector<int> codes;
    std::vector<float> scales;
    code(x.data() + i * k, k, of.elements, &codes, &scales);
    for (int64_t j = 0; j < n; ++j) {
      float want = product_ref(format, blocks.data() + offset + j * bytes, codes, scales);
      if (has_bias) want += bias[static_cast<size_t>(j)];
      report("product", format, i * n + j, found[static_cast<size_t>(i * n + j)], want);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  rng.seed(argc > 1 ? strtoull(argv[1], nullptr, 10) : 1);
  bool is_slow = getenv("TESSELLA_EMULATED");
  int rounds = argc > 2 ? atoi(argv[2]) : is_slow ? 4 : 40;
  isa = choose_isa();
  Dots chosen = choose_dots();
  for (Dots which : {Dots::plain, chosen}) {
    dots = which;
    for (int round = 0; round < rounds; ++round)
      for (int format = 0; format < BLOCK_FORMATS; ++format) {
        test_numbers(static_cast<BlockFormat>(format));
        test_product(static_cast<BlockFormat>(format));
      }
  }
  printf("blocks: %d rounds of %d formats, %s and %s, %d failures\n", rounds, BLOCK_FORMATS,
         name_of(Dots::plain), name_of(chosen), failures);
  return failures != 0;
}
