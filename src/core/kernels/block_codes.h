// How the formats hold their numbers: one struct for each, and the only place that knows. A number
// is scale * (code - offset) + minimum; of the larger blocks scale * factor * (code - offset) +
// minimum * weight, where each run of codes has an integer factor, and its weight if there are
// minima. Codes are read 32 at a time, in the order of the numbers.
#pragma once

#include "blocks.h"
#include "halves.h"
#include "lanes.h"

namespace tessella::TS_ISA {

using Codes = VecN<uint8_t, 32>;
using HalfCodes = VecN<uint8_t, 16>;
using Factors = VecN<int8_t, 16>;  // those of the runs of a block, and behind 8 of them 8 weights

template <class V>
TS_INLINE V read_bytes(const uint8_t* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}

// A float16 at any address.
TS_INLINE float half_at(const uint8_t* p) {
  uint16_t bits;
  memcpy(&bits, p, sizeof bits);
#if defined(__F16C__)
  return _cvtsh_ss(bits);
#else
  return widen(static_cast<Float16>(bits));
#endif
}

// 16 bytes: the low halves are the first 16 codes, the high ones the others.
TS_INLINE Codes nibbles(const uint8_t* p) {
  auto v = read_bytes<HalfCodes>(p);
  return __builtin_shufflevector(v & 15, v >> 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
                                 31);
}

// 32 bits, each as 16 or 0.
TS_INLINE Codes fifth_bits(const uint8_t* p) {
  uint32_t bits;
  memcpy(&bits, p, sizeof bits);
  const Codes places = {0,  0,  0,  0,  0,  0,  0,  0,  1,  1,  1,  1,  1,  1,  1,  1,
                        18, 18, 18, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19};
  const Codes each = (Codes)splat<VecN<uint64_t, 4>>(0x8040201008040201);
  Codes spread = __builtin_shuffle((Codes)splat<VecN<uint32_t, 8>>(bits), places);
  return (Codes)((spread & each) == each) & 16;
}

// Blocks of 32 with one scale.
struct Small {
  static constexpr int elements = 32, run = 32;
  static constexpr int scale_at = 0, minimum_at = 2;  // bytes from the begin of a block
  static constexpr bool has_factors = false, has_minima = false, is_subtracted = false;
};

struct Q8_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q8_0;
  static constexpr bool is_signed = true;  // codes are int8
  static constexpr int bits = 8, offset = 0;
  static TS_MEMBER Codes codes(const uint8_t* block, int) { return read_bytes<Codes>(block + 2); }
};

struct Q4_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q4_0;
  static constexpr bool is_signed = false;
  static constexpr int bits = 4, offset = 8;
  static TS_MEMBER Codes codes(const uint8_t* block, int) { return nibbles(block + 2); }
};

struct Q5_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q5_0;
  static constexpr bool is_signed = false;
  static constexpr int bits = 5, offset = 16;
  static TS_MEMBER Codes codes(const uint8_t* block, int) {
    return nibbles(block + 6) | fifth_bits(block + 2);
  }
};

struct SmallWithMinimum : Small {
  static constexpr bool has_minima = true;
  static constexpr bool is_signed = false;
  static constexpr int offset = 0;
};

struct Q4_1 : SmallWithMinimum {
  static constexpr BlockFormat format = BlockFormat::q4_1;
  static constexpr int bits = 4;
  static TS_MEMBER Codes codes(const uint8_t* block, int) { return nibbles(block + 4); }
};

struct Q5_1 : SmallWithMinimum {
  static constexpr BlockFormat format = BlockFormat::q5_1;
  static constexpr int bits = 5;
  static TS_MEMBER Codes codes(const uint8_t* block, int) {
    return nibbles(block + 8) | fifth_bits(block + 4);
  }
};

// Blocks of 256 whose runs of 32 have a factor and a weight of 6 bits each, packed into 12 bytes.
struct LargeWithMinimum {
  static constexpr int elements = 256, run = 32, offset = 0;
  static constexpr int scale_at = 0, minimum_at = 2;
  static constexpr bool has_factors = true, has_minima = true, is_signed = false;
  static constexpr bool is_subtracted = true;  // the minimum

  // The first four of each have bytes of their own, whose two upper bits are those of the last
  // four; the lower bits of these are nibbles of the last four bytes. The weights come last.
  static TS_MEMBER Factors factors(const uint8_t* block) {
    constexpr uint32_t SIX = 0x3f3f3f3f, FOUR = 0x0f0f0f0f, TWO = 0x30303030;
    uint32_t first, second, third;
    memcpy(&first, block + 4, 4);
    memcpy(&second, block + 8, 4);
    memcpy(&third, block + 12, 4);
    const uint64_t factors_high = (third & FOUR) | ((first >> 2) & TWO);
    const uint64_t weights_high = ((third >> 4) & FOUR) | ((second >> 2) & TWO);
    const VecN<uint64_t, 2> both = {(first & SIX) | factors_high << 32,
                                    (second & SIX) | weights_high << 32};
    return (Factors)both;
  }
};

struct Q4_K : LargeWithMinimum {
  static constexpr BlockFormat format = BlockFormat::q4_k;
  static constexpr int bits = 4;
  static TS_MEMBER Codes codes(const uint8_t* block, int group) {
    auto v = read_bytes<Codes>(block + 16 + group / 2 * 32);
    return group % 2 ? v >> 4 : v & 15;
  }
};

struct Q5_K : LargeWithMinimum {
  static constexpr BlockFormat format = BlockFormat::q5_k;
  static constexpr int bits = 5;
  static TS_MEMBER Codes codes(const uint8_t* block, int group) {
    auto v = read_bytes<Codes>(block + 48 + group / 2 * 32);
    auto high = read_bytes<Codes>(block + 16);  // bit `group` of each byte
    return (group % 2 ? v >> 4 : v & 15) | (((high >> group) & 1) << 4);
  }
};

// Runs of 16, with factors of 8 bits.
struct Q6_K {
  static constexpr BlockFormat format = BlockFormat::q6_k;
  static constexpr int elements = 256, run = 16, bits = 6, offset = 32;
  static constexpr int scale_at = 208, minimum_at = 0;
  static constexpr bool has_factors = true, has_minima = false, is_signed = false;
  static constexpr bool is_subtracted = false;
  static TS_MEMBER Codes codes(const uint8_t* block, int group) {
    const int half = group / 4, part = group % 4;
    auto low = read_bytes<Codes>(block + half * 64 + part % 2 * 32);
    auto high = read_bytes<Codes>(block + 128 + half * 32);
    return (part < 2 ? low & 15 : low >> 4) | (((high >> (2 * part)) & 3) << 4);
  }
  static TS_MEMBER Factors factors(const uint8_t* block) {
    return read_bytes<Factors>(block + 192);
  }
};

template <class F>
TS_INLINE float scale_of(const uint8_t* block) {
  return half_at(block + F::scale_at);
}
template <class F>
TS_INLINE float minimum_of(const uint8_t* block) {
  const float minimum = half_at(block + F::minimum_at);
  return F::is_subtracted ? -minimum : minimum;
}

// Calls of(format) for each of them.
template <class F>
constexpr void each_format(F of) {
  of(Q8_0{}), of(Q4_0{}), of(Q4_1{}), of(Q5_0{}), of(Q5_1{});
  of(Q4_K{}), of(Q5_K{}), of(Q6_K{});
}

}  // namespace tessella::TS_ISA
