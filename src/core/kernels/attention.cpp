// Rows of scores are in L1 when they come here, and are read twice: for the greatest, then for the
// exponentials. A score of -infinity has weight 0, also where there is no other yet.
#include "attention.h"

#include "../simd/maths.h"
#include "../simd/shuffle.h"
#include "elements.h"

namespace tessella::TS_ISA {

namespace {

// Lane l becomes what f makes of all lanes of vector l, by halves: lane i with lane i + SIZE, for
// halving SIZE. Lanes change places in registers: halves that are copied by address would keep
// vectors in memory.
template <int SIZE, class V, class F>
TS_INLINE V join_rows(V* rows, F f) {
  constexpr int N = lanes<V>;
  if constexpr (SIZE == 0) {
    return rows[0];
  } else {
    BitsOf<V> low, high;
    for (int l = 0; l < N; ++l) {
      low[l] = l & SIZE ? N + l - SIZE : l;
      high[l] = l & SIZE ? N + l : l + SIZE;
    }
#pragma GCC unroll 8
    for (int i = 0; i < SIZE; ++i)
      rows[i] = f(shuffle(rows[i], rows[i + SIZE], low), shuffle(rows[i], rows[i + SIZE], high));
    return join_rows<SIZE / 2>(rows, f);
  }
}
template <class V>
TS_INLINE V greatest_of(V* rows) {
  return join_rows<lanes<V> / 2>(rows, TS_LAMBDA(greater));
}
template <class V>
TS_INLINE V sums_of(V* rows) {
  return join_rows<lanes<V> / 2>(rows,
                                 [](V x, V y) __attribute__((always_inline)) { return x + y; });
}

// exp(x) for x <= 0, or not much above; NaN stays NaN.
template <class V>
TS_INLINE V weight_of(V x) {
  if constexpr (VB < 64) x = greater(splat<V>(exp_vanishes<V>), x);
  if constexpr (same_type<Lane<V>, float>) {
    const V shift = splat<V>(integer_shift<V>);
    const V k = fma(x, splat<V>(0x1.715476p+0f), shift) - shift;  // 1 / ln 2
    const V r = fma(k, splat<V>(-kLn2F[1]), fma(k, splat<V>(-kLn2F[0]), x));
    return scale(splat<V>(1) + fma(r * r, polynomial(kExpF, r), r), k);
  } else {
    return simd::exp(x);
  }
}

template <bool B>
struct Truth {
  static constexpr bool value = B;
};

template <class T>
struct Attention {
  using V = Vec<T>;
  static constexpr int W = lanes<V>;
  static constexpr T HIDDEN = -__builtin_inff();
  static_assert(ATTENTION_LANES % W == 0);

  enum class Masks { none, added, replacing };
  template <Masks M>
  struct Choice {
    static constexpr Masks value = M;
  };

  // The first lanes of x, the others a number.
  TS_INLINE V first_of(V x, int64_t count, T other = 0) {
    MaskOf<V> places;
    for (int i = 0; i < W; ++i) places[i] = i;
    return select(places < splat<MaskOf<V>>((Lane<MaskOf<V>>)count), x, splat<V>(other));
  }

  // One row of a tile. SEES: some keys do not count for some rows.
  template <Masks M, bool SEES>
  struct Row {
    T* scores;
    const T* added;
    V scale;
    int64_t n;  // keys that count

    Row(const AttentionScores& tile, int64_t r)
        : scores(static_cast<T*>(tile.scores) + r * tile.row),
          added(M == Masks::none ? nullptr : static_cast<const T*>(tile.added) + r * tile.row),
          scale(splat<V>((T)tile.scale)),
          n(tile.cols) {
      if (!SEES) return;
      int64_t seen = tile.seen[r] - tile.key;
      n = seen < 0 ? 0 : seen < n ? seen : n;
    }

    // PART: keys from n on do not count.
    template <bool PART>
    __attribute__((always_inline)) V score(int64_t j) const {
      V x = load<V>(scores + j) * scale;
      if constexpr (M == Masks::added) x = x + load<V>(added + j);
      if constexpr (M == Masks::replacing) {
        V other = load<V>(added + j);
        x = select(other == V{}, x, other);
      }
      return PART ? kept(j, x, HIDDEN) : x;
    }

