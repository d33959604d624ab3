// Numbers from blocks, and blocks from numbers. Products of scales and codes have few enough bits
// to be exact; so only the addition of a minimum rounds, whatever the instruction set.
#include "blocks.h"

#include "block_codes.h"

namespace tessella::TS_ISA {

namespace {

// Codes of a run as numbers.
template <class F>
TS_INLINE void spread(float* out, const uint8_t* codes, float scale, float minimum) {
  using V = Vec<float>;
  constexpr int W = lanes<V>;
  for (int i = 0; i < F::run; i += W) {
    const auto bytes = load<VecN<uint8_t, W>>(codes + i);
    MaskOf<V> whole;
    if constexpr (F::is_signed)
      whole = convert<MaskOf<V>>(convert<VecN<int16_t, W>>((VecN<int8_t, W>)bytes));
    else
      whole = (MaskOf<V>)resize<BitsOf<V>>(bytes) - F::offset;
    const V value = splat<V>(scale) * convert<V>(whole);
    store(out + i, F::has_minima ? value + splat<V>(minimum) : value);
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
        spread<F>(out, codes + i, own, base);
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

TS_INLINE uint32_t largest_of(const float* x) {
  uint32_t largest = 0;
  for (int i = 0; i < 32; ++i) largest = magnitude(x[i]) > largest ? magnitude(x[i]) : largest;
  return largest;
}

// A block that is NaN.
TS_INLINE void write_nan(uint8_t* block, int64_t bytes) {
  write_half(block, __builtin_nanf(""));
  memset(block + 2, 0, (size_t)bytes - 2);
}

void quantize_q8_0(int64_t count, uint8_t* blocks, const float* x) {
  for (int64_t b = 0; b < count; ++b, x += 32, blocks += 34) {
    const uint32_t largest = largest_of(x);
    if (largest >= INFINITE) {
      write_nan(blocks, 34);
      continue;
    }
    const float d = bits_as<float>(largest) / 127, inverse = inverse_of(d);
    write_half(blocks, d);
    for (int i = 0; i < 32; ++i) {
      // Half away from 0: the part behind the point is exact.
      const float size = bits_as<float>(magnitude(x[i])) * inverse;
      int whole = static_cast<int>(size);
      whole += size - static_cast<float>(whole) >= 0.5f;
      blocks[2 + i] = static_cast<uint8_t>(x[i] < 0 ? -whole : whole);
    }
  }
}

void quantize_q4_0(int64_t count, uint8_t* blocks, const float* x) {
  for (int64_t b = 0; b < count; ++b, x += 32, blocks += 18) {
    const uint32_t largest = largest_of(x);
    if (largest >= INFINITE) {
      write_nan(blocks, 18);
      continue;
    }
    float first = 0;  // of those with the largest magnitude
    for (int i = 31; i >= 0; --i) first = magnitude(x[i]) == largest ? x[i] : first;
    const float d = first / -8;
    const double inverse = inverse_of(d);
    write_half(blocks, d);
    uint8_t codes[32];
    for (int i = 0; i < 32; ++i) {
      // One rounding to float32, as a fused multiply-add has.
      const float place = static_cast<float>(static_cast<double>(x[i]) * inverse + 8.5);
      const int code = static_cast<int>(place);
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
