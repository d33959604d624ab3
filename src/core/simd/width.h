// The native width of vectors, and the type of one with any number of lanes. vector.h begins with
// it; so does what needs vectors and none of that, the matrix product.
#pragma once

namespace tessella::TS_ISA {

#if defined(__AVX512F__)
constexpr int VB = 64;
#elif defined(__AVX2__)
constexpr int VB = 32;
#else
constexpr int VB = 16;
#endif

// Attributes on a type that depends on a template parameter want a typedef inside a class.
template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using VecN = typename VectorOf<T, N>::type;

}  // namespace tessella::TS_ISA
