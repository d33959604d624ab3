// A row of x as products with blocks take it: for each block of numbers int8 codes and a scale in
// float32, and the sums of the codes of each run.
#pragma once

#include "block_codes.h"
#include "block_dots.h"
#include "block_products.h"

namespace tessella::TS_ISA {

constexpr int MOST_CODE = 127;

// k codes, then scales, then sums.
template <class F>
struct Coded {
  const int8_t* codes;
  const float* scales;  // of blocks
  const int16_t* sums;  // of runs

  Coded() = default;
  TS_MEMBER Coded(const char* row, int64_t k)
      : codes(reinterpret_cast<const int8_t*>(row)),
        scales(reinterpret_cast<const float*>(row + k)),
        sums(reinterpret_cast<const int16_t*>(row + k + k / F::elements * (int64_t)sizeof(float))) {
  }

  static int64_t bytes(int64_t k) {
    int64_t bytes = k + k / F::elements * (int64_t)sizeof(float) + k / F::run * 2;
    return (bytes + 63) / 64 * 64;
  }
};

// What the weights are to products: codes without a sign where there is an instruction for sums of
// products of bytes, which wants one operand so. Then the sum of the codes of x is subtracted.
template <class F>
struct Operand {
  static constexpr bool is_turned = F::is_signed && has_byte_dots;
  static constexpr bool is_signed = F::is_signed && !is_turned;
  static constexpr int offset = is_turned ? 128 : F::offset;
  static TS_MEMBER Codes turned(Codes codes) { return is_turned ? codes ^ 0x80 : codes; }
};

// One block. A scale so small that it has no inverse stands for zeros.
template <int N>
TS_INLINE float code_block(const float* x, int8_t* codes) {
  using V = Vec<float>;
  constexpr int W = lanes<V>;
  auto most = BitsOf<V>{};
  for (int i = 0; i < N; i += W) {
    auto size = (BitsOf<V>)abs(load<V>(x + i));
    most = size > most ? size : most;
  }
  uint32_t largest = 0;
  for (int i = 0; i < W; ++i) largest = most[i] > largest ? most[i] : largest;
  const bool is_finite = largest < 0x7f800000;
  const float scale = bits_as<float>(largest) / MOST_CODE;
  if (!is_finite || scale < 0x1p-126f) {
    memset(codes, 0, N);
    return is_finite ? scale : __builtin_nanf("");
  }
  const V inverse = splat<V>(1 / scale);
  for (int i = 0; i < N; i += W) {
    auto whole = convert<MaskOf<V>>(rint(load<V>(x + i) * inverse));
    auto bytes = resize<VecN<uint8_t, W>>(whole);
    memcpy(codes + i, &bytes, sizeof bytes);
  }
  return scale;
}

template <class F>
void code_row(int64_t k, char* out, const float* x) {
  const Coded<F> row(out, k);
  auto* codes = const_cast<int8_t*>(row.codes);
  auto* scales = const_cast<float*>(row.scales);
  auto* sums = const_cast<int16_t*>(row.sums);
  for (int64_t b = 0; b < k / F::elements; ++b)
    scales[b] = code_block<F::elements>(x + b * F::elements, codes + b * F::elements);
  for (int64_t r = 0; r < k / F::run; ++r) {
    int sum = 0;
    for (int i = 0; i < F::run; ++i) sum += codes[r * F::run + i];
    sums[r] = static_cast<int16_t>(sum);
  }
}

}  // namespace tessella::TS_ISA
