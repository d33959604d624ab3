// Keys of elements: signed integers of the element's size, in the elements' order. Every NaN has
// the greatest key, -0.0 and 0.0 have one. These are loops that the compiler vectorises.
#pragma once

#include "elements.h"
#include "sort.h"
#include "sort_network.h"

namespace tessella::TS_ISA {

template <class Bits>
constexpr Bits top_bit = static_cast<Bits>(uint64_t{1} << (8 * sizeof(Bits) - 1));

// Integers: of unsigned ones the top bit is exchanged.
template <class T, T Exchange>
struct IntegerKeys {
  using Bits = T;
  static T key(T bits) { return bits ^ Exchange; }
  static T bits(T key) { return key ^ Exchange; }
  static bool is_negative_zero(T) { return false; }
};

struct BoolKeys : IntegerKeys<int8_t, 0> {
  static int8_t key(int8_t bits) { return bits != 0; }
};

// Floats are sign and magnitude. `Infinity` has all bits of the exponent.
template <class T, T Infinity>
struct FloatKeys {
  using Bits = T;
  static T key(T bits) {
    T magnitude = bits & most<T>;
    T number = bits < 0 ? (T)-magnitude : magnitude;
    return magnitude > Infinity ? most<T> : number;
  }
  static T bits(T key) {
    T number = key < 0 ? (T)(-key | top_bit<T>) : key;
    return key == most<T> ? (T)(Infinity | Infinity >> 1) : number;
  }
  static bool is_negative_zero(T bits) { return bits == top_bit<T>; }
};

// Calls body(dtype, keys) for each dtype that has an order. The complex ones have none.
template <class F>
constexpr void for_each_keys(F body) {
  body(DType::boolean, BoolKeys{});
  body(DType::int8, IntegerKeys<int8_t, 0>{});
  body(DType::int16, IntegerKeys<int16_t, 0>{});
  body(DType::int32, IntegerKeys<int32_t, 0>{});
  body(DType::int64, IntegerKeys<int64_t, 0>{});
  body(DType::uint8, IntegerKeys<int8_t, top_bit<int8_t>>{});
  body(DType::uint16, IntegerKeys<int16_t, top_bit<int16_t>>{});
  body(DType::uint32, IntegerKeys<int32_t, top_bit<int32_t>>{});
  body(DType::uint64, IntegerKeys<int64_t, top_bit<int64_t>>{});
  body(DType::float16, FloatKeys<int16_t, 0x7c00>{});
  body(DType::bfloat16, FloatKeys<int16_t, 0x7f80>{});
  body(DType::float32, FloatKeys<int32_t, 0x7f800000>{});
  body(DType::float64, FloatKeys<int64_t, 0x7ff0000000000000>{});
}

template <class W, class Keys, class Columns>
TS_INLINE void encode_rows(int64_t rows, Columns columns, W* words, int64_t words_row,
                           const typename Keys::Bits* x, int64_t x_row, W flip, KeysFound* found) {
  W any = 0, all = -1, zeros = 0;
  for (int64_t i = 0; i < rows; ++i) {
    W* __restrict to = words + i * words_row;
    const typename Keys::Bits* __restrict from = x + i * x_row;
    for (int64_t j = 0; j < columns; ++j) {
      W word = (W)Keys::key(from[j]) ^ flip;
      any |= word;
      all &= word;
      zeros |= (W)Keys::is_negative_zero(from[j]);
      to[j] = word;
    }
  }
  *found = {(uint64_t)any, (uint64_t)all, zeros != 0};
}

template <int64_t N>
struct Constant {
  constexpr operator int64_t() const { return N; }
};

template <class W, class Keys>
KeysFound encode(int64_t rows, int64_t columns, W* words, int64_t words_row, const void* x,
                 int64_t x_row, W flip) {
  using Bits = typename Keys::Bits;
  constexpr Constant<64 / sizeof(W)> tile;
  auto* from = static_cast<const Bits*>(x);
  KeysFound found;
  if (words_row == columns && x_row == columns) {
    columns *= rows;
    rows = 1;
  }
  if (columns == tile)
    encode_rows<W, Keys>(rows, tile, words, words_row, from, x_row, flip, &found);
  else
    encode_rows<W, Keys>(rows, columns, words, words_row, from, x_row, flip, &found);
  return found;
}

template <class W, class Keys, class Columns>
TS_INLINE void decode_rows(int64_t rows, Columns columns, typename Keys::Bits* out, int64_t out_row,
                           const W* words, int64_t words_row, W flip) {
  using Bits = typename Keys::Bits;
  for (int64_t i = 0; i < rows; ++i) {
    const W* __restrict from = words + i * words_row;
    Bits* __restrict to = out + i * out_row;
    for (int64_t j = 0; j < columns; ++j) to[j] = Keys::bits((Bits)(from[j] ^ flip));
  }
}

template <class W, class Keys>
void decode(int64_t rows, int64_t columns, void* out, int64_t out_row, const W* words,
            int64_t words_row, W flip) {
  constexpr Constant<64 / sizeof(W)> tile;
  auto* to = static_cast<typename Keys::Bits*>(out);
  if (columns == tile)
    decode_rows<W, Keys>(rows, tile, to, out_row, words, words_row, flip);
  else
    decode_rows<W, Keys>(rows, columns, to, out_row, words, words_row, flip);
}

// --- numbers -------------------------------------------------------------------------------------

template <class W>
void pack(int64_t rows, int64_t columns, W* words, int64_t words_row, Packing packing,
          Number number, int64_t first) {
  const uint64_t row_step = number == Number::row, column_step = number == Number::column;
  for (int64_t i = 0; i < rows; ++i) {
    W* row = words + i * words_row;
    uint64_t value = (uint64_t)first + (uint64_t)i * row_step;
    for (int64_t j = 0; j < columns; ++j)
      row[j] = packed_word(row[j], packing, value + (uint64_t)j * column_step);
  }
}

template <class W>
void numbers(int64_t rows, int64_t columns, int64_t* out, int64_t out_row, const W* words,
             int64_t words_row, int bits) {
  const W mask = (W)(((uint64_t)1 << bits) - 1);
  for (int64_t i = 0; i < rows; ++i) {
    const W* from = words + i * words_row;
    int64_t* to = out + i * out_row;
    for (int64_t j = 0; j < columns; ++j) to[j] = (int64_t)(from[j] & mask);
  }
}

template <class W>
bool has_ties(int64_t n, const W* tile, int bits) {
  using U = typename IntegerOf<sizeof(W)>::unsigned_type;
  constexpr int64_t columns = 64 / sizeof(W);
  W found = 0;
  for (int64_t i = 0; i + 1 < n; ++i)
    for (int64_t j = 0; j < columns; ++j)
      found |= (U)(tile[i * columns + j] ^ tile[(i + 1) * columns + j]) >> bits == 0;
  return found != 0;
}

}  // namespace tessella::TS_ISA
