// The drivers between numbers and blocks, and of products with blocks. Blocks are never expanded
// but for a tile at a time. The cut between threads is by rows of w, and a function of the shape.
#pragma once

#include "../kernels/block_products.h"
#include "operand.h"

namespace tessella::launch {

struct BlocksTask {
  BlockFormat format;
  DType dtype;    // of the numbers: a float
  int64_t count;  // blocks
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()
};

int64_t blocks_scratch_bytes(const BlocksTask& task);
void dequantize(const BlocksTask& task, char* out, const uint8_t* blocks, void* scratch);
void quantize(const BlocksTask& task, uint8_t* blocks, const char* x, void* scratch);

// x (m, k), w of blocks (n, k), bias (n); all contiguous, of float32 or float64.
struct BlockProductTask {
  BlockFormat format;
  DType dtype;
  int64_t m, n, k;
  const uint8_t* blocks;
  const char* bias;  // may be null
  bool is_exact;     // x is not made int8 first; float64 never is
  bool interruptible;
  int workers;
};

// out (m, n) = x @ w.T + bias
int64_t block_product_scratch_bytes(const BlockProductTask& task);
void block_product(const BlockProductTask& task, char* out, const char* x, void* scratch);

// out (m, k) = x @ w, where x is (m, n); neither bias nor int8
int64_t block_product_back_scratch_bytes(const BlockProductTask& task);
void block_product_back(const BlockProductTask& task, char* out, const char* x, void* scratch);

}  // namespace tessella::launch
