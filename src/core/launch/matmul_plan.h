// How one matrix product will be done: which operands are packed, where sums live, how c is cut.
// A function of shapes, strides and dtype alone.
#pragma once

#include "../integers.h"
#include "../kernels/matmul.h"
#include "matmul.h"

namespace tessella::launch {

// Small products are not planned, as that would cost as much as computing them: operands are read
// in place, b packed on the stack where its columns are not adjacent; the lines of a matrix that
// meets a vector are read along, or across where they are adjacent. Nothing but the way is set
// then.
enum class MatmulWay : uint8_t { in_place, turned, vector_along, vector_across, planned };

struct MatmulPlan {
  MatmulWay way;
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
  bool has_sums;  // finished sums pass through scratch, since c cannot hold them
  bool shares_b;  // b is packed by all threads before c is begun, `span` columns at once
  bool shares_a;  // and a is, so that blocks are cut from both sides
  int64_t span;
  int64_t rows, cols, depth;  // of one block: c is cut by rows and cols, k by depth
  int64_t row_blocks, col_blocks;
  int64_t batch_each;  // products in one chunk, when a product is one block
  int64_t chunks, ns_each;

  // Scratch: space shared by all workers, then some for each.
  int64_t shared_bytes, worker_bytes, sums_bytes;
  int64_t a_offset, b_offset, sums_offset;  // in a worker's space; what they hold is the path's

  int64_t scratch_bytes(int threads) const;
};

MatmulPlan plan_matmul(const MatmulTask& task);
// `scratch` is aligned to 64 bytes; `threads` is what it was sized for.
void matmul(const MatmulTask& task, const MatmulPlan& plan, void* scratch, int threads);

constexpr int64_t STACK_BYTES = 8 << 10;  // what small products use at most

// Byte offset of product `index` of the batch, for an operand with these batch strides.
int64_t batch_offset(const MatmulTask& task, const MatmulPlan& plan, const int64_t* strides,
                     int64_t index);

// The product with a vector: cut, sized and run apart from the others.
MatmulWay vector_way(const MatmulTask& task);
void run_small_vector(const MatmulTask& task, MatmulWay way);
void plan_vector(MatmulPlan& plan);
void run_vector(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads);

}  // namespace tessella::launch
