// The counter-based generator Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): a keyed
// bijection of 128-bit counters, so that any part of the stream can be computed on its own. Here is
// the stream of 32-bit words; random.cpp and dropout.cpp shape words into numbers. The stream is
// cut into groups of 64 words, made from 16 counters: word 16 k + b of a group is word k of counter
// b's block. This order is the same for every vector width.
#pragma once

#include "../simd/vector.h"

namespace tessella::TS_ISA {

constexpr int group_words = 64;
constexpr int group_counters = 16;

// The product of the low 32 bits of each 64-bit lane.
template <class V>
TS_INLINE V product_low(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return (V)_mm512_maskz_mul_epu32(-1, (__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return (V)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 16) return (V)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
#if defined(__aarch64__)
  if constexpr (sizeof(V) == 16)
    return (V)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#endif
  return (a & 0xffffffff) * (b & 0xffffffff);
}

// Four words of as many counters as there are lanes. A word is the low half of its 64-bit lane; the
// high half holds what a product left there, and nothing reads it.
template <class V>
struct Block {
  V words[4];
};

template <class V>
TS_INLINE Block<V> round(const Block<V>& x, uint32_t key0, uint32_t key1) {
  const V a = product_low(x.words[0], splat<V>(0xD2511F53));
  const V b = product_low(x.words[2], splat<V>(0xCD9E8D57));
  return {(b >> 32) ^ x.words[1] ^ splat<V>(key0), b, (a >> 32) ^ x.words[3] ^ splat<V>(key1), a};
}

template <class V>
TS_INLINE void encipher(Block<V>& even, Block<V>& odd, uint64_t key) {
  uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
  for (int i = 0; i < 10; ++i) {
    even = round(even, key0, key1);
    odd = round(odd, key0, key1);
    key0 += 0x9E3779B9;  // the golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
}

// The group of the counters [counter, counter + 16), mod 2^64. Even and odd counters are enciphered
// apart: then the words of both fit together as the halves of 64-bit lanes, in counter order.
TS_INLINE void philox_group(uint64_t key, uint64_t counter, uint32_t* out) {
  using V = Vec<uint64_t>;
  constexpr int width = lanes<V>;
  V lane;
  for (int i = 0; i < width; ++i) lane[i] = (uint64_t)(2 * i);
  for (int first = 0; first < group_counters; first += 2 * width) {
    const V c = lane + (counter + (uint64_t)first);
    Block<V> even{{c, c >> 32, V{}, V{}}}, odd{{c + 1, (c + 1) >> 32, V{}, V{}}};
    encipher(even, odd, key);
    for (int k = 0; k < 4; ++k) {
      const V both = (even.words[k] & 0xffffffff) | odd.words[k] << 32;
      memcpy(out + k * group_counters + first, &both, sizeof both);
    }
  }
}

}  // namespace tessella::TS_ISA
