// The block formats, and kernels from blocks to float32 and back. A matrix of (rows, k) numbers is
// rows of k / elements blocks, one behind the other; blocks lie at any address.
#pragma once

#include "isa.h"

namespace tessella {

enum class BlockFormat : uint8_t {
#define BLOCK(name, elements, bytes, is_made) name,
#include "blocks.def"
#undef BLOCK
};

struct BlockInfo {
  const char* name;
  int64_t elements, bytes;
  bool is_made;
};

constexpr BlockInfo BLOCKS[] = {
#define BLOCK(name, elements, bytes, is_made) {#name, elements, bytes, is_made},
#include "blocks.def"
#undef BLOCK
};
constexpr int BLOCK_FORMATS = sizeof BLOCKS / sizeof BLOCKS[0];

constexpr const BlockInfo& info(BlockFormat format) { return BLOCKS[static_cast<int>(format)]; }
constexpr int64_t row_bytes(BlockFormat format, int64_t k) {
  return k / info(format).elements * info(format).bytes;
}

struct BlockKernel {
  void (*dequantize)(int64_t count, float* out, const uint8_t* blocks);
  // Null where a format cannot be made. A block with a number that is not finite becomes NaN.
  void (*quantize)(int64_t count, uint8_t* blocks, const float* x);
};

struct BlockKernels {
  BlockKernel of[BLOCK_FORMATS];
};
TS_KERNELS(BlockKernels, block_kernels)

}  // namespace tessella