    // x where keys count, else a number.
    __attribute__((always_inline)) V kept(int64_t j, V x, T other) const {
      return first_of(x, n - j, other);
    }

    // of(j, whether it is a part) for the vectors of a row of `cols`.
    template <class F>
    static __attribute__((always_inline)) void each(int64_t cols, F of) {
      int64_t j = 0;
      if (!SEES)
        for (; j + W <= cols; j += W) of(j, Truth<false>{});
      for (; j < cols; j += W) of(j, Truth<true>{});
    }
  };

  // What is subtracted from scores: not -infinity, from which nothing can be.
  TS_INLINE V base_of(V most) { return select(most == splat<V>(HIDDEN), V{}, most); }

  TS_INLINE void multiply_row(T* out, int64_t width, T factor) {
    const V by = splat<V>(factor);
    int64_t j = 0;
    for (; j + W <= width; j += W) store(out + j, load<V>(out + j) * by);
    for (; j < width; ++j) out[j] *= factor;
  }

  // As many rows as a vector has lanes, or the last few of a tile: what there is one of for each
  // row is computed for all of them at once.
  template <Masks M, bool SEES>
  static void weigh_rows(const AttentionScores& tile, const AttentionSums& sums) {
    for (int64_t first = 0; first < tile.rows; first += W)
      weigh_group<M, SEES>(tile, sums, first, tile.rows - first < W ? tile.rows - first : W);
  }

  template <Masks M, bool SEES>
  TS_INLINE void weigh_group(const AttentionScores& tile, const AttentionSums& sums, int64_t first,
                             int64_t count) {
    using R = Row<M, SEES>;
    T *mosts = static_cast<T*>(sums.most) + first, *totals = static_cast<T*>(sums.sum) + first;
    V each[W] = {};
    for (int64_t r = 0; r < count; ++r) {
      const R row(tile, first + r);
      V top = splat<V>(HIDDEN);
      R::each(tile.cols, [&](int64_t j, auto is_part) __attribute__((always_inline)) {
        V x = row.template score<is_part.value>(j);
        store(row.scores + j, x);
        top = greater(x, top);
      });
      each[r] = top;
    }
    const V before = load_first(mosts, count), most = greater(greatest_of(each), before);
    const V base = base_of(most);
    T bases[W];
    store(bases, base);
    for (int64_t r = 0; r < count; ++r) {
      T* scores = static_cast<T*>(tile.scores) + (first + r) * tile.row;
      const V own = splat<V>(bases[r]);
      V sum{};
      for (int64_t j = 0; j < tile.cols; j += W) {
        V e = weight_of(load<V>(scores + j) - own);
        store(scores + j, e);
        sum = sum + e;
      }
      each[r] = sum;
    }
    const V share = select(before == most, splat<V>(1), weight_of(before - base));
    const V total = load_first(totals, count) * share + sums_of(each);
    store_first(mosts, most, count);
    store_first(totals, total, count);
    if (sums.begins || !any(share != splat<V>(1))) return;
    for (int64_t r = 0; r < count; ++r)
      multiply_row(static_cast<T*>(sums.out) + (first + r) * sums.out_row, sums.width, share[r]);
  }

  TS_INLINE V load_first(const T* p, int64_t count) {
    return count == W ? load<V>(p) : load_partial<V>(p, (int)count);
  }
  TS_INLINE void store_first(T* p, V v, int64_t count) {
    count == W ? store(p, v) : store_partial(p, v, (int)count);
  }

  // of(masks, whether rows see different keys): the forms of a loop over rows.
  template <class F>
  TS_INLINE void choose(const AttentionScores& tile, F of) {
    auto with = [&](auto masks) __attribute__((always_inline)) {
      tile.seen ? of(masks, Truth<true>{}) : of(masks, Truth<false>{});
    };
    if (!tile.added) return with(Choice<Masks::none>{});
    tile.is_bool ? with(Choice<Masks::replacing>{}) : with(Choice<Masks::added>{});
  }

  static void weigh(const AttentionScores& tile, const AttentionSums& sums) {
    choose(tile, [&](auto masks, auto sees) { weigh_rows<masks.value, sees.value>(tile, sums); });
  }

