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

  // Blocks from `first` on, `count` of them; rows that there are not are zeros.
  static void unpack(const BlockRows& w, int64_t first, int64_t count, Tile& tile) {
    alignas(64) uint8_t lines[PANEL][32] = {};
    const uint8_t* from = w.blocks + first * bytes;
    for (int64_t b = 0; b < count; ++b, from += bytes) {
      for (int group = 0; group < F::elements / 32; ++group) {
        for (int64_t r = 0; r < w.rows; ++r)
          store(lines[r], W::turned(codes_of<F>(from + r * w.row_bytes, group)));
        auto* to = tile.codes[(b * (F::elements / 32) + group) * 8];
        for (int quad = 0; quad < 8; ++quad)
          for (int r = 0; r < PANEL; ++r) memcpy(to[quad * PANEL + r], lines[r] + 4 * quad, 4);
      }
      for (int r = 0; r < PANEL; ++r) {
        const bool is_there = r < w.rows;
        const uint8_t* block = from + (is_there ? r : 0) * w.row_bytes;
        tile.scales[b][r] = is_there ? scale_of<F>(block) : 0;
        if constexpr (F::has_minima) tile.minima[b][r] = is_there ? minimum_of<F>(block) : 0;
        if constexpr (F::has_factors) unpack_factors(block, b, r, tile);
      }
    }
  }

  static TS_MEMBER void unpack_factors(const uint8_t* block, int64_t b, int r, Tile& tile) {
    int8_t factors[16];
    store(factors, F::factors(block));
    const int8_t* weights = F::has_minima ? factors + 8 : factors;
    for (int i = 0; i < RUNS; ++i) {
      auto& each = tile.factors[b * RUNS + i][r];
      each[0] = each[1] = factors[i];
      tile.pairs[b * (RUNS / 2) + i / 2][r][i % 2] = weights[i];
    }
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
    if constexpr (W::is_signed || has_byte_dots) {
      I dots[ROWS][VECS] = {};
#pragma GCC unroll 8
      for (int quad = 0; quad < QUADS; ++quad)
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 4
          for (int v = 0; v < VECS; ++v) {
            B w = vector_at<B>(codes[quad * PANEL], v), y = four<B>(x[r].codes + first + 4 * quad);
            dots[r][v] =
                W::is_signed ? add_signed_dots(dots[r][v], w, y) : add_dots(dots[r][v], w, y);
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
#pragma GCC unroll 8
        for (int quad = part; quad < part + PART; ++quad)
#pragma GCC unroll 8
          for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < VECS; ++v)
              words[r][v] += pair_sums(vector_at<B>(codes[quad * PANEL], v),
                                       four<B>(x[r].codes + first + 4 * quad));
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
