// Checks the vector maths of one instruction set (-DTS_ISA=...) outside the library. Commands:
// - all32 FUNCTION PART PARTS: every float32 bit pattern against glibc's doubles;
// - points64 FUNCTION X [Y]: the doubles of a binary file against long doubles;
// - file FUNCTION f32|f64 X OUT, file2 FUNCTION f32|f64 X Y OUT: writes results for a binary file;
// - speed FUNCTION f32|f64 LOW HIGH: nanoseconds an element, in the L1 cache.
// It prints the largest error in ulp and where it is; judging is left to the caller.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <string>
#include <vector>

#include "simd/maths.h"

using namespace tessella::TS_ISA;

namespace {

typedef long double Long;
double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }
Long sigmoidl(Long x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
Long softplusl(Long x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }
Long logaddexpl(Long x, Long y) {
  const Long top = x != x ? x : y != y ? y : x > y ? x : y;
  return x == y ? x + logl(2) : isfinite(x - y) ? top + log1pl(expl(-fabsl(x - y))) : top;
}
double identity(double x) { return x; }

// clang-format off
#define UNARY(F) \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) \
  F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(erf) F(erfc) F(cbrt) F(sigmoid) \
  F(softplus)
// clang-format on
#define BINARY(F) F(atan2) F(pow) F(hypot) F(logaddexp)

template <class T>
using Run = void (*)(const T* x, const T* y, T* out, size_t n);  // n is a multiple of the lanes

template <class T>
struct Function {
  const char* name;
  Run<T> run;
  double (*reference)(double);
  Long (*exact)(Long x, Long y);
};

template <class T>
const Function<T>* find(const std::string& name) {
  using V = Vec<T>;
#define ROW1(f)                                                                        \
  {#f,                                                                                 \
   [](const T* x, const T*, T* out, size_t n) {                                        \
     for (size_t i = 0; i < n; i += lanes<V>) store(out + i, simd::f(load<V>(x + i))); \
   },                                                                                  \
   ::f, [](Long x, Long) { return f##l(x); }},
#define ROW2(f)                                                 \
  {#f,                                                          \
   [](const T* x, const T* y, T* out, size_t n) {               \
     for (size_t i = 0; i < n; i += lanes<V>)                   \
       store(out + i, simd::f(load<V>(x + i), load<V>(y + i))); \
   },                                                           \
   identity, [](Long x, Long y) { return f##l(x, y); }},
  static const Function<T> table[] = {UNARY(ROW1) BINARY(ROW2)};
  for (const auto& row : table)
    if (name == row.name) return &row;
  fprintf(stderr, "unknown function %s\n", name.c_str());
  exit(2);
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

void check_all32(const std::string& name, uint64_t part, uint64_t parts) {
  const auto* f = find<float>(name);
  constexpr uint64_t total = (uint64_t)1 << 32, block = 1024;
  double worst = 0;
  float worst_at = 0;
  uint64_t wrong = 0;
  float first_wrong = 0;
  for (uint64_t start = part * block; start < total; start += parts * block) {
    float x[block], out[block];
    for (uint64_t i = 0; i < block; ++i) {
      const uint32_t bits = (uint32_t)(start + i);
      memcpy(x + i, &bits, 4);
    }
    f->run(x, x, out, block);
    for (uint64_t i = 0; i < block; ++i) {
      const double exact = f->reference(x[i]);
      const float near = (float)exact;
      if (near == out[i] && ::signbit(near) == ::signbit(out[i])) continue;
      if (near != near && out[i] != out[i]) continue;
      // Past the largest float the spacing goes on as if there were one more binade.
      const double got = ::isinf(out[i]) ? ::copysign(0x1p128, out[i]) : (double)out[i];
      const int exponent = exact == 0 || !::isfinite(exact) ? -126 : ::ilogb(exact);
      const double ulp = ::ldexp(1, (exponent < -126  ? -126
                                     : exponent > 127 ? 127
                                                      : exponent) -
                                        23);
      const double error = fabs(got - exact) / ulp;
      const bool sign_lost = got == 0 && ::signbit(near) != ::signbit(out[i]);
      if (!(error <= 4) || sign_lost) {
        if (!wrong++) first_wrong = x[i];
      } else if (error > worst) {
        worst = error;
        worst_at = x[i];
      }
    }
  }
  printf("%s f32 max_ulp %.4f at %a wrong %llu first %a\n", name.c_str(), worst, worst_at,
         (unsigned long long)wrong, first_wrong);
}

void check_points64(const std::string& name, const char* x_path, const char* y_path) {
  std::vector<double> x = read_values<double>(x_path), y = read_values<double>(y_path);
  const auto* f = find<double>(name);
  const size_t n = x.size(), padded = (n + 63) / 64 * 64;
  x.resize(padded);
  y.resize(padded);
  std::vector<double> out(padded);
  f->run(x.data(), y.data(), out.data(), padded);
  double worst = 0;
  size_t worst_at = 0, wrong = 0, first_wrong = 0;
  for (size_t i = 0; i < n; ++i) {
    const Long exact = f->exact(x[i], y[i]);
    const double near = (double)exact;
    if (near == out[i] && ::signbit(near) == ::signbit(out[i])) continue;
    if (near != near && out[i] != out[i]) continue;
    const Long got = ::isinf(out[i]) ? ::copysignl(0x1p1024L, out[i]) : (Long)out[i];
    const int exponent = exact == 0 || !::isfinite(exact) ? -1022 : ::ilogbl(exact);
    const Long ulp = ::ldexpl(1, (exponent < -1022  ? -1022
                                  : exponent > 1023 ? 1023
                                                    : exponent) -
                                     52);
    const double error = (double)(fabsl(got - exact) / ulp);
    const bool sign_lost = got == 0 && ::signbit(near) != ::signbit(out[i]);
    if (!(error <= 4) || sign_lost) {
      if (!wrong++) first_wrong = i;
    } else if (error > worst) {
      worst = error;
      worst_at = i;
    }
  }
  printf("%s f64 max_ulp %.4f at %a %a wrong %zu first %a %a\n", name.c_str(), worst, x[worst_at],
         y[worst_at], wrong, x[first_wrong], y[first_wrong]);
}

template <class T>
void run_file(const std::string& name, const char* x_path, const char* y_path,
              const char* out_path) {
  std::vector<T> x = read_values<T>(x_path), y = read_values<T>(y_path);
  const size_t n = x.size(), padded = (n + 63) / 64 * 64;
  x.resize(padded);
  y.resize(padded);
  std::vector<T> out(padded);
  find<T>(name)->run(x.data(), y.data(), out.data(), padded);
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
void measure(const std::string& name, double low, double high) {
  const auto* f = find<T>(name);
  constexpr size_t n = 8192 / sizeof(T);
  static T x[n], y[n], out[n];
  for (size_t i = 0; i < n; ++i) {
    x[i] = (T)(low + (high - low) * (double)((i * 7919) % n) / (double)n);
    y[i] = (T)(low + (high - low) * (double)((i * 104729) % n) / (double)n);
  }
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const double start = now();
    for (int i = 0; i < 50; ++i) f->run(x, y, out, n);
    const double each = (now() - start) / 50 / (double)n * 1e9;
    if (each < best) best = each;
  }
  printf("%-10s %s %.3f ns\n", name.c_str(), sizeof(T) == 4 ? "f32" : "f64", best);
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> a(words, words + count);
  const bool wide = count > 3 && a[3] == "f64";
  if (count == 5 && a[1] == "all32") {
    check_all32(a[2], strtoull(words[3], nullptr, 10), strtoull(words[4], nullptr, 10));
  } else if ((count == 4 || count == 5) && a[1] == "points64") {
    check_points64(a[2], words[3], words[count - 1]);
  } else if (count == 6 && a[1] == "file") {
    (wide ? run_file<double> : run_file<float>)(a[2], words[4], words[4], words[5]);
  } else if (count == 7 && a[1] == "file2") {
    (wide ? run_file<double> : run_file<float>)(a[2], words[4], words[5], words[6]);
  } else if (count == 6 && a[1] == "speed") {
    (wide ? measure<double> : measure<float>)(a[2], atof(words[4]), atof(words[5]));
  } else {
    fprintf(stderr, "usage: see the head of maths_check.cpp\n");
    return 2;
  }
}