  static void join(int64_t rows, const AttentionSums& sums, const AttentionSums& more) {
    auto *mosts = static_cast<T*>(sums.most), *totals = static_cast<T*>(sums.sum);
    auto *other_mosts = static_cast<T*>(more.most), *other_totals = static_cast<T*>(more.sum);
    for (int64_t r = 0; r < rows; ++r) {
      const V one = splat<V>(mosts[r]), two = splat<V>(other_mosts[r]), most = greater(one, two);
      const V base = base_of(most);
      const T share = weight_of(one - base)[0], other = weight_of(two - base)[0];
      T* out = static_cast<T*>(sums.out) + r * sums.out_row;
      const T* from = static_cast<const T*>(more.out) + r * more.out_row;
      for (int64_t j = 0; j < sums.width; ++j) out[j] = out[j] * share + from[j] * other;
      mosts[r] = most[0];
      totals[r] = totals[r] * share + other_totals[r] * other;
    }
  }

  static void multiply(int64_t rows, const AttentionSums& sums, const void* factors) {
    for (int64_t r = 0; r < rows; ++r)
      multiply_row(static_cast<T*>(sums.out) + r * sums.out_row, sums.width,
                   static_cast<const T*>(factors)[r]);
  }

  template <Masks M, bool SEES>
  static void slope_rows(const AttentionScores& tile, T* slopes, const T* most, const T* inverse,
                         const T* level) {
    using R = Row<M, SEES>;
    for (int64_t r = 0; r < tile.rows; ++r) {
      const R row(tile, r);
      T* own = slopes + r * tile.row;
      const V base = base_of(splat<V>(most[r])), by = splat<V>(inverse[r]);
      const V mean = splat<V>(level[r]);
      R::each(tile.cols, [&](int64_t j, auto is_part) __attribute__((always_inline)) {
        V weight = weight_of(row.template score<is_part.value>(j) - base) * by;
        V back = weight * (load<V>(own + j) - mean) * row.scale;
        store(row.scores + j, weight);
        store(own + j, is_part.value ? row.kept(j, back, 0) : back);
      });
    }
  }

  static void slope(const AttentionScores& tile, void* slopes, const void* most,
                    const void* inverse, const void* level) {
    choose(tile, [&](auto masks, auto sees) {
      slope_rows<masks.value, sees.value>(
          tile, static_cast<T*>(slopes), static_cast<const T*>(most),
          static_cast<const T*>(inverse), static_cast<const T*>(level));
    });
  }

  static void dots(int64_t rows, int64_t n, void* out, const void* x, int64_t x_row, const void* y,
                   int64_t y_row) {
    for (int64_t first = 0; first < rows; first += W) {
      int64_t count = rows - first < W ? rows - first : W;
      V each[W] = {};
      for (int64_t r = 0; r < count; ++r) {
        auto* a = static_cast<const T*>(x) + (first + r) * x_row;
        auto* b = static_cast<const T*>(y) + (first + r) * y_row;
        int64_t j = 0;
        for (; j + W <= n; j += W) each[r] = fma(load<V>(a + j), load<V>(b + j), each[r]);
        if (j < n) {
          V rest = load_partial<V>(a + j, (int)(n - j)) * load_partial<V>(b + j, (int)(n - j));
          each[r] = each[r] + first_of(rest, n - j);
        }
      }
      store_first(static_cast<T*>(out) + first, sums_of(each), count);
    }
  }

  static void read_mask(void* added, const AttentionMask& mask) {
    auto* to = static_cast<T*>(added);
    if (mask.is_bool) {
      auto* from = static_cast<const uint8_t*>(mask.mask);
      if (mask.col == 1)
        for (int64_t j = 0; j < mask.cols; ++j) to[j] = from[j] ? 0 : HIDDEN;
      else
        for (int64_t j = 0; j < mask.cols; ++j) to[j] = from[j * mask.col] ? 0 : HIDDEN;
    } else {
      auto* from = static_cast<const T*>(mask.mask);
      if (mask.col == 1)
        memcpy(to, from, sizeof(T) * (size_t)mask.cols);
      else
        for (int64_t j = 0; j < mask.cols; ++j) to[j] = from[j * mask.col];
    }
  }

  static constexpr AttentionKernel kernel = {read_mask, weigh, join, multiply, slope, dots};
};

}  // namespace

extern constexpr AttentionKernels attention_kernels = {Attention<float>::kernel,
                                                       Attention<double>::kernel};

}  // namespace tessella::TS_ISA
