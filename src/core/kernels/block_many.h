// Products of blocks with many rows of x: the codes of some blocks of 16 rows are put side by side,
// four neighbours of a row at a time, so that each lane of a vector sums one row; then every row of
// x passes over them.
#pragma once

#include "block_coded.h"

namespace tessella::TS_ISA {

constexpr int PANEL = BLOCK_PANEL;
constexpr int TILE = 1024;  // numbers of a row at a time: the codes stay in L1

struct Tile {
  alignas(64) uint8_t codes[TILE / 4][PANEL][4];
  float scales[TILE / 32][PANEL], minima[TILE / 32][PANEL];
  int16_t factors[TILE / 16][PANEL][2];  // of runs, each twice
  int16_t pairs[TILE / 32][PANEL][2];    // of two runs: what the sums of x are multiplied with
};

struct ManyScratch {
  Tile tile;
  alignas(64) float sums[BLOCK_PANEL_ROWS][PANEL];
};

using EightWords = VecN<uint32_t, 8>;

// Rows become columns: the first `count` ones are written 4 * PANEL bytes apart.
TS_INLINE void turn_over(const EightWords (&rows)[8], void* to, int count = 8) {
#if defined(__AVX2__)
  __m256i pairs[8], quads[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32((__m256i)rows[i], (__m256i)rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32((__m256i)rows[i], (__m256i)rows[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      quads[i + 2 * j] = _mm256_unpacklo_epi64(pairs[i + j], pairs[i + j + 2]);
      quads[i + 2 * j + 1] = _mm256_unpackhi_epi64(pairs[i + j], pairs[i + j + 2]);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m256i low = _mm256_permute2x128_si256(quads[i], quads[i + 4], 0x20);
    __m256i high = _mm256_permute2x128_si256(quads[i], quads[i + 4], 0x31);
    memcpy((char*)to + i * 4 * PANEL, &low, sizeof low);
    if (count == 8) memcpy((char*)to + (i + 4) * 4 * PANEL, &high, sizeof high);
  }
#else
  for (int i = 0; i < count; ++i)
    for (int r = 0; r < 8; ++r) {
      uint32_t each = rows[r][i];
      memcpy((char*)to + i * 4 * PANEL + 4 * r, &each, sizeof each);
    }
#endif
}

template <class F>
struct ManyRows {
  static constexpr int64_t bytes = info(F::format).bytes;
  static constexpr int RUNS = F::elements / F::run;  // of a block
  static constexpr int VECS = PANEL * 4 / VB;
  static constexpr int MOST_ROWS = VB == 64 ? 8 : VB == 32 ? 4 : 2;
  // The sums of so many quads fit into words.
  static constexpr int FITTING = 32767 / (2 * MOST_CODE * ((1 << F::bits) - 1));
  static constexpr int QUADS = F::run / 4;
  static constexpr int PART = FITTING < QUADS ? FITTING : QUADS;
  using W = Operand<F>;
  using B = VecN<uint8_t, VB>;
  using I = VecN<int32_t, VB / 4>;
  using V = VecN<float, VB / 4>;

  // Blocks from `first` on, `count` of them. Rows that there are not are the first one again.
  static void unpack(const BlockRows& w, int64_t first, int64_t count, Tile& tile) {
    for (int64_t b = 0; b < count; ++b) {
      fetch_early(w, first + b);
      for (int half = 0; half < PANEL; half += 8) {
        const uint8_t* at[8];
        for (int r = 0; r < 8; ++r)
          at[r] = w.blocks + (half + r < w.rows ? half + r : 0) * w.row_bytes + (first + b) * bytes;
        unpack_eight(at, b, half, tile);
      }
    }
  }

  // The rows that come next: see FewRows.
  static TS_MEMBER void fetch_early(const BlockRows& w, int64_t block) {
    const uint8_t* from = w.blocks + PANEL * (w.row_bytes + block * bytes);
    for (int64_t at = 0; at < PANEL * bytes; at += 64) __builtin_prefetch(from + at, 0, 2);
  }

  static TS_MEMBER void unpack_eight(const uint8_t* const (&at)[8], int64_t b, int half,
                                     Tile& tile) {
    EightWords rows[8];
#pragma GCC unroll 1
    for (int group = 0; group < F::elements / 32; ++group) {
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) rows[r] = (EightWords)W::turned(codes_of<F>(at[r], group));
      turn_over(rows, tile.codes[(b * (F::elements / 32) + group) * 8][half]);
    }
    store(tile.scales[b] + half, scales_of<F>(at));
    if constexpr (F::has_minima) store(tile.minima[b] + half, minima_of<F>(at));
    if constexpr (F::has_factors) {
      Factors factors[8];
      for (int r = 0; r < 8; ++r) factors[r] = F::factors(at[r]);
      for (int part = 0; part < RUNS; part += 8) {
        for (int r = 0; r < 8; ++r) rows[r] = doubled(factors[r], part);
        turn_over(rows, tile.factors[b * RUNS + part][half]);
      }
      for (int r = 0; r < 8; ++r) rows[r] = (EightWords)convert<VecN<int16_t, 16>>(factors[r]);
      // Behind the 8 factors of large blocks with minima are their weights.
      for (int r = 0; F::has_minima && r < 8; ++r) rows[r] = twice(high_half(rows[r]));
      turn_over(rows, tile.pairs[b * (RUNS / 2)][half], RUNS / 2);
    }
  }

  // Eight factors from number `part` on, each as two words.
  static TS_MEMBER EightWords doubled(Factors factors, int part) {
    auto words = convert<VecN<int16_t, 16>>(factors);
    auto each = part ? high_half(words) : low_half(words);
    return (convert<EightWords>(each) & 0xffff) * 0x10001;
  }

  template <class To>
  static TS_MEMBER To vector_at(const void* p, int v) {
    To out;
    memcpy(&out, (const char*)p + v * VB, VB);
    return out;
  }
  // Four bytes everywhere.
  template <class To>
  static TS_MEMBER To four(const void* p) {
    int32_t word;
    memcpy(&word, p, sizeof word);
    return (To)splat<I>(word);
  }

  // The sums of one run, added to `total` times their factors.
  template <int ROWS>
  static TS_MEMBER void add_run(const Tile& tile, int64_t run, const Coded<F>* x, int64_t first,
                                I (&total)[ROWS][VECS]) {
    const auto* codes = tile.codes[run * QUADS];
    // One quad: of(row, vector, codes of w, those of x). Rolled up where sums are plain additions,
    // which the compiler would put into another order, with more of them alive than registers.
    auto each = [&](int quad, auto of) __attribute__((always_inline)) {
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) {
        const B own = four<B>(x[r].codes + first + 4 * quad);
#pragma GCC unroll 4
        for (int v = 0; v < VECS; ++v) of(r, v, vector_at<B>(codes[quad * PANEL], v), own);
      }
    };
    if constexpr (W::is_signed || has_byte_dots) {
      I dots[ROWS][VECS] = {};
      if constexpr (W::is_signed) {
#pragma GCC unroll 1
        for (int quad = 0; quad < QUADS; ++quad)
          each(quad,
               [&](int r, int v, B w, B own) { dots[r][v] = add_signed_dots(dots[r][v], w, own); });
      } else {
#pragma GCC unroll 8
        for (int quad = 0; quad < QUADS; ++quad)
          each(quad, [&](int r, int v, B w, B own) { dots[r][v] = add_dots(dots[r][v], w, own); });
      }
#pragma GCC unroll 4
      for (int v = 0; v < VECS; ++v) {
        I factor{};
        if constexpr (F::has_factors) factor = vector_at<I>(tile.factors[run], v) << 16 >> 16;
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r)
          total[r][v] += F::has_factors ? dots[r][v] * factor : dots[r][v];
      }
    } else {
#pragma GCC unroll 4
      for (int part = 0; part < QUADS; part += PART) {
        Words<B> words[ROWS][VECS] = {};
#pragma GCC unroll 1
        for (int quad = part; quad < part + PART; ++quad)
          each(quad, [&](int r, int v, B w, B own) { words[r][v] += pair_sums(w, own); });
#pragma GCC unroll 4
        for (int v = 0; v < VECS; ++v) {
          auto factor = splat<Words<B>>(1);
          if constexpr (F::has_factors) factor = vector_at<Words<B>>(tile.factors[run], v);
#pragma GCC unroll 8
          for (int r = 0; r < ROWS; ++r) total[r][v] += word_sums(words[r][v], factor);
        }
      }
    }
  }

  // The sums of the codes of x in block b of the tile, times what the rows have for them.
  static TS_MEMBER I weighted(const Tile& tile, int64_t b, const int16_t* sums, int v) {
    I out{};
#pragma GCC unroll 8
    for (int i = 0; i < RUNS / 2; ++i)
      out += word_sums(vector_at<Words<B>>(tile.pairs[b * (RUNS / 2) + i], v),
                       four<Words<B>>(sums + 2 * i));
    return out;
  }

  // Adds `count` blocks from `first` on to the sums of ROWS rows of x.
  template <int ROWS>
  static void multiply(const Tile& tile, int64_t first, int64_t count, const Coded<F>* x,
                       float (*sums)[PANEL]) {
    V out[ROWS][VECS];
    for (int r = 0; r < ROWS; ++r)
      for (int v = 0; v < VECS; ++v) out[r][v] = vector_at<V>(sums[r], v);
    for (int64_t b = 0; b < count; ++b) {
      I total[ROWS][VECS] = {};
      const int64_t block = first + b;
#pragma GCC unroll 1
      for (int run = 0; run < RUNS; ++run)
        add_run<ROWS>(tile, b * RUNS + run, x, block * F::elements + run * F::run, total);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < VECS; ++v) add_block(tile, b, v, x[r], block, total[r][v], out[r][v]);
    }
    for (int r = 0; r < ROWS; ++r)
      for (int v = 0; v < VECS; ++v) store((float*)((char*)sums[r] + v * VB), out[r][v]);
  }

