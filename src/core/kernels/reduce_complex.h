// The product of complex numbers, one at a time, in the order of reduce.h. Multiplying by 1 + 0i
// is not exact for infinities and signed zeros, so missing lanes are skipped and never filled.
#pragma once

#include "../simd/vector.h"
#include "elements.h"
#include "reduce.h"

namespace tessella::TS_ISA {

// The fma is written out because GCC 12 fuses this pattern by itself in some places and not in
// others, even under -ffp-contract=off.
template <class T>
TS_INLINE ComplexElement<T> product(ComplexElement<T> a, ComplexElement<T> b) {
  using One = VecN<T, 1>;
  One re = fma(One{a.re}, One{b.re}, One{-(a.im * b.im)});
  One im = fma(One{a.re}, One{b.im}, One{a.im * b.re});
  return {re[0], im[0]};
}

// Element r of the block is at(r), r < n; the lanes l, l + span, l + 2 * span, … multiplied.
template <class T, class At>
ComplexElement<T> product_tree(int64_t lane, int64_t span, int64_t n, At at) {
  constexpr int64_t L = 256 / sizeof(ComplexElement<T>);
  if (span < L && lane + span < n) {
    ComplexElement<T> left = product_tree<T>(lane, span * 2, n, at);
    return product(left, product_tree<T>(lane + span, span * 2, n, at));
  }
  ComplexElement<T> value = at(lane);
  for (int64_t r = lane + L; r < n; r += L) value = product(value, at(r));
  return value;
}

template <class T>
ComplexElement<T> product_row(const ComplexElement<T>* x, int64_t n) {
  constexpr int64_t B = reduce_block(sizeof(ComplexElement<T>));
  if (n <= B) return product_tree<T>(0, 1, n, [=](int64_t r) { return x[r]; });
  int64_t left = B;  // the blocks of the left half of the tree: the largest power of two below n
  while (left * 2 < n) left *= 2;
  return product(product_row(x, left), product_row(x + left, n - left));
}

template <class T>
void complex_product_rows(int64_t count, int64_t n, int64_t stride, Partials out, const void* x,
                          int64_t) {
  auto* to = static_cast<ComplexElement<T>*>(out.values);
  auto* from = static_cast<const ComplexElement<T>*>(x);
  for (int64_t i = 0; i < count; ++i) to[i] = product_row(from + i * stride, n);
}

template <class T>
void complex_product_columns(int64_t rows, int64_t columns, const int64_t* offsets, Partials out,
                             const void* x, int64_t) {
  auto* to = static_cast<ComplexElement<T>*>(out.values);
  auto* from = static_cast<const ComplexElement<T>*>(x);
  for (int64_t j = 0; j < columns; ++j)
    to[j] = product_tree<T>(0, 1, rows, [=](int64_t r) { return from[offsets[r] + j]; });
}

template <class T>
void complex_product_join(int64_t n, Partials out, Partials x) {
  auto* to = static_cast<ComplexElement<T>*>(out.values);
  auto* from = static_cast<const ComplexElement<T>*>(x.values);
  for (int64_t i = 0; i < n; ++i) to[i] = product(to[i], from[i]);
}

template <class T>
constexpr ReduceKernel complex_product_kernel = {
    complex_product_rows<T>, complex_product_columns<T>, nullptr, complex_product_join<T>};

}  // namespace tessella::TS_ISA
