// How the formats hold their numbers: one struct for each, and the only place that knows. A number
// is scale * (code - offset) + minimum; of the larger blocks scale * factor * (code - offset) +
// minimum * weight, where each run of codes has an integer factor, and its weight if there are
// minima. Codes are read 32 at a time, in the order of the numbers.
#pragma once

#include "../simd/shuffle.h"
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

TS_INLINE Codes join_codes(HalfCodes low, HalfCodes high) {
#if defined(__AVX2__)
  return (Codes)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)low), (__m128i)high, 1);
#else
  return join(low, high);
#endif
}

// Every byte moved by `places` to the left, or to the right where that is negative; what comes in
// from its neighbour is to be masked away.
TS_INLINE Codes shifted(Codes bytes, int places) {
  using Pairs = VecN<uint16_t, 16>;
  return (Codes)(places < 0 ? (Pairs)bytes >> -places : (Pairs)bytes << places);
}

// The first 16 codes of two blocks, and the others.
struct TwoBlocks {
  Codes first, second;
};

// Of two words of 32 bits the lower 16 bits, and the others, each bit as 16 or 0.
TS_INLINE TwoBlocks fifth_bits(const uint8_t* p, const uint8_t* q) {
  uint32_t bits[2];
  memcpy(bits, p, sizeof bits[0]);
  memcpy(bits + 1, q, sizeof bits[1]);
  const Codes first = {0,  0,  0,  0,  0,  0,  0,  0,  1,  1,  1,  1,  1,  1,  1,  1,
                       16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17};
  const Codes each = (Codes)splat<VecN<uint64_t, 4>>(0x8040201008040201);
  const auto both = (Codes)VecN<uint32_t, 8>{bits[0], 0, 0, 0, bits[1], 0, 0, 0};
  const Codes low = shuffle(both, first), high = shuffle(both, first + 2);
  return {(Codes)((low & each) == each) & 16, (Codes)((high & each) == each) & 16};
}

// Blocks of 32 with one scale. Codes of 4 bits are 16 bytes, whose lower halves are the first 16;
// fifth bits are a word of 32.
struct Small {
  static constexpr int elements = 32, run = 32;
  static constexpr int scale_at = 0, minimum_at = 2;  // bytes from the begin of a block
  static constexpr bool has_factors = false, has_minima = false, is_subtracted = false;
  static constexpr bool is_signed = false;  // codes are int8
  static constexpr int fifths_at = 0;
};

struct Q8_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q8_0;
  static constexpr bool is_signed = true;
  static constexpr int bits = 8, offset = 0, codes_at = 2;
};

struct Q4_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q4_0;
  static constexpr int bits = 4, offset = 8, codes_at = 2;
};

struct Q4_1 : Small {
  static constexpr BlockFormat format = BlockFormat::q4_1;
  static constexpr bool has_minima = true;
  static constexpr int bits = 4, offset = 0, codes_at = 4;
};

struct Q5_0 : Small {
  static constexpr BlockFormat format = BlockFormat::q5_0;
  static constexpr int bits = 5, offset = 16, codes_at = 6, fifths_at = 2;
};

struct Q5_1 : Small {
  static constexpr BlockFormat format = BlockFormat::q5_1;
  static constexpr bool has_minima = true;
  static constexpr int bits = 5, offset = 0, codes_at = 8, fifths_at = 4;
};

// The codes of two small blocks.
template <class F>
TS_INLINE TwoBlocks codes_of(const uint8_t* p, const uint8_t* q) {
  p += F::codes_at, q += F::codes_at;
  const Codes codes = join_codes(read_bytes<HalfCodes>(p), read_bytes<HalfCodes>(q));
  if constexpr (F::bits == 8)
    return {codes, join_codes(read_bytes<HalfCodes>(p + 16), read_bytes<HalfCodes>(q + 16))};
  if constexpr (F::bits == 4) return {codes & 15, codes >> 4};
  const int back = F::fifths_at - F::codes_at;
  const TwoBlocks fifths = fifth_bits(p + back, q + back);
  return {(codes & 15) | fifths.first, (codes >> 4) | fifths.second};
}

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
    return (group % 2 ? v >> 4 : v & 15) | (shifted(high, 4 - group) & 16);
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
    return (part < 2 ? low & 15 : low >> 4) | (shifted(high, 4 - 2 * part) & 48);
  }
  static TS_MEMBER Factors factors(const uint8_t* block) {
    return read_bytes<Factors>(block + 192);
  }
};

// 32 codes of a block.
template <class F>
TS_INLINE Codes codes_of(const uint8_t* block, int group) {
  if constexpr (F::has_factors) {
    return F::codes(block, group);
  } else {
    const TwoBlocks both = codes_of<F>(block, block);
    return join_codes(low_half(both.first), low_half(both.second));
  }
}

template <class F>
TS_INLINE float scale_of(const uint8_t* block) {
  return half_at(block + F::scale_at);
}
template <class F>
TS_INLINE float minimum_of(const uint8_t* block) {
  const float minimum = half_at(block + F::minimum_at);
  return F::is_subtracted ? -minimum : minimum;
}

// The float16 at one place of eight blocks.
using Eight = VecN<float, 8>;
TS_INLINE Eight halves_at(const uint8_t* const (&blocks)[8], int64_t place) {
#if defined(__F16C__)
  VecN<uint16_t, 8> bits{};
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) {
    uint16_t each;
    memcpy(&each, blocks[r] + place, sizeof each);
    bits[r] = each;
  }
  return (Eight)_mm256_cvtph_ps((__m128i)bits);
#else
  Eight out{};
  for (int r = 0; r < 8; ++r) out[r] = half_at(blocks[r] + place);
  return out;
#endif
}

template <class F>
TS_INLINE Eight scales_of(const uint8_t* const (&blocks)[8]) {
  return halves_at(blocks, F::scale_at);
}
template <class F>
TS_INLINE Eight minima_of(const uint8_t* const (&blocks)[8]) {
  const Eight minima = halves_at(blocks, F::minimum_at);
  return F::is_subtracted ? -minima : minima;
}

// Calls of(format) for each of them.
template <class F>
constexpr void each_format(F of) {
  of(Q8_0{}), of(Q4_0{}), of(Q4_1{}), of(Q5_0{}), of(Q5_1{});
  of(Q4_K{}), of(Q5_K{}), of(Q6_K{});
}

}  // namespace tessella::TS_ISA
