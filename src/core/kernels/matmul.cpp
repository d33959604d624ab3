// The table of matrix product kernels by dtype, with the packing and storing of each.
#include "matmul.h"

#include "matmul_compute.h"
#include "matmul_pack.h"
#include "matmul_store.h"

namespace tessella::TS_ISA {

template <class T, class S>
constexpr MatmulDtype real(const MatmulCompute& compute) {
  return {&compute, __is_same(T, S), 1, pack<T, S>, pack<T, S>, store_sums<T, S>};
}

template <class T>
constexpr MatmulDtype complex(const MatmulCompute& compute) {
  return {&compute, false, 2, pack_complex_a<T>, pack_complex_b<T>, store_complex<T>};
}

// In the order of DType. A signed integer of the compute width is the unsigned one.
extern const MatmulKernels matmul_kernels = {{
    {nullptr, false, 1, nullptr, nullptr, nullptr},
    real<uint32_t, int8_t>(matmul_uint32),
    real<uint32_t, int16_t>(matmul_uint32),
    real<uint32_t, uint32_t>(matmul_uint32),
    real<uint64_t, uint64_t>(matmul_uint64),
    real<uint32_t, uint8_t>(matmul_uint32),
    real<uint32_t, uint16_t>(matmul_uint32),
    real<uint32_t, uint32_t>(matmul_uint32),
    real<uint64_t, uint64_t>(matmul_uint64),
    real<float, Half>(matmul_float32),
    real<float, Bfloat>(matmul_float32),
    real<float, float>(matmul_float32),
    real<double, double>(matmul_float64),
    complex<float>(matmul_float32),
    complex<double>(matmul_float64),
}};

}  // namespace tessella::TS_ISA
