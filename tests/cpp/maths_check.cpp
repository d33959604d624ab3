// Evaluates and checks the vector maths of every instruction set outside the library. Commands:
// - all32 FUNCTION PART PARTS ISA...: every float32 bit pattern of one part against the double
//   function of the last ISA, and every 16th against glibc's, which shares no mistake with it;
//   AVX2 and AVX-512 must give the same bits;
// - file ISA FUNCTION f32|f64 X OUT, file2 ISA FUNCTION f32|f64 X Y OUT: results for binary files;
// - speed ISA FUNCTION f32|f64 LOW HIGH: nanoseconds an element, in the L1 cache.
// It prints the largest error in ulp and where it is; judging is left to the caller.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <string>
#include <vector>

#include "maths_table.h"

namespace {

double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

double ndtr(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }
double log_ndtr(double x) {
  if (x > 0) return log1p(-ndtr(-x));
  if (x > -37) return log(ndtr(x));
  const double u = 1 / (x * x);
  return log1p(u * (-1 + u * (3 - 15 * u))) - log(-x * sqrt(2 * M_PI)) - 0.5 * x * x;
}

// y with erfc(y) = q, for 0 < q < 1: Newton on logarithms, in long double.
double erfc_inverse(long double q) {
  long double y = sqrtl(-logl(q * (2 - q)));
  for (int i = 0; i < 60; ++i) {
    const long double value = erfcl(y), step = value * logl(value / q) * expl(y * y) / M_2_SQRTPIl;
    y += step;
    if (fabsl(step) < 1e-17L * y) break;
  }
  return (double)y;
}
double erfinv(double x) {
  if (!(fabs(x) < 1)) return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
  if (fabs(x) < 0x1p-20) return x / M_2_SQRTPI * (1 + M_PI / 12 * x * x);
  return copysign(erfc_inverse(1 - (long double)fabs(x)), x);
}
double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
  if (p > 0.5) return p == 0.5 ? 0 : -ndtri(1 - p);
  return p == 0.5 ? 0 : -M_SQRT2 * erfc_inverse(2 * (long double)p);
}

// The series of I(x) / (x/2)^order, and for large x that of its asymptote, in long double.
double bessel(int order, double x) {
  const long double a = fabs(x), z = a * a / 4;
  if (!(a < 720)) return x != x ? x : INFINITY;
  long double term = 1, total = 1;
  if (a < 40) {
    for (int k = 1; term > total * 1e-21L; ++k) total += term *= z / ((long double)k * (k + order));
    return (double)(order ? total * a / 2 : total);
  }
  for (int k = 1; k < 30; ++k) {
    const long double odd = 2 * k - 1;
    total += term *= (odd * odd - 4 * order) / (8 * k * a);
  }
  return (double)(expl(a) / sqrtl(2 * M_PIl * a) * total);
}
double i0(double x) { return bessel(0, x); }
double i1(double x) { return copysign(bessel(1, x), x); }

typedef double (*Reference)(double);

