// The matrix product by its definition, for tests: the order of every sum spelled out, with no
// regard for speed. Elements are of the compute type and row-major; halves are rounded by callers.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tessella::launch {

// One step of a chain; `fused` on instruction sets that have a fused multiply-add.
template <class T>
T matmul_ref_step(T a, T b, T sum, bool fused) {
  if constexpr (std::is_floating_point_v<T>) return fused ? std::fma(a, b, sum) : a * b + sum;
  return a * b + sum;
}

// sum of a[p * a_step] * b[p * b_step]: one chain; or, for vectors, segments of 2^15 terms, each
// in 16 interleaved lanes that are joined by halving.
template <class T>
T matmul_ref_sum(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t k, bool vector,
                 bool fused) {
  int64_t lanes = vector ? 16 : 1, segment = vector ? 1 << 15 : k;
  T total = 0;
  for (int64_t first = 0; first < k; first += segment) {
    T sums[16] = {};
    for (int64_t p = first; p < k && p < first + segment; p++)
      sums[p % lanes] = matmul_ref_step(a[p * a_step], b[p * b_step], sums[p % lanes], fused);
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; l++) sums[l] += sums[l + half];
    total = first == 0 ? sums[0] : total + sums[0];
  }
  return total;
}

// c (m, n) = a (m, k) @ b (k, n)
template <class T>
void matmul_ref(T* c, const T* a, const T* b, int64_t m, int64_t n, int64_t k, bool vector,
                bool fused) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      c[i * n + j] = matmul_ref_sum(a + i * k, 1, b + j, n, k, vector, fused);
}

}  // namespace tessella::launch
