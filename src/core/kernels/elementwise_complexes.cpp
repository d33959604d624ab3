// Elementwise kernels of complex64 and complex128.
#include "elementwise_loops.h"

namespace tessella::TS_ISA {

extern const ElementwiseFill fill_complexes = [](ElementwiseTable& table) {
  fill<ComplexElement<float>>(table);
  fill<ComplexElement<double>>(table);
};

}  // namespace tessella::TS_ISA
