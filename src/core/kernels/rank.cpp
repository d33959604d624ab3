// Ranks a vector of keys at a time against every key, spread over the lanes.
#include "rank.h"

#include "../simd/vector.h"

namespace tessella::TS_ISA {

namespace {

template <class K>
void rank(int64_t n, K* ranks, const K* keys) {
  using V = Vec<K>;
  constexpr int width = lanes<V>;
  V lane;
  for (int i = 0; i < width; ++i) lane[i] = (K)i;
  for (int64_t first = 0; first < n; first += width) {
    const V mine = load<V>(keys + first);
    const int64_t last = first + width < n ? first + width : n;
    MaskOf<V> below{};  // minus the number of keys that go before
    for (int64_t j = 0; j < first; ++j) below += splat<V>(keys[j]) <= mine;
    for (int64_t j = first; j < last; ++j) {
      const V other = splat<V>(keys[j]);
      below += (other < mine) | ((other == mine) & (splat<V>((K)(j - first)) < lane));
    }
    for (int64_t j = last; j < n; ++j) below += splat<V>(keys[j]) < mine;
    store(ranks + first, bitcast<V>(-below));
  }
}

}  // namespace

const RankKernels rank_kernels = {rank<uint32_t>, rank<uint64_t>};

}  // namespace tessella::TS_ISA
