// The table of random kernels: for each distribution and dtype, one function that fills a run of
// numbers. The stream of words behind them is that of philox.h.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class Distribution : uint8_t { bits, uniform, normal, integers, bernoulli };
constexpr int DISTRIBUTION_COUNT = 5;

// 64 words of the stream are made from 16 counters. Runs begin at a multiple of 64 words.
constexpr int64_t RANDOM_GROUP_WORDS = 64;
constexpr uint64_t RANDOM_GROUP_COUNTERS = 16;

struct RandomSource {
  uint64_t key;
  uint64_t counter;
  uint64_t low;    // integers: added to a number in [0, range), wrapping around
  uint64_t range;  // integers: 0 stands for 2^64. bernoulli: true for words below it; at most 2^32
};

using RandomFn = void (*)(const RandomSource& source, int64_t n, void* out);

struct RandomKernels {
  RandomFn fill[DISTRIBUTION_COUNT][DTYPE_COUNT];  // nullptr where there is none
};

// Words of the stream that one number takes: two where it is made of 64 bits.
constexpr int64_t random_words_each(Distribution distribution, DType dtype) {
  return distribution == Distribution::integers || itemsize(dtype) == 8 ? 2 : 1;
}

TS_KERNELS(RandomKernels, random_kernels)

}  // namespace tessella
