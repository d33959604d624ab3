// The tables of sorting kernels.
#include "sort.h"

#include "sort_columns.h"
#include "sort_keys.h"
#include "sort_quick.h"

namespace tessella::TS_ISA {

namespace {

static_assert(SORT_BLOCK == BLOCK_ROWS);

template <class W>
struct Fill {
  SortKernel<W>& kernel;
  template <class Keys>
  constexpr void operator()(DType dtype, Keys) const {
    if constexpr (sizeof(typename Keys::Bits) <= sizeof(W)) {
      kernel.encode[static_cast<int>(dtype)] = encode<W, Keys>;
      kernel.decode[static_cast<int>(dtype)] = decode<W, Keys>;
    }
  }
};

template <class W>
constexpr SortKernel<W> make_kernel() {
  SortKernel<W> kernel{};
  kernel.block = block_words<W>;
  kernel.sort = sort_words<W>;
  kernel.part = part<W>;
  kernel.columns = sort_tile<W>;
  kernel.pack = pack<W>;
  kernel.numbers = numbers<W>;
  kernel.has_ties = has_ties<W>;
  for_each_keys(Fill<W>{kernel});
  return kernel;
}

}  // namespace

extern constexpr SortKernels sort_kernels = {make_kernel<int32_t>(), make_kernel<int64_t>()};

}  // namespace tessella::TS_ISA
