// Numbers from blocks, and blocks from numbers. Products of scales and codes have few enough bits
// to be exact; so only the addition of a minimum rounds, whatever the instruction set.
#include "blocks.h"

#include "block_codes.h"

namespace tessella::TS_ISA {

namespace {

template <class F>
TS_INLINE int value_of(uint8_t code) {
  return F::is_signed ? static_cast<int8_t>(code) : code - F::offset;
}

// Codes of a run as numbers.
template <class F>
TS_INLINE void spread(int n, float* __restrict out, const uint8_t* __restrict codes, float scale,
                      float minimum) {
  for (int i = 0; i < n; ++i) {
    float value = scale * static_cast<float>(value_of<F>(codes[i]));
    out[i] = F::has_minima ? value + minimum : value;
  }
}

template <class F>
void dequantize(int64_t count, float* out, const uint8_t* blocks) {
  constexpr int64_t bytes = info(F::format).bytes;
  for (int64_t b = 0; b < count; ++b, blocks += bytes) {
    const float scale = scale_of<F>(blocks), minimum = F::has_minima ? minimum_of<F>(blocks) : 0;
    [[maybe_unused]] int8_t factors[16];
    if constexpr (F::has_factors) store(factors, F::factors(blocks));
    for (int group = 0; group < F::elements / 32; ++group) {
      uint8_t codes[32];
      store(codes, codes_of<F>(blocks, group));
      for (int i = 0; i < 32; i += F::run, out += F::run) {
        const int run = (group * 32 + i) / F::run;
        float own = scale, base = minimum;
        if constexpr (F::has_factors) own = scale * static_cast<float>(factors[run]);
        if constexpr (F::has_factors && F::has_minima)
          base = minimum * static_cast<float>(factors[8 + run]);
        spread<F>(F::run, out, codes + i, own, base);
      }
    }
  }
}

// --- quantisation --------------------------------------------------------------------------------

constexpr uint32_t INFINITE = 0x7f800000;  // the bits of an infinity; those of NaN are more

TS_INLINE uint32_t magnitude(float x) { return bits_as<uint32_t>(x) & 0x7fffffff; }

TS_INLINE void write_half(uint8_t* to, float x) {
  auto bits = static_cast<uint16_t>(narrow_float16(x));
  memcpy(to, &bits, sizeof bits);
}

// 1 / d; 0 where that is no number: codes are 0 then.
TS_INLINE float inverse_of(float d) {
  float inverse = 1 / d;
  return d == 0 || magnitude(inverse) >= INFINITE ? 0 : inverse;
}

void quantize_q8_0(int64_t count, uint8_t* blocks, const float* x) {
  for (int64_t b = 0; b < count; ++b, x += 32, blocks += 34) {
    uint32_t largest = 0;
    for (int i = 0; i < 32; ++i) largest = magnitude(x[i]) > largest ? magnitude(x[i]) : largest;
    const bool is_finite = largest < INFINITE;
    const float d = is_finite ? bits_as<float>(largest) / 127 : __builtin_nanf("");
    const float inverse = is_finite ? inverse_of(d) : 0;
    write_half(blocks, d);
    for (int i = 0; i < 32; ++i) {
      // Half away from 0: the part behind the point is exact.
      float size = is_finite ? bits_as<float>(magnitude(x[i])) * inverse : 0;
      int whole = static_cast<int>(size);
      whole += size - static_cast<float>(whole) >= 0.5f;
      blocks[2 + i] = static_cast<uint8_t>(x[i] < 0 ? -whole : whole);
    }
  }
}

void quantize_q4_0(int64_t count, uint8_t* blocks, const float* x) {
  for (int64_t b = 0; b < count; ++b, x += 32, blocks += 18) {
    int first = 0;  // the place of the largest magnitude
    for (int i = 1; i < 32; ++i)
      if (magnitude(x[i]) > magnitude(x[first])) first = i;
    const bool is_finite = magnitude(x[first]) < INFINITE;
    const float d = is_finite ? x[first] / -8 : __builtin_nanf("");
    const float inverse = is_finite ? inverse_of(d) : 0;
    write_half(blocks, d);
    uint8_t codes[32];
    for (int i = 0; i < 32; ++i) {
      // One rounding to float32, as a fused multiply-add has.
      double place = is_finite ? static_cast<double>(x[i]) * static_cast<double>(inverse) : -8;
      int code = static_cast<int>(static_cast<float>(place + 8.5));
      codes[i] = static_cast<uint8_t>(code > 15 ? 15 : code);
    }
    for (int i = 0; i < 16; ++i)
      blocks[2 + i] = static_cast<uint8_t>(codes[i] | codes[16 + i] << 4);
  }
}

constexpr BlockKernels make_kernels() {
  BlockKernels kernels{};
  auto at = [&](BlockFormat format) -> BlockKernel& {
    return kernels.of[static_cast<int>(format)];
  };
  each_format([&](auto f) { at(f.format).dequantize = dequantize<decltype(f)>; });
  at(BlockFormat::q8_0).quantize = quantize_q8_0;
  at(BlockFormat::q4_0).quantize = quantize_q4_0;
  return kernels;
}

}  // namespace

extern constexpr BlockKernels block_kernels = make_kernels();

}  // namespace tessella::TS_ISA
