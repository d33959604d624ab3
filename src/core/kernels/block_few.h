// Products of blocks with few rows of x: blocks are read where they lie, eight rows at a time, so
// that their sums over lanes and their scales share instructions. A vector of 32 bytes holds what
// belongs to a row in its first half, and what belongs to the fourth row after it in its second.
#pragma once

#include "block_coded.h"

namespace tessella::TS_ISA {

template <class F>
struct FewRows {
  static constexpr int ROWS = 8, PAIRS = 4;
  static constexpr int64_t FETCHED = 16 << 10;  // bytes from what is read to what is asked for
  static constexpr bool FETCHES = VB > 16;      // narrow vectors never wait for memory
  static constexpr int64_t bytes = info(F::format).bytes;
  using I = VecN<int32_t, ROWS>;
  using V = VecN<float, ROWS>;
  using X = Operand<F>;
  using W = Words<Codes>;
  using Rows = const uint8_t* const (&)[ROWS];

  // --- small blocks ---

  static TS_MEMBER I pair_dots(const uint8_t* p, const uint8_t* q, Codes first, Codes second) {
    const TwoBlocks codes = codes_of<F>(p, q);
    if constexpr (X::is_signed)
      return add_signed_dots(add_signed_dots(I{}, codes.first, first), codes.second, second);
    else if constexpr (has_byte_dots)
      return add_dots(add_dots(I{}, X::turned(codes.first), first), X::turned(codes.second),
                      second);
    else
      return word_sums(pair_sums(codes.first, first) + pair_sums(codes.second, second),
                       splat<W>(1));
  }

  static TS_MEMBER I small_sums(Rows at, const Coded<F>& x, int64_t b) {
    auto* codes = reinterpret_cast<const uint8_t*>(x.codes) + b * 32;
    const Codes first = twice(read_bytes<HalfCodes>(codes));
    const Codes second = twice(read_bytes<HalfCodes>(codes + 16));
    I dots[PAIRS];
#pragma GCC unroll 4
    for (int r = 0; r < PAIRS; ++r) dots[r] = pair_dots(at[r], at[r + PAIRS], first, second);
    I sums = sum_halves(dots);
    if constexpr (X::offset != 0) sums -= X::offset * x.sums[b];
    return sums;
  }

  // --- large blocks ---

  // Words that hold, in each half, the factors of what is in this half of the groups.
  static TS_MEMBER W factors_by_group(Factors factors) {
    const Factors each = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    const Factors turns = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
    return convert<W>(shuffle(factors, F::run == 32 ? each : turns));
  }

  // The factors of one group everywhere; or in turns of four words those of two groups.
  static TS_MEMBER W spread(W factors, int first, int second) {
    const auto a = (int16_t)first, b = (int16_t)second;
    const auto c = (int16_t)(8 + first), d = (int16_t)(8 + second);
    return shuffle(factors, W{a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d});
  }

  // Neighbouring sums as words, in turns of four.
  static TS_MEMBER W packed(I first, I second) {
#if defined(__AVX2__)
    return (W)_mm256_packs_epi32((__m256i)first, (__m256i)second);
#else
    return convert<W>(join(first, second));
#endif
  }

  // The sum of one block, in lanes.
  static TS_MEMBER I large_sum(const uint8_t* block, Factors factors, const Coded<F>& x,
                               int64_t b) {
    auto* codes = reinterpret_cast<const uint8_t*>(x.codes) + b * 256;
    const W own = factors_by_group(factors);
    I total{};
#pragma GCC unroll 4
    for (int group = 0; group < 8; group += 2) {
      const Codes first = codes_of<F>(block, group), second = codes_of<F>(block, group + 1);
      const auto x_first = read_bytes<Codes>(codes + 32 * group);
      const auto x_second = read_bytes<Codes>(codes + 32 * group + 32);
      if constexpr (has_byte_dots) {
        const W dots = packed(add_dots(I{}, first, x_first), add_dots(I{}, second, x_second));
        total = add_word_sums(total, dots, spread(own, group, group + 1));
      } else {
        total += word_sums(pair_sums(first, x_first), spread(own, group, group));
        total += word_sums(pair_sums(second, x_second), spread(own, group + 1, group + 1));
      }
    }
    if constexpr (F::offset != 0) {
      W sums;
      memcpy(&sums, x.sums + b * 16, sizeof sums);
      total -= word_sums(convert<W>(factors), sums) * F::offset;
    }
    return total;
  }

