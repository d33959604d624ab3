// The functions of src/core/simd/maths.h for the instruction set TS_ISA. Nothing of the standard
// library is included: its templates would leak from one instruction set into another.
#include "maths_table.h"

#include "simd/maths.h"

namespace tessella::TS_ISA {
namespace {

template <class T, class F>
void run_each(F f, const T* x, T* out, size_t n) {
  using V = Vec<T>;
  for (size_t i = 0; i < n; i += lanes<V>) store(out + i, f(load<V>(x + i)));
}

template <class T, class F>
void run_pairs(F f, const T* x, const T* y, T* out, size_t n) {
  using V = Vec<T>;
  for (size_t i = 0; i < n; i += lanes<V>) store(out + i, f(load<V>(x + i), load<V>(y + i)));
}

#define ROW1(f)                                                \
  {#f,                                                         \
   [](const float* x, const float*, float* out, size_t n) {    \
     run_each(TS_LAMBDA(simd::f), x, out, n);                  \
   },                                                          \
   [](const double* x, const double*, double* out, size_t n) { \
     run_each(TS_LAMBDA(simd::f), x, out, n);                  \
   }},
#define ROW2(f)                                                  \
  {#f,                                                           \
   [](const float* x, const float* y, float* out, size_t n) {    \
     run_pairs(TS_LAMBDA(simd::f), x, y, out, n);                \
   },                                                            \
   [](const double* x, const double* y, double* out, size_t n) { \
     run_pairs(TS_LAMBDA(simd::f), x, y, out, n);                \
   }},
const MathsFunction functions[] = {MATHS_UNARY(ROW1) MATHS_BINARY(ROW2)};

// |got - exact| in units of the last place of a float of the size of `exact`. Past the largest
// float the spacing goes on as if there were one more binade, whose first number is infinity.
double judge(const float* got, const double* exact, double* error, size_t n) {
  using D = Vec<double>;
  using B = BitsOf<D>;
  D worst{};
  for (size_t i = 0; i < n; i += lanes<D>) {
    const D wide = convert<D>(load<VecN<float, lanes<D>>>(got + i)), want = load<D>(exact + i);
    const D near = clamp(want, -0x1p128, 0x1p128);
    const B exponent = (B)clamp(abs(near), 0x1p-126, 0x1p127) & ((uint64_t)0x7ff << 52);
    const D inverse_ulp = (D)(((uint64_t)(2046 + 23) << 52) - exponent);
    const D distance = abs(clamp(wide, -0x1p128, 0x1p128) - near) * inverse_ulp;
    const MaskOf<D> lost_sign = (wide == 0) & (signbit(wide) ^ signbit(want));
    const MaskOf<D> lost_nan = is_nan(wide) ^ is_nan(want);
    D each = select(is_nan(wide), D{}, distance);
    each = select(lost_nan | lost_sign, infinity<D>(), each);
    store(error + i, each);
    worst = greater(each, worst);
  }
  double largest = 0;
  for (int i = 0; i < lanes<D>; ++i) largest = worst[i] > largest ? worst[i] : largest;
  return largest;
}

}  // namespace
}  // namespace tessella::TS_ISA

#define TABLE_OF(isa) maths_##isa
#define TABLE(isa) TABLE_OF(isa)
#define TEXT_OF(isa) #isa
#define TEXT(isa) TEXT_OF(isa)
const MathsTable TABLE(TS_ISA) = {
    TEXT(TS_ISA),
    tessella::TS_ISA::functions,
    sizeof tessella::TS_ISA::functions / sizeof tessella::TS_ISA::functions[0],
    tessella::TS_ISA::judge,
};
