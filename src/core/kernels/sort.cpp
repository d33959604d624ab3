// The tables of sorting kernels.
#include "sort.h"

#include "sort_columns.h"
#include "sort_keys.h"
#include "sort_quick.h"

namespace tessella::TS_ISA {

namespace {

static_assert(SORT_BLOCK == BLOCK_ROWS);

template <class W, class Keys>
constexpr void fill(SortKernel<W>& kernel, DType dtype) {
  if constexpr (sizeof(typename Keys::Bits) <= sizeof(W)) {
    kernel.encode[static_cast<int>(dtype)] = encode<W, Keys>;
    kernel.decode[static_cast<int>(dtype)] = decode<W, Keys>;
  }
}

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
  fill<W, BoolKeys>(kernel, DType::boolean);
  fill<W, IntegerKeys<int8_t, 0>>(kernel, DType::int8);
  fill<W, IntegerKeys<int16_t, 0>>(kernel, DType::int16);
  fill<W, IntegerKeys<int32_t, 0>>(kernel, DType::int32);
  fill<W, IntegerKeys<int64_t, 0>>(kernel, DType::int64);
  fill<W, IntegerKeys<int8_t, top_bit<int8_t>>>(kernel, DType::uint8);
  fill<W, IntegerKeys<int16_t, top_bit<int16_t>>>(kernel, DType::uint16);
  fill<W, IntegerKeys<int32_t, top_bit<int32_t>>>(kernel, DType::uint32);
  fill<W, IntegerKeys<int64_t, top_bit<int64_t>>>(kernel, DType::uint64);
  fill<W, FloatKeys<int16_t, 0x7c00>>(kernel, DType::float16);
  fill<W, FloatKeys<int16_t, 0x7f80>>(kernel, DType::bfloat16);
  fill<W, FloatKeys<int32_t, 0x7f800000>>(kernel, DType::float32);
  fill<W, FloatKeys<int64_t, 0x7ff0000000000000>>(kernel, DType::float64);
  return kernel;
}

}  // namespace

extern constexpr SortKernels sort_kernels = {make_kernel<int32_t>(), make_kernel<int64_t>()};

}  // namespace tessella::TS_ISA
