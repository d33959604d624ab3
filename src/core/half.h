// float16 and bfloat16 to float32 and back, one value at a time, rounding half to even.
// Branch-free, so that loops over it vectorise. Kernels that have hardware conversions use those:
// the bits are the same, but for the payload of a NaN.
#pragma once

#include <stdint.h>
#include <string.h>

namespace tessella {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

static inline uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float to_float(BFloat16 x) { return float_of_bits(uint32_t{x.bits} << 16); }

// The fields shifted into place have an exponent bias of 127 - 15 = 112 too little; the product
// is exact and normalises subnormals. The exponent 31 of Inf and NaN becomes 255.
static inline float to_float(Float16 x) {
  uint32_t magnitude = uint32_t{x.bits & 0x7fffu} << 13;
  uint32_t scaled = float_bits(float_of_bits(magnitude) * 0x1p112f);
  uint32_t special = magnitude >= 0x7c00u << 13 ? 0x7f800000u : 0u;
  return float_of_bits(scaled | special | uint32_t{x.bits & 0x8000u} << 16);
}

static inline void from_float(float x, BFloat16* out) {
  uint32_t bits = float_bits(x);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  uint32_t quiet = bits >> 16 | 0x40u;
  out->bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Below 2^-14 the result is subnormal with the unit 2^-24, which is the unit of 0.5f: adding 0.5f
// makes the hardware round there. From 65520 on, the half way to 2^16, the result is Inf.
static inline void from_float(float x, Float16* out) {
  uint32_t magnitude = float_bits(x) & 0x7fffffffu;
  uint32_t sign = (float_bits(x) ^ magnitude) >> 16;
  uint32_t small = float_bits(float_of_bits(magnitude) + 0.5f) - float_bits(0.5f);
  uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  uint32_t huge = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t finite = magnitude < 0x38800000u ? small : normal;
  out->bits = static_cast<uint16_t>(sign | (magnitude >= 0x477ff000u ? huge : finite));
}

}  // namespace tessella