  static TS_MEMBER I large_sums(Rows at, const Factors (&factors)[ROWS], const Coded<F>& x,
                                int64_t b) {
    I sums[PAIRS];
#pragma GCC unroll 4
    for (int r = 0; r < PAIRS; ++r)
      sums[r] = add_halves(large_sum(at[r], factors[r], x, b),
                           large_sum(at[r + PAIRS], factors[r + PAIRS], x, b));
    return sum_halves(sums);
  }

  // The sums of the codes of x in a block, times the weights of the rows.
  static TS_MEMBER I weighted(const Factors (&factors)[ROWS], const int16_t* sums) {
    using Eight = VecN<int16_t, 8>;
    const Factors last = {8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31};
    Eight half;
    memcpy(&half, sums, sizeof half);
    const W of = twice(half);
    I each[PAIRS];
#pragma GCC unroll 4
    for (int r = 0; r < PAIRS; ++r)
      each[r] = word_sums(convert<W>(shuffle(factors[r], factors[r + PAIRS], last)), of);
    return sum_halves(each);
  }

  // --- both ---

  // The rows that come next, a part of them with each block of these: in the order of addresses,
  // which memory answers fastest, and into L2, as L1 can wait for few lines at a time.
  static TS_MEMBER void fetch_early(const uint8_t* next, int64_t b) {
    const uint8_t* from = next + b * (ROWS * bytes);
#pragma GCC unroll 32
    for (int64_t at = 0; at < ROWS * bytes; at += 64) __builtin_prefetch(from + at, 0, 2);
  }

  // Products of eight rows with one of x.
  template <bool Fetches>
  static TS_MEMBER V multiply(Rows rows, const uint8_t* next, const Coded<F>& x, int64_t blocks) {
    V out{};
    for (int64_t b = 0; b < blocks; ++b) {
      const uint8_t* at[ROWS];
      for (int r = 0; r < ROWS; ++r) at[r] = rows[r] + b * bytes;
      if constexpr (Fetches) fetch_early(next, b);
      const V scale = splat<V>(x.scales[b]);
      Factors factors[ROWS];
      I sums;
      if constexpr (F::has_factors) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r) factors[r] = F::factors(at[r]);
        sums = large_sums(at, factors, x, b);
      } else {
        sums = small_sums(at, x, b);
      }
      out += scales_of<F>(at) * scale * convert<V>(sums);
      if constexpr (F::has_minima) {
        const V minimum = minima_of<F>(at) * scale;
        if constexpr (F::has_factors)
          out += minimum * convert<V>(weighted(factors, x.sums + b * 8));
        else
          out += minimum * splat<V>((float)x.sums[b]);
      }
    }
    return out;
  }

  static void run(const BlockRows& w, const CodedRows& x, float* out, int64_t out_stride) {
    const int64_t step = ROWS * w.row_bytes, ahead = step > FETCHED ? step : FETCHED;
    for (int64_t n = 0; n < w.rows; n += ROWS) {
      const int count = w.rows - n < ROWS ? (int)(w.rows - n) : ROWS;
      const uint8_t* rows[ROWS];
      for (int r = 0; r < ROWS; ++r) rows[r] = w.blocks + (n + (r < count ? r : 0)) * w.row_bytes;
      for (int64_t m = 0; m < x.rows; ++m) {
        const Coded<F> own(x.data + m * x.stride, w.k);
        const int64_t blocks = w.k / F::elements;
        const uint8_t* next = w.blocks + n * w.row_bytes + ahead;
        const V found = FETCHES && m == 0 ? multiply<true>(rows, next, own, blocks)
                                          : multiply<false>(rows, next, own, blocks);
        float* to = out + m * out_stride + n;
        for (int r = 0; r < count; ++r) to[r] = w.bias ? found[r] + w.bias[n + r] : found[r];
      }
    }
  }
};

}  // namespace tessella::TS_ISA
