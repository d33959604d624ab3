// Binary searches, many side by side and in step: each waits for memory at every step, and together
// they wait at the same time. No branch depends on the elements.
#include "search.h"

#include "sort_keys.h"

namespace tessella::TS_ISA {

namespace {

constexpr int ABREAST = 16;

template <bool IsRight, class K>
TS_INLINE int64_t goes_before(K element, K key) {
  return IsRight ? element <= key : element < key;
}

// `Count` is ABREAST or fewer; a constant, where it can be.
template <class Keys, bool IsRight, class Count>
TS_INLINE void search_abreast(int64_t n, const typename Keys::Bits* sorted, Count count,
                              const typename Keys::Bits* x, int64_t* out) {
  using K = typename Keys::Bits;
  K keys[ABREAST];
  int64_t base[ABREAST];
  for (int64_t i = 0; i < count; ++i) {
    keys[i] = Keys::key(x[i]);
    base[i] = 0;
  }
  int64_t size = n;
  while (size > 1) {
    const int64_t half = size / 2;
    for (int64_t i = 0; i < count; ++i)
      base[i] += half * goes_before<IsRight>(Keys::key(sorted[base[i] + half - 1]), keys[i]);
    size -= half;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = base[i] + (n > 0 ? goes_before<IsRight>(Keys::key(sorted[base[i]]), keys[i]) : 0);
}

template <class Keys, bool IsRight>
void search_run(int64_t n, const void* sorted, int64_t count, const void* x, int64_t* out) {
  using K = typename Keys::Bits;
  auto* in = static_cast<const K*>(sorted);
  auto* wanted = static_cast<const K*>(x);
  int64_t i = 0;
  for (; i + ABREAST <= count; i += ABREAST)
    search_abreast<Keys, IsRight>(n, in, Constant<ABREAST>{}, wanted + i, out + i);
  if (i < count) search_abreast<Keys, IsRight>(n, in, count - i, wanted + i, out + i);
}

template <class Keys>
void search(int64_t n, const void* sorted, int64_t count, const void* x, int64_t* out,
            bool is_right) {
  is_right ? search_run<Keys, true>(n, sorted, count, x, out)
           : search_run<Keys, false>(n, sorted, count, x, out);
}

struct Fill {
  SearchKernels& kernels;
  template <class Keys>
  constexpr void operator()(DType dtype, Keys) const {
    kernels.search[static_cast<int>(dtype)] = search<Keys>;
  }
};

constexpr SearchKernels make_kernels() {
  SearchKernels kernels{};
  for_each_keys(Fill{kernels});
  return kernels;
}

}  // namespace

extern constexpr SearchKernels search_kernels = make_kernels();

}  // namespace tessella::TS_ISA
