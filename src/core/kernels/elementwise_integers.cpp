// Elementwise kernels of bool and the integers.
#include "elementwise_loops.h"

namespace tessella::TS_ISA {

extern const ElementwiseFill fill_integers = [](ElementwiseTable& table) {
  fill<Boolean>(table);
  fill<int8_t>(table);
  fill<int16_t>(table);
  fill<int32_t>(table);
  fill<int64_t>(table);
  fill<uint8_t>(table);
  fill<uint16_t>(table);
  fill<uint32_t>(table);
  fill<uint64_t>(table);
};

}  // namespace tessella::TS_ISA
