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

// How one sum is ordered: in segments, each in interleaved lanes that are joined by halving.
struct MatmulOrder {
  int64_t segment, lanes;
};

// Vectors: segments of 2^15 terms in 16 lanes. Where c has at most 2^14 elements and no side beyond
// 2^10, up to 8 equal segments (more if they would be longer than 2^13), each of at least 2^21
// products and 2^10 terms. Otherwise one chain.
inline MatmulOrder matmul_ref_order(int64_t m, int64_t n, int64_t k, bool vector) {
  if (vector) return {1 << 15, 16};
  int64_t area = m * n;
  if (m < 2 || n < 2 || m > 1 << 10 || n > 1 << 10 || area > 1 << 14) return {k, 1};
  int64_t most = k > 8 << 13 ? (k + (1 << 13) - 1) >> 13 : 8;
  int64_t count = k / (((1 << 21) + area - 1) / area);
  if (count > k >> 10) count = k >> 10;
  if (count > most) count = most;
  return {count > 1 ? (k + count - 1) / count : k, 1};
}

// sum of a[p * a_step] * b[p * b_step]
template <class T>
T matmul_ref_sum(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t k,
                 MatmulOrder order, bool fused) {
  auto [segment, lanes] = order;
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
void matmul_ref(T* c, const T* a, const T* b, int64_t m, int64_t n, int64_t k, MatmulOrder order,
                bool fused) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      c[i * n + j] = matmul_ref_sum(a + i * k, 1, b + j, n, k, order, fused);
}

}  // namespace tessella::launch
