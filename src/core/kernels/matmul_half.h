// Elements as they lie in memory, and their conversion to and from the compute type.
// Half and Bfloat are bits only; arithmetic on them happens in float.
#pragma once

#include "matmul_simd.h"

namespace tessella::TS_ISA {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

inline float widen(Bfloat x) { return bits_as<float>(uint32_t(x.bits) << 16); }

// Moves the exponent and fraction into a float's places and multiplies by 2^(127-15), which also
// normalises subnormals; an exponent of all ones (inf, NaN) is set to all ones afterwards.
inline float widen(Half x) {
  uint32_t magnitude = uint32_t(x.bits & 0x7fff) << 13;
  float scaled = bits_as<float>(magnitude) * 0x1p112f;
  uint32_t bits = bits_as<uint32_t>(scaled) | (magnitude >= 0x0f800000 ? 0x7f800000 : 0);
  return bits_as<float>(bits | uint32_t(x.bits & 0x8000) << 16);
}

// Rounds to nearest even by adding just under half a unit, or half when the kept part is odd.
inline Bfloat narrow_bfloat(float x) {
  uint32_t bits = bits_as<uint32_t>(x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {uint16_t(x != x ? bits >> 16 | 0x40 : rounded)};
}

// Normal results round as bfloat does. Below 2^-14 the float sum with 0.5, whose unit is that of
// half subnormals (2^-24), leaves the rounded fraction in the low bits.
inline Half narrow_half(float x) {
  uint32_t bits = bits_as<uint32_t>(x);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t tiny = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000;
  uint32_t out = magnitude >= 0x38800000 ? normal : tiny;
  if (magnitude >= 0x477ff000) out = 0x7c00;  // 65520 and above round to infinity
  if (magnitude > 0x7f800000) out = 0x7e00;
  return {uint16_t(sign | out)};
}

// Element of S as T. Integers keep their value modulo 2^bits of T.
template <class T, class S>
inline T element_as(S x) {
  if constexpr (__is_same(S, Half) || __is_same(S, Bfloat))
    return widen(x);
  else
    return T(x);
}

template <class S, class T>
inline S element_from(T x) {
  if constexpr (__is_same(S, Half))
    return narrow_half(x);
  else if constexpr (__is_same(S, Bfloat))
    return narrow_bfloat(x);
  else
    return S(x);
}

template <class T, class S>
inline Native<T> load_as(const S* p) {
  if constexpr (__is_same(S, T)) {
    return load<Native<T>>(p);
  } else if constexpr (__is_same(S, Bfloat)) {
    auto wide = __builtin_convertvector(load<VecN<uint16_t, LANES<T>>>(p), Native<uint32_t>);
    return bits_as<Native<T>>(wide << 16);
#if defined(__AVX512F__)
  } else if constexpr (__is_same(S, Half)) {
    return _mm512_maskz_cvtph_ps(0xffff, load<__m256i>(p));
#elif defined(__F16C__)
  } else if constexpr (__is_same(S, Half)) {
    return _mm256_cvtph_ps(load<__m128i>(p));
#endif
  } else if constexpr (__is_same(S, Half)) {
    Native<T> v;
    for (int i = 0; i < LANES<T>; i++) v[i] = widen(p[i]);
    return v;
  } else {
    return __builtin_convertvector(load<VecN<S, LANES<T>>>(p), Native<T>);
  }
}

template <class T, class S>
inline Native<T> load_part_as(const S* p, int64_t count) {
  if constexpr (__is_same(S, T)) {
    return Part<T>(count).load(p);
  } else {
    S copy[LANES<T>] = {};
    for (int64_t i = 0; i < count; i++) copy[i] = p[i];
    return load_as<T>(copy);
  }
}

}  // namespace tessella::TS_ISA
