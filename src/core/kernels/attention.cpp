// Rows of scores are in L1 when they come here, and are read twice: for the greatest, then for the
// exponentials. A score of -infinity has weight 0, also where there is no other yet.
#include "attention.h"

#include "../simd/maths.h"
#include "elements.h"

namespace tessella::TS_ISA {

namespace {

template <class V>
TS_INLINE Lane<V> join_greatest(V v) {
  if constexpr (lanes<V> == 1)
    return v[0];
  else
    return join_greatest(greater(low_half(v), high_half(v)));
}

template <class V>
TS_INLINE Lane<V> join_sum(V v) {
  if constexpr (lanes<V> == 1)
    return v[0];
  else
    return join_sum(low_half(v) + high_half(v));
}

template <class T>
struct Attention {
  using V = Vec<T>;
  static constexpr int W = lanes<V>;
  static constexpr T HIDDEN = -__builtin_inff();
  static_assert(ATTENTION_LANES % W == 0);

  enum class Masks { none, added, replacing };

  // One row of a tile.
  template <Masks M>
  struct Row {
    T* scores;
    const T* added;
    V scale;
    int64_t n;     // keys that count
    int64_t cols;  // rounded up to whole vectors

    Row(const AttentionScores& tile, int64_t r)
        : scores(static_cast<T*>(tile.scores) + r * tile.row),
          added(static_cast<const T*>(tile.added) + (tile.added ? r * tile.row : 0)),
          scale(splat<V>((T)tile.scale)),
          n(tile.cols),
          cols((tile.cols + W - 1) / W * W) {
      if (tile.seen && tile.seen[r] - tile.key < n) n = tile.seen[r] - tile.key;
      if (n < 0) n = 0;
    }

    __attribute__((always_inline)) V score(int64_t j) const {
      V x = load<V>(scores + j) * scale;
      if constexpr (M == Masks::added) x = x + load<V>(added + j);
      if constexpr (M == Masks::replacing) {
        V other = load<V>(added + j);
        x = select(other == V{}, x, other);
      }
      if (j + W > n) x = select(first(n - j), x, splat<V>(HIDDEN));
      return x;
    }

    static __attribute__((always_inline)) MaskOf<V> first(int64_t count) {
      MaskOf<V> index;
      for (int i = 0; i < W; ++i) index[i] = i;
      return index < splat<MaskOf<V>>((Lane<MaskOf<V>>)count);
    }

    void clear(T* row, int64_t from) const {
      for (int64_t j = from; j < cols; j += W) store(row + j, V{});
    }
  };

  TS_INLINE T exp_of(T x) { return simd::exp(splat<V>(x))[0]; }

  // What is subtracted from scores: not -infinity, from which nothing can be.
  TS_INLINE T base_of(T most) { return most == HIDDEN ? 0 : most; }

  TS_INLINE void multiply_row(T* out, int64_t width, T factor) {
    const V by = splat<V>(factor);
    int64_t j = 0;
    for (; j + W <= width; j += W) store(out + j, load<V>(out + j) * by);
    for (; j < width; ++j) out[j] *= factor;
  }

  template <Masks M>
  static void weigh_rows(const AttentionScores& tile, const AttentionSums& sums) {
    auto *mosts = static_cast<T*>(sums.most), *totals = static_cast<T*>(sums.sum);
    for (int64_t r = 0; r < tile.rows; ++r) {
      const Row<M> row(tile, r);
      if (row.n == 0) {
        row.clear(row.scores, 0);
        continue;
      }
      V top = splat<V>(HIDDEN);
      int64_t j = 0;
      for (; j < row.n; j += W) {
        V x = row.score(j);
        store(row.scores + j, x);
        top = greater(x, top);
      }
      const T before = mosts[r], found = join_greatest(top), most = found > before ? found : before;
      const T base = base_of(most);
      V sum{};
      for (j = 0; j < row.n; j += W) {
        V e = simd::exp(load<V>(row.scores + j) - splat<V>(base));
        store(row.scores + j, e);
        sum = sum + e;
      }
      row.clear(row.scores, j);
      const T share = before == most ? 1 : exp_of(before - base);
      mosts[r] = most;
      totals[r] = totals[r] * share + join_sum(sum);
      if (!sums.begins && share != 1)
        multiply_row(static_cast<T*>(sums.out) + r * sums.out_row, sums.width, share);
    }
  }

