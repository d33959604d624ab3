// Products of blocks with few rows of x: blocks are read where they lie, four rows at a time, so
// that their sums over lanes and their scales share instructions.
#pragma once

#include "block_coded.h"

namespace tessella::TS_ISA {

template <class F>
struct FewRows {
  static constexpr int ROWS = 4;
  static constexpr int64_t bytes = info(F::format).bytes;
  using I = VecN<int32_t, 8>;
  using I4 = VecN<int32_t, ROWS>;
  using F4 = VecN<float, ROWS>;
  using W = Operand<F>;

  // The factors of 32 codes, as many words.
  static TS_MEMBER Words<Codes> spread(Factors factors, int group) {
    Factors places = splat<Factors>((int8_t)group);
    if constexpr (F::run == 16) {
      const auto first = (int8_t)(2 * group), second = (int8_t)(2 * group + 1);
      places = Factors{first,  first,  first,  first,  first,  first,  first,  first,
                       second, second, second, second, second, second, second, second};
    }
    return convert<Words<Codes>>(__builtin_shuffle(factors, places));
  }

  // The sum of one block, still in lanes; `factors` are its own.
  static TS_MEMBER I block_sum(const uint8_t* block, Factors factors, const int8_t* codes,
                               const int16_t* sums) {
    I total{};
#pragma GCC unroll 8
    for (int group = 0; group < F::elements / 32; ++group) {
      auto x = read_bytes<Codes>(reinterpret_cast<const uint8_t*>(codes) + 32 * group);
      if constexpr (W::is_signed)
        total = add_signed_dots(total, W::codes(block, group), x);
      else if constexpr (!F::has_factors)
        total = add_dots(total, W::codes(block, group), x);
      else
        total += word_sums(pair_sums(W::codes(block, group), x), spread(factors, group));
    }
    if constexpr (F::has_factors && F::offset != 0) {
      Words<Codes> of;
      memcpy(&of, sums, sizeof of);
      total -= word_sums(convert<Words<Codes>>(factors), of) * F::offset;
    }
    return total;
  }

  // The float16 at one place of four blocks.
  static TS_MEMBER F4 halves(const uint8_t* const (&at)[ROWS], int64_t place) {
#if defined(__F16C__)
    VecN<uint16_t, 8> bits{};
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; ++r) {
      uint16_t each;
      memcpy(&each, at[r] + place, sizeof each);
      bits[r] = each;
    }
    return (F4)_mm_cvtph_ps((__m128i)bits);
#else
    F4 out{};
    for (int r = 0; r < ROWS; ++r) out[r] = half_at(at[r] + place);
    return out;
#endif
  }

  // Products of four rows with one of x.
  static TS_MEMBER F4 multiply(const uint8_t* const (&rows)[ROWS], int64_t row_bytes,
                               const Coded<F>& x, int64_t blocks) {
    F4 out{};
    for (int64_t b = 0; b < blocks; ++b) {
      const uint8_t* at[ROWS];
      I lanes[ROWS];
      Factors factors[ROWS];
#pragma GCC unroll 4
      for (int r = 0; r < ROWS; ++r) {
        at[r] = rows[r] + b * bytes;
        for (int64_t line = 0; line < bytes; line += 64)
          __builtin_prefetch(at[r] + ROWS * row_bytes + line);
        if constexpr (F::has_factors) factors[r] = F::factors(at[r]);
        lanes[r] = block_sum(at[r], factors[r], x.codes + b * F::elements,
                             x.sums + b * (F::elements / F::run));
      }
      I4 sum = sum_lanes(lanes);
      if constexpr (!F::has_factors && W::offset != 0) sum -= W::offset * x.sums[b];
      const F4 scale = splat<F4>(x.scales[b]);
      out += halves(at, F::scale_at) * scale * convert<F4>(sum);
      if constexpr (F::has_minima) {
        F4 minimum = halves(at, F::minimum_at) * scale;
        if constexpr (F::is_subtracted) minimum = -minimum;
        out += minimum * weighted(factors, x.sums, b);
      }
    }
    return out;
  }

  // The sums of the codes of x in a block, times the weights of four blocks.
  static TS_MEMBER F4 weighted(const Factors (&factors)[ROWS], const int16_t* sums, int64_t b) {
    if constexpr (F::has_factors) {
      using Eight = VecN<int16_t, 8>;
      Eight of;
      memcpy(&of, sums + b * 8, sizeof of);
      I4 each[ROWS];
#pragma GCC unroll 4
      for (int r = 0; r < ROWS; ++r)
        each[r] = word_sums(high_half(convert<Words<Codes>>(factors[r])), of);
      return convert<F4>(sum_lanes(each));
    } else {
      return splat<F4>((float)sums[b]);
    }
  }

  static void run(const BlockRows& w, const CodedRows& x, float* out, int64_t out_stride) {
    for (int64_t n = 0; n < w.rows; n += ROWS) {
      const int count = w.rows - n < ROWS ? (int)(w.rows - n) : ROWS;
      const uint8_t* rows[ROWS];
      for (int r = 0; r < ROWS; ++r) rows[r] = w.blocks + (n + (r < count ? r : 0)) * w.row_bytes;
      for (int64_t m = 0; m < x.rows; ++m) {
        const Coded<F> own(x.data + m * x.stride, w.k);
        F4 found = multiply(rows, w.row_bytes, own, w.k / F::elements);
        for (int r = 0; r < count; ++r)
          out[m * out_stride + n + r] = w.bias ? found[r] + w.bias[n + r] : found[r];
      }
    }
  }
};

}  // namespace tessella::TS_ISA
