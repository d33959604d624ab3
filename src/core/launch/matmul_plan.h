// How one matrix product will be done: which operands are packed, where sums live, how c is cut.
// A function of shapes, strides and dtype alone. Used by launch/matmul*.cpp only.
#pragma once

#include "../kernels/matmul.h"
#include "matmul.h"

namespace tessella::launch {

struct MatmulPlan {
  const MatmulDtype* kind;
  const MatmulCompute* compute;
  // The task with rows and columns exchanged if that makes c's columns adjacent, and batch axes
  // folded into m where they continue its rows. Strides count elements of the dtype.
  int64_t m, n, k;
  int64_t a_row, a_k, b_k, b_col, c_row, c_col;
  const void* a;
  const void* b;
  void* c;
  const int64_t* a_batch;
  const int64_t* b_batch;
  const int64_t* c_batch;
  int batch_ndim;
  int64_t batch;  // number of products
  bool is_vector;
  int64_t parts, part_k;  // k is summed in so many parts of this length (the last may be shorter)
  bool shares_parts;      // by all threads

  bool packs_a, packs_b;
  bool has_sums;              // finished sums pass through scratch, since c cannot hold them
  bool shares_b;              // b is packed whole, by all threads, before c is begun
  int64_t rows, cols, depth;  // of one block: c is cut by rows and cols, k by depth
  int64_t row_blocks, col_blocks;
  int64_t batch_each;  // products in one chunk, when a product is one block
  int64_t chunks, ns_each;

  // Scratch: space shared by all workers, then some for each.
  int64_t shared_bytes, worker_bytes, sums_bytes;
  int64_t a_offset, b_offset, sums_offset;  // in a worker's space; what they hold is the path's
};

MatmulPlan plan_matmul(const MatmulTask& task);

// A small product whose operands can be read in place, in one call without scratch: planning it
// would cost as much as computing it.
bool is_immediate(const MatmulTask& task);

// Byte offset of product `index` of the batch, for an operand with these batch strides.
int64_t batch_offset(const MatmulTask& task, const MatmulPlan& plan, const int64_t* strides,
                     int64_t index);

// The product with a vector: cut, sized and run apart from the others.
bool is_immediate_vector(const MatmulTask& task);  // along lines of a small matrix, without scratch
void run_immediate_vector(const MatmulTask& task);
void plan_vector(MatmulPlan& plan);
void run_vector(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads);

constexpr int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }
constexpr int64_t align64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace tessella::launch