Reference find_reference(const std::string& name) {
#define ROW(f) \
  if (name == #f) return f;
  MATHS_UNARY(ROW)
  fprintf(stderr, "no function of one argument: %s\n", name.c_str());
  exit(2);
}

const MathsTable& find_table(const std::string& isa) {
#if defined(__x86_64__)
  const MathsTable* tables[] = {&maths_baseline, &maths_avx2, &maths_avx512};
#else
  const MathsTable* tables[] = {&maths_baseline};
#endif
  for (const MathsTable* table : tables)
    if (isa == table->isa) return *table;
  fprintf(stderr, "unknown instruction set %s\n", isa.c_str());
  exit(2);
}

const MathsFunction& find(const MathsTable& table, const std::string& name) {
  for (size_t i = 0; i < table.count; ++i)
    if (name == table.functions[i].name) return table.functions[i];
  fprintf(stderr, "unknown function %s\n", name.c_str());
  exit(2);
}

// --- every float32 -------------------------------------------------------------------------------

constexpr size_t kBlock = 1024, kEvery = 16, kFew = kBlock / kEvery;

struct Block {
  float x[kBlock];
  double wide[kBlock], exact[kBlock];  // x as doubles, and the double function of them
  double few_exact[kFew];              // glibc's for every 16th, from `first` on
  size_t first;
};

struct Worst {
  double ulp = 0;
  float at = 0;
  void raise(Worst other) {
    if (other.ulp > ulp) *this = other;
  }
};

// One instruction set's results for a block, and what is worst about all of its blocks.
struct Candidate {
  const MathsTable* table;
  MathsRun<float> run;
  float out[kBlock];
  Worst worst;
};

void fill(Block& block, uint64_t number, MathsRun<double> run, Reference reference) {
  for (size_t i = 0; i < kBlock; ++i) {
    const uint32_t bits = (uint32_t)(number * kBlock + i);
    memcpy(block.x + i, &bits, sizeof bits);
    block.wide[i] = block.x[i];
  }
  run(block.wide, block.wide, block.exact, kBlock);
  block.first = number % kEvery;
  for (size_t i = 0; i < kFew; ++i)
    block.few_exact[i] = reference(block.wide[block.first + i * kEvery]);
}

// The largest of n errors, which belong to every step-th of x.
Worst locate(double largest, const double* error, const float* x, size_t step) {
  for (; *error != largest; ++error) x += step;
  return {largest, *x};
}

Worst judge(const float* out, const Block& block, const MathsTable& table) {
  double error[kBlock];
  float few[kFew];
  const double largest = table.judge(out, block.exact, error, kBlock);
  Worst worst = locate(largest, error, block.x, 1);
  for (size_t i = 0; i < kFew; ++i) few[i] = out[block.first + i * kEvery];
  const double apart = table.judge(few, block.few_exact, error, kFew);
  worst.raise(locate(apart, error, block.x + block.first, kEvery));
  return worst;
}

uint64_t count_differences(const float* a, const float* b) {
  uint64_t count = 0;
  if (memcmp(a, b, kBlock * sizeof *a) == 0) return 0;
  for (size_t i = 0; i < kBlock; ++i)
    count += memcmp(a + i, b + i, sizeof *a) != 0 && (a[i] == a[i] || b[i] == b[i]);
  return count;
}

// Results that are the same bits as the last candidate's are judged with it.
void run_block(std::vector<Candidate>& candidates, const Block& block) {
  for (Candidate& one : candidates) one.run(block.x, block.x, one.out, kBlock);
  const Candidate& last = candidates.back();
  const Worst worst = judge(last.out, block, *last.table);
  for (Candidate& one : candidates) {
    const bool is_same = memcmp(one.out, last.out, sizeof one.out) == 0;
    one.worst.raise(is_same ? worst : judge(one.out, block, *last.table));
  }
}

void check_all32(const std::string& name, uint64_t part, uint64_t parts,
                 const std::vector<std::string>& isas) {
  std::vector<Candidate> candidates;
  for (const std::string& isa : isas) {
    const MathsTable& table = find_table(isa);
    candidates.push_back({&table, find(table, name).run32, {}, {}});
  }
  const Candidate *avx2 = nullptr, *avx512 = nullptr;
  for (const Candidate& one : candidates) {
    if (!strcmp(one.table->isa, "avx2")) avx2 = &one;
    if (!strcmp(one.table->isa, "avx512")) avx512 = &one;
  }
  const MathsRun<double> run64 = find(*candidates.back().table, name).run64;
  const Reference reference = find_reference(name);
  uint64_t differences = 0;
  static Block block;
  for (uint64_t number = part; number < ((uint64_t)1 << 32) / kBlock; number += parts) {
    fill(block, number, run64, reference);
    run_block(candidates, block);
    if (avx2 && avx512) differences += count_differences(avx2->out, avx512->out);
  }
  for (const Candidate& one : candidates)
    printf("%s max_ulp %.4f at %a\n", one.table->isa, one.worst.ulp, one.worst.at);
  printf("differences %llu\n", (unsigned long long)differences);
}

// --- files and speed -----------------------------------------------------------------------------

template <class T>
MathsRun<T> run_of(const MathsFunction& f) {
  if constexpr (sizeof(T) == sizeof(float))
    return f.run32;
  else
    return f.run64;
}

template <class T>
std::vector<T> read_values(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  std::vector<T> values((size_t)ftell(file) / sizeof(T));
  rewind(file);
  if (fread(values.data(), sizeof(T), values.size(), file) != values.size()) exit(2);
  fclose(file);
  return values;
}

template <class T>
void run_file(const MathsFunction& f, const char* x_path, const char* y_path,
              const char* out_path) {
  std::vector<T> x = read_values<T>(x_path), y = read_values<T>(y_path);
  const size_t n = x.size(), padded = (n + 63) / 64 * 64;
  x.resize(padded);
  y.resize(padded);
  std::vector<T> out(padded);
  run_of<T>(f)(x.data(), y.data(), out.data(), padded);
  FILE* file = fopen(out_path, "wb");
  if (!file || fwrite(out.data(), sizeof(T), n, file) != n) exit(2);
  fclose(file);
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <class T>
void measure(const MathsFunction& f, double low, double high) {
  constexpr size_t n = 8192 / sizeof(T);
  static T x[n], y[n], out[n];
  for (size_t i = 0; i < n; ++i) {
    x[i] = (T)(low + (high - low) * (double)((i * 7919) % n) / (double)n);
    y[i] = (T)(low + (high - low) * (double)((i * 104729) % n) / (double)n);
  }
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const double start = now();
    for (int i = 0; i < 50; ++i) run_of<T>(f)(x, y, out, n);
    const double each = (now() - start) / 50 / (double)n * 1e9;
    if (each < best) best = each;
  }
  printf("%-10s %s %.3f ns\n", f.name, sizeof(T) == 4 ? "f32" : "f64", best);
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> a(words, words + count);
  const bool wide = count > 4 && a[4] == "f64";
  if (count > 5 && a[1] == "all32") {
    check_all32(a[2], strtoull(words[3], nullptr, 10), strtoull(words[4], nullptr, 10),
                {a.begin() + 5, a.end()});
  } else if ((count == 7 && a[1] == "file") || (count == 8 && a[1] == "file2")) {
    const MathsFunction& f = find(find_table(a[2]), a[3]);
    (wide ? run_file<double> : run_file<float>)(f, words[5], words[count - 2], words[count - 1]);
  } else if (count == 7 && a[1] == "speed") {
    const MathsFunction& f = find(find_table(a[2]), a[3]);
    (wide ? measure<double> : measure<float>)(f, atof(words[5]), atof(words[6]));
  } else {
    fprintf(stderr, "usage: see the head of maths_check.cpp\n");
    return 2;
  }
}
