// The table of elementwise kernels: for each opcode and element type one contiguous loop.
// Strides, broadcasting, halves and threads are the driver's (launch/elementwise.h).
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class Opcode : uint8_t {
#define UNARY(name, types, value) name,
#define BINARY(name, types, value) name,
#define TERNARY(name, types, value) name,
#define TEST(name, types, value) name,
#define COMPARE(name, types, value) name,
#include "elementwise.def"
};

struct OpcodeInfo {
  const char* name;
  int arity;
};

constexpr OpcodeInfo OPCODES[] = {
#define UNARY(name, types, value) {#name, 1},
#define BINARY(name, types, value) {#name, 2},
#define TERNARY(name, types, value) {#name, 3},
#define TEST(name, types, value) {#name, 1},
#define COMPARE(name, types, value) {#name, 2},
#include "elementwise.def"
};
constexpr int OPCODE_COUNT = sizeof OPCODES / sizeof OPCODES[0];

// out[i] = f(x[i], y[i], z[i]) for i < n, all contiguous; out may be x, y or z itself.
using ElementwiseFn = void (*)(int64_t n, void* out, const void* x, const void* y, const void* z);

struct ElementwiseKernel {
  ElementwiseFn fn;  // nullptr where the operation has no meaning for the dtype
  DType out;
};

// Indexed by the dtype of the operands. The kernels of halves read and write float32.
// `where` reads x as bool and is indexed by the dtype of y and z.
struct ElementwiseTable {
  ElementwiseKernel kernels[OPCODE_COUNT][DTYPE_COUNT];
  ElementwiseKernel& at(Opcode opcode, int dtype) {
    return kernels[static_cast<int>(opcode)][dtype];
  }
};

// How each ISA fills the table; the dtypes are split over files to keep them quick to compile.
using ElementwiseFill = void (*)(ElementwiseTable&);
TS_KERNELS(ElementwiseFill, fill_floats)
TS_KERNELS(ElementwiseFill, fill_integers)
TS_NARROW_KERNELS(ElementwiseFill, fill_complexes)

const ElementwiseTable& elementwise_table();  // of the chosen ISA

}  // namespace tessella
