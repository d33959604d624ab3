// Distributions over the words of Philox. A tile of words is made in L1, then shaped into numbers.
// Every number is a function of the words of its group: one stream gives one sequence, however it
// is cut. Integers and uniform numbers are exact functions of the words, on every instruction set.
#include "random.h"

#include "../simd/maths.h"
#include "halves.h"
#include "philox.h"

namespace tessella::TS_ISA {

namespace {

constexpr int tile_words = 16 * group_words;

// Shape is called for whole groups: shape(words, n, numbers) makes n numbers of type T.
template <class T, int words_each, class Shape>
TS_INLINE void fill(const RandomSource& source, int64_t n, void* out, Shape shape) {
  constexpr int64_t tile = tile_words / words_each;
  constexpr int64_t group = group_words / words_each;
  alignas(64) uint32_t words[tile_words];
  alignas(64) T numbers[tile];
  uint64_t counter = source.counter;
  for (int64_t first = 0; first < n; first += tile) {
    const int64_t count = n - first < tile ? n - first : tile;
    const int64_t groups = (count + group - 1) / group;
    for (int64_t g = 0; g < groups; ++g, counter += group_counters)
      philox_group(source.key, counter, words + g * group_words);
    T* to = (T*)out + first;
    T* whole = count == tile ? to : numbers;
    shape(words, groups * group, whole);
    if (whole == numbers) memcpy(to, numbers, (size_t)count * sizeof(T));
  }
}

TS_INLINE uint64_t long_word(const uint32_t* words, int64_t i) {
  return words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
}

template <class V>
TS_INLINE V load_words(const uint32_t* words) {
  V v;
  memcpy(&v, words, sizeof v);
  return v;
}

template <class T>
void fill_bits(const RandomSource& source, int64_t n, void* out) {
  constexpr int words_each = sizeof(T) == 8 ? 2 : 1;
  fill<T, words_each>(source, n, out, [](const uint32_t* words, int64_t count, T* to) {
    if constexpr (sizeof(T) >= 4) {
      memcpy(to, words, (size_t)count * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = (T)words[i];
    }
  });
}

// `bits` random bits over 2^bits, exactly.
template <int bits>
TS_INLINE void uniform_run(const uint32_t* words, int64_t n, float* out) {
  constexpr float unit = 1.0f / (1 << bits);
  for (int64_t i = 0; i < n; ++i) out[i] = (float)(int32_t)(words[i] >> (32 - bits)) * unit;
}

void fill_uniform32(const RandomSource& source, int64_t n, void* out) {
  fill<float, 1>(source, n, out, [](const uint32_t* words, int64_t count, float* to) {
    uniform_run<24>(words, count, to);
  });
}

// An integer below 2^53 as a double. Its halves become the significands of numbers with the units 1
// and 2^32; the offsets that these bring cancel without rounding.
template <class U>
TS_INLINE VecN<double, lanes<U>> to_double(U x) {
  using V = VecN<double, lanes<U>>;
  const U low = (x & 0xffffffff) | bitcast<U>(splat<V>(0x1p52));
  const U high = x >> 32 | bitcast<U>(splat<V>(0x1p84));
  return bitcast<V>(high) - (0x1p84 + 0x1p52) + bitcast<V>(low);
}

void fill_uniform64(const RandomSource& source, int64_t n, void* out) {
  fill<double, 2>(source, n, out, [](const uint32_t* words, int64_t count, double* to) {
    using U = Vec<uint64_t>;
    for (int64_t i = 0; i < count; i += lanes<U>)
      store(to + i, to_double(load_words<U>(words + 2 * i) >> 11) * 0x1p-53);
  });
}

// sin(pi t / 2) / t and cos(pi t / 2) as polynomials in t * t for |t| <= 1/2, interpolated at
// Chebyshev's points: within 5e-9 and 5e-11 in float, 5e-18 and 4e-20 in double.
template <class T>
struct Quarter;
template <>
struct Quarter<float> {
  static constexpr float sine[] = {0x1.921fb6p+0f, -0x1.4abbbap-1f, 0x1.465ec4p-4f,
                                   -0x1.2d9b40p-8f};
  static constexpr float cosine[] = {0x1p+0f, -0x1.3bd3ccp+0f, 0x1.03c1dcp-2f, -0x1.55c57ap-6f,
                                     0x1.d9c2e8p-11f};
};
template <>
struct Quarter<double> {
  static constexpr double sine[] = {
      0x1.921fb54442d18p+0,  -0x1.4abbce625be41p-1,  0x1.466bc677587f8p-4, -0x1.32d2cce2e5b19p-8,
      0x1.50782fda12d96p-13, -0x1.e30071afc3e59p-19, 0x1.e3f38399551bfp-25};
  static constexpr double cosine[] = {
      0x1.0000000000000p+0,  -0x1.3bd3cc9be45dep+0,  0x1.03c1f081b5aacp-2,  -0x1.55d3c7e3c90f8p-6,
      0x1.e1f5068355e15p-11, -0x1.a6d1ec7906c20p-16, 0x1.f9cc41140bb60p-22, -0x1.b264ba152378ap-28};
};

// How far the angle is from the nearest quarter turn, in quarter turns: [-1/2, 1/2). The two bits
// on top of the word, rounded, are that quarter; the others are taken as a signed fraction.
template <class U>
TS_INLINE auto fraction_of_quarter(U word) {
  if constexpr (sizeof(Lane<U>) == 4) {
    return convert<VecN<float, lanes<U>>>(bitcast<MaskOf<U>>(word << 2)) * 0x1p-32f;
  } else {
    using V = VecN<double, lanes<U>>;
    const U shifted = (word << 2) ^ ((uint64_t)1 << 63);
    return (bitcast<V>(shifted >> 12 | bitcast<U>(splat<V>(0x1p52))) - 0x1.8p52) * 0x1p-52;
  }
}

// In (0, 1], never 0. In float small numbers keep all 32 bits, so that the tails reach 6.7.
template <class U>
TS_INLINE auto unit_interval(U word) {
  if constexpr (sizeof(Lane<U>) == 4) {
    return (convert<VecN<float, lanes<U>>>(word) + 0.5f) * 0x1p-32f;
  } else {
    return (to_double(word >> 11) + 0.5) * 0x1p-53;
  }
}

// Box and Muller: a point of the plane has a radius sqrt(-2 log u) and a uniform angle.
template <class U, class T>
TS_INLINE void normal_pair(U word, U angle, T* x, T* y) {
  using V = VecN<T, lanes<U>>;
  constexpr int top = 8 * sizeof(T) - 2;
  const V radius = simd::sqrt(simd::log(unit_interval(word)) * -2);
  const U quarter = (angle + ((Lane<U>)1 << (top - 1))) >> top;
  const V t = fraction_of_quarter(angle);
  const V s = t * polynomial(Quarter<T>::sine, t * t);
  const V c = polynomial(Quarter<T>::cosine, t * t);
  const MaskOf<V> is_odd = (quarter & 1) != 0;
  const U sine_sign = (quarter & 2) << top, cosine_sign = ((quarter + 1) & 2) << top;
  const V cosine = bitcast<V>(bitcast<U>(select(is_odd, s, c)) ^ cosine_sign);
  const V sine = bitcast<V>(bitcast<U>(select(is_odd, c, s)) ^ sine_sign);
  store(x, radius * cosine);
  store(y, radius * sine);
}

// The first half of a group's words gives radii, the second angles.
template <class T>
TS_INLINE void normal_run(const uint32_t* words, int64_t n, T* out) {
  using U = Vec<typename IntegerOf<sizeof(T)>::unsigned_type>;
  constexpr int numbers = group_words * 4 / sizeof(T);
  for (int64_t first = 0; first < n; first += numbers, words += group_words) {
    for (int i = 0; i < numbers / 2; i += lanes<U>) {
      const uint32_t* word = words + i * (int)sizeof(T) / 4;
      normal_pair(load_words<U>(word), load_words<U>(word + group_words / 2), out + first + i,
                  out + first + i + numbers / 2);
    }
  }
}

template <class T>
void fill_normal(const RandomSource& source, int64_t n, void* out) {
  fill<T, sizeof(T) / 4>(source, n, out, [](const uint32_t* words, int64_t count, T* to) {
    normal_run(words, count, to);
  });
}

template <class Half, class Run>
TS_INLINE void fill_half(const RandomSource& source, int64_t n, void* out, Run run) {
  fill<Half, 1>(source, n, out, [run](const uint32_t* words, int64_t count, Half* to) {
    alignas(64) float numbers[tile_words];
    run(words, count, numbers);
    narrow_run(count, to, numbers);
  });
}

// Halves take as many bits as their significand has, so that rounding changes nothing.
template <class Half, int bits>
void fill_uniform_half(const RandomSource& source, int64_t n, void* out) {
  fill_half<Half>(source, n, out, uniform_run<bits>);
}
template <class Half>
void fill_normal_half(const RandomSource& source, int64_t n, void* out) {
  fill_half<Half>(source, n, out, normal_run<float>);
}

// The high word of a 64-bit word times the range: each number of the range has a probability within
// 2^-64 of the right one.
TS_INLINE uint64_t scale_word(uint64_t word, uint64_t range) {
  return (uint64_t)((unsigned __int128)word * range >> 64);
}

template <class U>
TS_INLINE U scale_words(U word, uint32_t range) {
  const U factor = splat<U>(range);
  return (product_low(word >> 32, factor) + (product_low(word, factor) >> 32)) >> 32;
}

template <class T>
void fill_integers(const RandomSource& source, int64_t n, void* out) {
  const uint64_t low = source.low, range = source.range;
  fill<T, 2>(source, n, out, [=](const uint32_t* words, int64_t count, T* to) {
    using U = Vec<uint64_t>;
    if (range == 0) {
      for (int64_t i = 0; i < count; ++i) to[i] = (T)(low + long_word(words, i));
    } else if (range >> 32 != 0) {
      for (int64_t i = 0; i < count; ++i) to[i] = (T)(low + scale_word(long_word(words, i), range));
    } else {
      for (int64_t i = 0; i < count; i += lanes<U>) {
        const U scaled = scale_words(load_words<U>(words + 2 * i), (uint32_t)range) + low;
        const auto narrow = convert<VecN<T, lanes<U>>>(scaled);
        memcpy(to + i, &narrow, sizeof narrow);
      }
    }
  });
}

void fill_bernoulli(const RandomSource& source, int64_t n, void* out) {
  const uint32_t last = (uint32_t)(source.range - 1);
  const bool is_possible = source.range != 0;
  fill<uint8_t, 1>(source, n, out, [=](const uint32_t* words, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = is_possible & (words[i] <= last);
  });
}

}  // namespace

#define TS_INTEGERS(f) \
  f<int8_t>, f<int16_t>, f<int32_t>, f<int64_t>, f<uint8_t>, f<uint16_t>, f<uint32_t>, f<uint64_t>

// In the order of Distribution and DType.
const RandomKernels random_kernels = {{
    {nullptr, TS_INTEGERS(fill_bits)},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
     fill_uniform_half<Float16, 11>, fill_uniform_half<Bfloat16, 8>, fill_uniform32,
     fill_uniform64},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
     fill_normal_half<Float16>, fill_normal_half<Bfloat16>, fill_normal<float>,
     fill_normal<double>},
    {nullptr, TS_INTEGERS(fill_integers)},
    {fill_bernoulli},
}};

}  // namespace tessella::TS_ISA
