// Random numbers of a counter-based generator (Philox4x32-10) and random permutations.
// A number is a function of the key, the counter and its position: never of threads or of how the
// work is cut. The caller keeps the counter, and moves it on by what random_counters says.
#pragma once

#include "../kernels/random.h"

namespace tessella::launch {

// What each distribution gives, and for which dtypes:
//   bits       integers: uniformly random bits
//   uniform    floats: [0, 1) in steps of 2^-53, 2^-24, 2^-11 (float16) or 2^-8 (bfloat16)
//   normal     floats: mean 0 and variance 1, by Box and Muller; at most 6.8 from 0 in float32 and
//              8.7 in float64, which a true one exceeds once in 10^10 and in 10^17 numbers
//   integers   integers: [low, low + range), each with a probability within 2^-64 of 1 / range
//   bernoulli  bool: true with a probability within 2^-33 of p
struct RandomTask {
  Distribution distribution;
  DType dtype;
  uint64_t key;
  uint64_t counter;
  int64_t n;
  void* out;       // contiguous
  uint64_t low;    // integers; a negative number as its two's complement
  uint64_t range;  // integers; 0 stands for 2^64
  double p;        // bernoulli; in [0, 1]
  bool interruptible;
};

bool has_random(Distribution distribution, DType dtype);
uint64_t random_counters(Distribution distribution, DType dtype, int64_t n);
void random(const RandomTask& task);

// The integers below n in random order, every order equally likely (but for the 2^-64 above).
struct PermutationTask {
  uint64_t key;
  uint64_t counter;
  int64_t n;
  int64_t* out;
  bool interruptible;
};

uint64_t permutation_counters(int64_t n);
int64_t permutation_scratch_bytes(int64_t n);
void permutation(const PermutationTask& task, void* scratch);

}  // namespace tessella::launch
