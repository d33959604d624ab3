// Elementwise kernels of float32 and float64.
#include "elementwise_loops.h"

namespace tessella::TS_ISA {

extern const ElementwiseFill fill_floats = [](ElementwiseTable& table) {
  fill<float>(table);
  fill<double>(table);
};

}  // namespace tessella::TS_ISA