  // Adds block b of the tile, which is `block` of x, to the sums of a row; `sum` is its own.
  static TS_MEMBER void add_block(const Tile& tile, int64_t b, int v, const Coded<F>& x,
                                  int64_t block, I sum, V& out) {
    const V scale = splat<V>(x.scales[block]);
    const int16_t* own = x.sums + block * RUNS;
    if constexpr (!F::has_factors) sum -= W::offset * own[0];
    if constexpr (F::has_factors && F::offset != 0) sum -= weighted(tile, b, own, v) * F::offset;
    out += vector_at<V>(tile.scales[b], v) * scale * convert<V>(sum);
    if constexpr (F::has_minima) {
      const V minimum = vector_at<V>(tile.minima[b], v) * scale;
      if constexpr (F::has_factors)
        out += minimum * convert<V>(weighted(tile, b, own, v));
      else
        out += minimum * splat<V>((float)own[0]);
    }
  }

  template <int ROWS>
  static TS_MEMBER int64_t pass(const Tile& tile, int64_t first, int64_t count, const CodedRows& x,
                                int64_t k, int64_t m, float (*sums)[PANEL]) {
    for (; m + ROWS <= x.rows; m += ROWS) {
      Coded<F> rows[ROWS];
      for (int r = 0; r < ROWS; ++r) rows[r] = Coded<F>(x.data + (m + r) * x.stride, k);
      multiply<ROWS>(tile, first, count, rows, sums + m);
    }
    return m;
  }

