// The kernels of products with blocks, one row of a table for each format. Also compiled for
// processors with VNNI, in namespaces of their own.
#include "block_products.h"

#include "block_few.h"
#include "block_many.h"

namespace tessella::TS_ISA {

namespace {

constexpr BlockProductKernels make_kernels() {
  BlockProductKernels kernels{};
  kernels.scratch_bytes = sizeof(ManyScratch);
  each_format([&](auto f) {
    using F = decltype(f);
    kernels.of[static_cast<int>(F::format)] = {Coded<F>::bytes, code_row<F>, FewRows<F>::run,
                                               ManyRows<F>::run};
  });
  return kernels;
}

}  // namespace

extern constexpr BlockProductKernels block_product_kernels = make_kernels();

}  // namespace tessella::TS_ISA
