// Elementwise kernels of float32 and float64, and which of them halves take.
#include "elementwise_loops.h"

namespace tessella::TS_ISA {

void fill_halves(ElementwiseTable& table) {
  for (auto& kernels : table.kernels) {
    const ElementwiseKernel& wide = kernels[static_cast<int>(DType::float32)];
    kernels[static_cast<int>(DType::float16)] = wide;
    kernels[static_cast<int>(DType::bfloat16)] = wide;
  }
#define HALF(name, dtype, value)                              \
  table.at(Opcode::name, static_cast<int>(DType::dtype)).fn = \
      binary_loop<op::name##_##dtype, float>;
#include "elementwise.def"
}

extern const ElementwiseFill fill_floats = [](ElementwiseTable& table) {
  fill<float>(table);
  fill<double>(table);
  fill_halves(table);
};

}  // namespace tessella::TS_ISA
