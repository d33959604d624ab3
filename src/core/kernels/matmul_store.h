// Writes finished sums into c: converted to its dtype, at its strides, or added to what it holds.
// Halves round the sum and then the addition, as two operations would.
#pragma once

#include "matmul.h"
#include "matmul_half.h"

namespace tessella::TS_ISA {

template <class T, class S>
inline S stored(S old, T sum, bool add) {
  S value = element_from<S>(sum);
  return add ? element_from<S>(element_as<T>(old) + element_as<T>(value)) : value;
}

template <class T, class S>
void store_sums(const MatmulStore& x) {
  for (int64_t i = 0; i < x.m; i++) {
    const T* from = static_cast<const T*>(x.in) + i * x.in_row;
    S* to = static_cast<S*>(x.c) + i * x.c_row;
    if (x.c_col == 1 && !x.add) {
      for (int64_t j = 0; j < x.n; j++) to[j] = element_from<S>(from[j]);
    } else {
      for (int64_t j = 0; j < x.n; j++) to[j * x.c_col] = stored(to[j * x.c_col], from[j], x.add);
    }
  }
}

// Sums (m, 2n) of reals; sizes and strides of c count complex elements.
template <class T>
void store_complex(const MatmulStore& x) {
  for (int64_t i = 0; i < x.m; i++) {
    const T* from = static_cast<const T*>(x.in) + i * x.in_row;
    T* to = static_cast<T*>(x.c) + 2 * i * x.c_row;
    for (int64_t j = 0; j < x.n; j++, from += 2, to += 2 * x.c_col) {
      to[0] = stored(to[0], from[0], x.add);
      to[1] = stored(to[1], from[1], x.add);
    }
  }
}

}  // namespace tessella::TS_ISA
