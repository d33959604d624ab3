// Sums of products of bytes, for vectors of any width: exact integers, by whatever instructions
// there are.
#pragma once

#include "../simd/vector.h"

namespace tessella::TS_ISA {

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr bool has_byte_dots = true;
#else
constexpr bool has_byte_dots = false;
#endif

template <class V>
using Words = VecN<int16_t, sizeof(V) / 2>;
template <class V>
using Sums = VecN<int32_t, sizeof(V) / 4>;

// Applies a function of two vectors to their halves, where no instruction is as wide.
template <class Out, class V, class F>
TS_INLINE Out by_halves(V a, V b, F of) {
  auto low = of(low_half(a), low_half(b)), high = of(high_half(a), high_half(b));
  Out out;
  memcpy(&out, &low, sizeof low);
  memcpy((char*)&out + sizeof low, &high, sizeof high);
  return out;
}

// Sums of two neighbouring products of unsigned bytes with signed ones, which must fit.
template <class V>
TS_INLINE Words<V> pair_sums(V codes, V signed_codes) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(V) == 64)
    return (Words<V>)_mm512_maddubs_epi16((__m512i)codes, (__m512i)signed_codes);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32)
    return (Words<V>)_mm256_maddubs_epi16((__m256i)codes, (__m256i)signed_codes);
#endif
#if defined(__SSSE3__)
  if constexpr (sizeof(V) == 16)
    return (Words<V>)_mm_maddubs_epi16((__m128i)codes, (__m128i)signed_codes);
#endif
  if constexpr (sizeof(V) > 16) {
    return by_halves<Words<V>>(codes, signed_codes, [](auto a, auto b) { return pair_sums(a, b); });
  } else {
    Words<V> out;
    for (int i = 0; i < lanes<Words<V>>; ++i)
      out[i] = (int16_t)(codes[2 * i] * (int8_t)signed_codes[2 * i] +
                         codes[2 * i + 1] * (int8_t)signed_codes[2 * i + 1]);
    return out;
  }
}

// Sums of two neighbouring products of words.
template <class W>
TS_INLINE Sums<W> word_sums(W a, W b) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(W) == 64) return (Sums<W>)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(W) == 32) return (Sums<W>)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(W) == 16) return (Sums<W>)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
  if constexpr (sizeof(W) > 16) {
    return by_halves<Sums<W>>(a, b, [](auto x, auto y) { return word_sums(x, y); });
  } else {
    Sums<W> out;
    for (int i = 0; i < lanes<Sums<W>>; ++i)
      out[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return out;
  }
}

// total + those
template <class W>
TS_INLINE Sums<W> add_word_sums(Sums<W> total, W a, W b) {
#if defined(__AVX512VNNI__)
  if constexpr (sizeof(W) == 32)
    return (Sums<W>)_mm256_dpwssd_epi32((__m256i)total, (__m256i)a, (__m256i)b);
#elif defined(__AVXVNNI__)
  if constexpr (sizeof(W) == 32)
    return (Sums<W>)_mm256_dpwssd_avx_epi32((__m256i)total, (__m256i)a, (__m256i)b);
#endif
  return total + word_sums(a, b);
}

// total + sums of four neighbouring products of unsigned bytes with signed ones.
template <class V>
TS_INLINE Sums<V> add_dots(Sums<V> total, V codes, V signed_codes) {
#if defined(__AVX512VNNI__)
  if constexpr (sizeof(V) == 64)
    return (Sums<V>)_mm512_dpbusd_epi32((__m512i)total, (__m512i)codes, (__m512i)signed_codes);
  if constexpr (sizeof(V) == 32)
    return (Sums<V>)_mm256_dpbusd_epi32((__m256i)total, (__m256i)codes, (__m256i)signed_codes);
#elif defined(__AVXVNNI__)
  if constexpr (sizeof(V) == 32)
    return (Sums<V>)_mm256_dpbusd_avx_epi32((__m256i)total, (__m256i)codes, (__m256i)signed_codes);
#endif
  return total + word_sums(pair_sums(codes, signed_codes), splat<Words<V>>(1));
}

// The same of two signed operands: |a| times b with the sign of a.
template <class V>
TS_INLINE Sums<V> add_signed_dots(Sums<V> total, V a, V b) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(V) == 64) {
    __mmask64 is_negative = _mm512_movepi8_mask((__m512i)a);
    __m512i turned = _mm512_mask_sub_epi8((__m512i)b, is_negative, __m512i{}, (__m512i)b);
    return add_dots(total, (V)_mm512_abs_epi8((__m512i)a), (V)turned);
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32)
    return add_dots(total, (V)_mm256_abs_epi8((__m256i)a),
                    (V)_mm256_sign_epi8((__m256i)b, (__m256i)a));
#endif
#if defined(__SSSE3__)
  if constexpr (sizeof(V) == 16)
    return add_dots(total, (V)_mm_abs_epi8((__m128i)a), (V)_mm_sign_epi8((__m128i)b, (__m128i)a));
#endif
  using S = VecN<int8_t, sizeof(V)>;
  S x = (S)a, y = (S)b;
  return add_dots(total, (V)(x < 0 ? -x : x), (V)(x < 0 ? -y : y));
}

// Both halves of a vector of 16 bytes.
template <class H>
TS_INLINE VecN<Lane<H>, 2 * lanes<H>> twice(H half) {
  static_assert(sizeof(H) == 16);
#if defined(__AVX2__)
  return (VecN<Lane<H>, 2 * lanes<H>>)_mm256_broadcastsi128_si256((__m128i)half);
#else
  return join(half, half);
#endif
}

// The halves of a and b added up: those of a are the first half of the result.
TS_INLINE VecN<int32_t, 8> add_halves(VecN<int32_t, 8> a, VecN<int32_t, 8> b) {
#if defined(__AVX2__)
  return (VecN<int32_t, 8>)_mm256_add_epi32(
      _mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x20),
      _mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x31));
#else
  return join(low_half(a) + high_half(a), low_half(b) + high_half(b));
#endif
}

// The sums of halves: of the first ones of the four vectors, then of the second ones.
TS_INLINE VecN<int32_t, 8> sum_halves(const VecN<int32_t, 8> (&of)[4]) {
#if defined(__AVX2__)
  __m256i low = _mm256_hadd_epi32((__m256i)of[0], (__m256i)of[1]);
  __m256i high = _mm256_hadd_epi32((__m256i)of[2], (__m256i)of[3]);
  return (VecN<int32_t, 8>)_mm256_hadd_epi32(low, high);
#else
  VecN<int32_t, 8> out{};
  for (int i = 0; i < 4; ++i)
    for (int l = 0; l < 4; ++l) out[i] += of[i][l], out[4 + i] += of[i][4 + l];
  return out;
#endif
}

}  // namespace tessella::TS_ISA
