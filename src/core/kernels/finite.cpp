// A number is finite unless all bits of its exponent are set.
#include "finite.h"

namespace tessella::TS_ISA {

namespace {

constexpr int64_t BLOCK = 512;  // elements between two looks at what was found

template <class Bits, Bits Exponent>
bool are_finite(int64_t n, const void* x) {
  auto* bits = static_cast<const Bits*>(x);
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    int64_t end = begin + BLOCK < n ? begin + BLOCK : n;
    Bits found = 0;
    for (int64_t i = begin; i < end; ++i)
      found |= static_cast<Bits>((bits[i] & Exponent) == Exponent);
    if (found) return false;
  }
  return true;
}

constexpr FiniteKernels make_kernels() {
  FiniteKernels kernels{};
  auto set = [&](DType dtype, FiniteFn fn) { kernels.are_finite[static_cast<int>(dtype)] = fn; };
  set(DType::float16, are_finite<uint16_t, 0x7C00>);
  set(DType::bfloat16, are_finite<uint16_t, 0x7F80>);
  set(DType::float32, are_finite<uint32_t, 0x7F800000>);
  set(DType::float64, are_finite<uint64_t, 0x7FF0000000000000>);
  return kernels;
}

}  // namespace

extern constexpr FiniteKernels finite_kernels = make_kernels();

}  // namespace tessella::TS_ISA