  static void weigh(const AttentionScores& tile, const AttentionSums& sums) {
    if (!tile.added) return weigh_rows<Masks::none>(tile, sums);
    tile.is_bool ? weigh_rows<Masks::replacing>(tile, sums) : weigh_rows<Masks::added>(tile, sums);
  }

  static void join(int64_t rows, const AttentionSums& sums, const AttentionSums& more) {
    auto *mosts = static_cast<T*>(sums.most), *totals = static_cast<T*>(sums.sum);
    auto *other_mosts = static_cast<T*>(more.most), *other_totals = static_cast<T*>(more.sum);
    for (int64_t r = 0; r < rows; ++r) {
      const T one = mosts[r], two = other_mosts[r], most = two > one ? two : one;
      const T base = base_of(most), share = exp_of(one - base), other = exp_of(two - base);
      T* out = static_cast<T*>(sums.out) + r * sums.out_row;
      const T* from = static_cast<const T*>(more.out) + r * more.out_row;
      for (int64_t j = 0; j < sums.width; ++j) out[j] = out[j] * share + from[j] * other;
      mosts[r] = most;
      totals[r] = totals[r] * share + other_totals[r] * other;
    }
  }

  static void multiply(int64_t rows, const AttentionSums& sums, const void* factors) {
    for (int64_t r = 0; r < rows; ++r)
      multiply_row(static_cast<T*>(sums.out) + r * sums.out_row, sums.width,
                   static_cast<const T*>(factors)[r]);
  }

  template <Masks M>
  static void slope_rows(const AttentionScores& tile, T* slopes, const T* most, const T* inverse,
                         const T* level) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      const Row<M> row(tile, r);
      T* own = slopes + r * tile.row;
      const V top = splat<V>(base_of(most[r])), by = splat<V>(inverse[r]),
              mean = splat<V>(level[r]);
      int64_t j = 0;
      for (; j < row.n; j += W) {
        V weight = simd::exp(row.score(j) - top) * by;
        V back = weight * (load<V>(own + j) - mean) * row.scale;
        if (j + W > row.n) {
          weight = select(row.first(row.n - j), weight, V{});
          back = select(row.first(row.n - j), back, V{});
        }
        store(row.scores + j, weight);
        store(own + j, back);
      }
      row.clear(row.scores, j);
      row.clear(own, j);
    }
  }

  static void slope(const AttentionScores& tile, void* slopes, const void* most,
                    const void* inverse, const void* level) {
    auto* own = static_cast<T*>(slopes);
    auto *top = static_cast<const T*>(most), *by = static_cast<const T*>(inverse);
    auto* mean = static_cast<const T*>(level);
    if (!tile.added) return slope_rows<Masks::none>(tile, own, top, by, mean);
    tile.is_bool ? slope_rows<Masks::replacing>(tile, own, top, by, mean)
                 : slope_rows<Masks::added>(tile, own, top, by, mean);
  }

  static void dots(int64_t rows, int64_t n, void* out, const void* x, int64_t x_row, const void* y,
                   int64_t y_row) {
    for (int64_t r = 0; r < rows; ++r) {
      auto *a = static_cast<const T*>(x) + r * x_row, *b = static_cast<const T*>(y) + r * y_row;
      V sum{};
      int64_t j = 0;
      for (; j + W <= n; j += W) sum = fma(load<V>(a + j), load<V>(b + j), sum);
      T total = join_sum(sum);
      for (; j < n; ++j) total += a[j] * b[j];
      static_cast<T*>(out)[r] = total;
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
