// Sums and products. Integers add and multiply as unsigned numbers: they wrap around.
#include "reduce_fold.h"
#include "reduce_complex.h"

namespace tessella::TS_ISA {

namespace {

struct Product : Unchanged {
  template <class T>
  static constexpr T identity = 1;
  template <class V>
  TS_INLINE V join(V a, V b) {
    return a * b;
  }
};

template <class Op>
constexpr ReduceFamily family() {
  ReduceFamily f{};
  f.kernel[static_cast<int>(DType::int64)] = fold_kernel<Op, uint64_t>;
  f.kernel[static_cast<int>(DType::uint64)] = fold_kernel<Op, uint64_t>;
  f.kernel[static_cast<int>(DType::float32)] = fold_kernel<Op, float>;
  f.kernel[static_cast<int>(DType::float64)] = fold_kernel<Op, double>;
  return f;
}

constexpr ReduceFamily products() {
  ReduceFamily f = family<Product>();
  f.kernel[static_cast<int>(DType::complex64)] = complex_product_kernel<float>;
  f.kernel[static_cast<int>(DType::complex128)] = complex_product_kernel<double>;
  return f;
}

}  // namespace

extern constexpr ReduceFamily reduce_sum = family<Sum>();
extern constexpr ReduceFamily reduce_prod = products();

}  // namespace tessella::TS_ISA