  static void run(const BlockRows& w, const CodedRows& x, float* out, int64_t out_stride,
                  char* scratch) {
    auto& own = *reinterpret_cast<ManyScratch*>(scratch);
    memset(own.sums, 0, (size_t)x.rows * sizeof own.sums[0]);
    constexpr int64_t each = TILE / F::elements;
    const int64_t blocks = w.k / F::elements;
    for (int64_t first = 0; first < blocks; first += each) {
      const int64_t count = blocks - first < each ? blocks - first : each;
      unpack(w, first, count, own.tile);
      int64_t m = pass<MOST_ROWS>(own.tile, first, count, x, w.k, 0, own.sums);
      if constexpr (MOST_ROWS > 4) m = pass<4>(own.tile, first, count, x, w.k, m, own.sums);
      if constexpr (MOST_ROWS > 2) m = pass<2>(own.tile, first, count, x, w.k, m, own.sums);
      pass<1>(own.tile, first, count, x, w.k, m, own.sums);
    }
    for (int64_t m = 0; m < x.rows; ++m)
      for (int64_t r = 0; r < w.rows; ++r)
        out[m * out_stride + r] = w.bias ? own.sums[m][r] + w.bias[r] : own.sums[m][r];
  }
};

}  // namespace tessella::TS_ISA
