// The vector maths of one instruction set as plain function pointers, so that one program can hold
// every set and compare them. maths_table.cpp is compiled once for each; maths_check.cpp uses them.
#pragma once
#include <stddef.h>

// clang-format off
#define MATHS_UNARY(F) \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) \
  F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(erf) F(erfc) F(cbrt) F(sigmoid) \
  F(softplus) F(ndtr) F(log_ndtr) F(erfinv) F(ndtri) F(i0) F(i1)
// clang-format on
#define MATHS_BINARY(F) F(atan2) F(pow) F(hypot) F(logaddexp) F(logaddexp2)

template <class T>
using MathsRun = void (*)(const T* x, const T* y, T* out, size_t n);  // n is a multiple of 64

struct MathsFunction {
  const char* name;
  MathsRun<float> run32;
  MathsRun<double> run64;
};

struct MathsTable {
  const char* isa;
  const MathsFunction* functions;
  size_t count;
  // Errors in ulp of each float; infinite where NaN stands for a number or a zero's sign is lost.
  // Gives the largest.
  double (*judge)(const float* got, const double* exact, double* error, size_t n);
};

extern const MathsTable maths_baseline, maths_avx2, maths_avx512;
