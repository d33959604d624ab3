// Runs a planned matrix product. See matmul.h for what it promises, matmul_plan.h for the plan.
#include "matmul.h"

#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "blas.h"
#include "matmul_plan.h"

namespace tessella::launch {

namespace {

// The block of c that one chunk writes, with the first elements of its operands.
struct Block {
  const char* a;
  const char* b;
  char* c;
  int64_t m, n, k;
  char* sums = nullptr;  // where they pass through scratch
  // Packed already, or nullptr: b as all columns of its span, of which the block's begin at
  // `column`.
  const char* shared_b = nullptr;
  const char* shared_a = nullptr;
  int64_t span = 0, column = 0;
};

bool is_empty(const MatmulPlan& plan) {
  return plan.batch == 0 || plan.m == 0 || plan.n == 0 || plan.k == 0;
}

// k is 0: every sum is.
void fill_zeros(const MatmulTask& task, const MatmulPlan& plan) {
  int64_t item = itemsize(task.dtype);
  for (int64_t t = 0; t < plan.batch; t++) {
    char* c = static_cast<char*>(plan.c) + batch_offset(task, plan, plan.c_batch, t);
    for (int64_t i = 0; i < plan.m; i++)
      for (int64_t j = 0; j < plan.n; j++)
        memset(c + (i * plan.c_row + j * plan.c_col) * item, 0, size_t(item));
  }
}

// Columns [j, j + n) of the panels for ks [p, p + depth).
void pack_b(const MatmulPlan& plan, const char* b, int64_t item, int64_t j, int64_t n, int64_t p,
            int64_t depth, char* out) {
  const char* in = b + (p * plan.b_k + j * plan.b_col) * item;
  plan.kind->pack_b({out, in, plan.b_col, plan.b_k, n, depth, plan.compute->tile_cols, false});
}

void pack_a(const MatmulPlan& plan, const Block& block, int64_t item, int64_t p, int64_t depth,
            char* out) {
  const char* in = block.a + p * plan.a_k * item;
  plan.kind->pack_a({out, in, plan.a_row, plan.a_k, block.m, depth, plan.compute->tile_rows, true});
}

// Bytes of packed panels of `cols` columns for `depth` ks.
int64_t panel_bytes(const MatmulPlan& plan, int64_t cols, int64_t depth) {
  int64_t reals = plan.kind->reals, tile_cols = plan.compute->tile_cols;
  int64_t padded = ceil_div(cols * reals, tile_cols) * tile_cols;
  return padded * depth * reals * plan.compute->itemsize;
}

// Bytes of packed panels of `rows` rows for `depth` ks.
int64_t row_bytes(const MatmulPlan& plan, int64_t rows, int64_t depth) {
  return rows * depth * plan.kind->reals * plan.compute->itemsize;
}

MatmulBlock kernel_block(const MatmulPlan& plan, const Block& block, int64_t p, int64_t depth,
                         char* scratch, int64_t item) {
  int64_t reals = plan.kind->reals, tile_cols = plan.compute->tile_cols;
  MatmulBlock x{};
  x.m = block.m, x.n = block.n * reals, x.k = depth * reals;
  x.a = block.shared_a ? block.shared_a + row_bytes(plan, block.m, p)
        : plan.packs_a ? scratch + plan.a_offset
                       : block.a + p * plan.a_k * item;
  x.a_row = plan.a_row, x.a_k = plan.a_k;
  x.b = block.shared_b ? block.shared_b + panel_bytes(plan, block.span, p) +
                             panel_bytes(plan, block.column, depth)
        : plan.packs_b ? scratch + plan.b_offset
                       : block.b + p * plan.b_k * item;
  x.b_k = plan.packs_b ? tile_cols : plan.b_k;
  x.b_panel = plan.packs_b ? tile_cols * x.k : tile_cols;
  x.c = plan.has_sums ? block.sums : block.c;
  x.c_row = plan.has_sums ? x.n : plan.c_row * reals;
  x.resume = p > 0;
  return x;
}

void sum_block(const MatmulTask& task, const MatmulPlan& plan, const Block& block, char* scratch) {
  int64_t item = itemsize(task.dtype);
  for (int64_t p = 0; p < block.k; p += plan.depth) {
    int64_t depth = std::min(plan.depth, block.k - p);
    if (plan.packs_b && !plan.shares_b)
      pack_b(plan, block.b, item, 0, block.n, p, depth, scratch + plan.b_offset);
    if (plan.packs_a && !plan.shares_a)
      pack_a(plan, block, item, p, depth, scratch + plan.a_offset);
    MatmulBlock x = kernel_block(plan, block, p, depth, scratch, item);
    x.add = task.accumulate && !plan.has_sums;
    if (plan.packs_a)
      plan.compute->packed(x);
    else
      plan.compute->direct(x);
  }
}

void store_block(const MatmulTask& task, const MatmulPlan& plan, const Block& block) {
  plan.kind->store({block.c, plan.c_row, plan.c_col, block.sums, block.n * plan.kind->reals,
                    block.m, block.n, task.accumulate});
}

// c is contiguous, so the rows of a block, or its columns, are runs; and all of it, if it is wide.
void run_tail(const MatmulTask& task, const MatmulPlan& plan, const Block& block, int worker) {
  if (!task.tail) return;
  int64_t first = (block.c - static_cast<char*>(task.c.data)) / itemsize(task.dtype);
  bool has_rows = plan.c_col == 1;
  int64_t lines = has_rows ? block.m : block.n, length = has_rows ? block.n : block.m;
  int64_t step = has_rows ? plan.c_row : plan.c_col;
  if (step == length) length *= lines, lines = 1;
  for (int64_t i = 0; i < lines; ++i)
    task.tail->run(task.tail->context, first + i * step, length, worker);
}

void run_block(const MatmulTask& task, const MatmulPlan& plan, Block block, char* scratch,
               int worker) {
  block.sums = scratch + plan.sums_offset;
  sum_block(task, plan, block, scratch);
  if (plan.has_sums) store_block(task, plan, block);
  run_tail(task, plan, block, worker);
}

Block block_at(const MatmulTask& task, const MatmulPlan& plan, int64_t product, int64_t i,
               int64_t j) {
  int64_t item = itemsize(task.dtype);
  const char* a = static_cast<const char*>(plan.a);
  const char* b = static_cast<const char*>(plan.b);
  char* c = static_cast<char*>(plan.c);
  a += batch_offset(task, plan, plan.a_batch, product) + i * plan.a_row * item;
  b += batch_offset(task, plan, plan.b_batch, product) + j * plan.b_col * item;
  c += batch_offset(task, plan, plan.c_batch, product);
  c += (i * plan.c_row + j * plan.c_col) * item;
  int64_t rows = std::min(plan.rows, plan.m - i), cols = std::min(plan.cols, plan.n - j);
  return {a, b, c, rows, cols, plan.k};
}

void run_chunk(const MatmulTask& task, const MatmulPlan& plan, int64_t chunk, char* scratch,
               int worker) {
  int64_t j = chunk % plan.col_blocks * plan.cols;
  chunk /= plan.col_blocks;
  int64_t i = chunk % plan.row_blocks * plan.rows;
  int64_t first = chunk / plan.row_blocks * plan.batch_each;
  int64_t last = std::min(first + plan.batch_each, plan.batch);
  for (int64_t t = first; t < last; t++)
    run_block(task, plan, block_at(task, plan, t, i, j), scratch, worker);
}

// Packs a span of b, all panels of the first `depth` ks, then of the next; and a, if it is shared,
// each block of rows in this order.
void share(const MatmulTask& task, const MatmulPlan& plan, const Block& span, char* shared,
           int threads) {
  constexpr int64_t LEAST_PER_CHUNK = 1 << 15;  // elements
  constexpr int64_t PER_NS = 3;                 // packed
  int64_t item = itemsize(task.dtype), tile_cols = plan.compute->tile_cols / plan.kind->reals;
  int64_t cols = ceil_div(LEAST_PER_CHUNK, plan.depth * tile_cols) * tile_cols;
  int64_t groups = ceil_div(span.n, cols), depths = ceil_div(plan.k, plan.depth);
  auto body = [&](int64_t chunk, int) {
    int64_t p = chunk % depths * plan.depth, depth = std::min(plan.depth, plan.k - p);
    chunk /= depths;
    if (chunk >= groups) {
      int64_t i = (chunk - groups) * plan.rows;
      Block block = span;
      block.m = std::min(plan.rows, plan.m - i);
      block.a += i * plan.a_row * item;
      char* out = shared + plan.a_offset + row_bytes(plan, i, plan.k);
      return pack_a(plan, block, item, p, depth, out + row_bytes(plan, block.m, p));
    }
    int64_t j = chunk * cols;
    char* out = shared + panel_bytes(plan, span.n, p) + panel_bytes(plan, j, depth);
    pack_b(plan, span.b, item, j, std::min(cols, span.n - j), p, depth, out);
  };
  int64_t chunks = (groups + (plan.shares_a ? plan.row_blocks : 0)) * depths;
  parallel(chunks, cols * plan.depth / PER_NS, task.interruptible, body, threads,
           plan.chunks * plan.ns_each);
}

void run_shared(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads) {
  char* workers = scratch + plan.shared_bytes;
  for (int64_t t = 0; t < plan.batch; t++)
    for (int64_t j = 0; j < plan.n; j += plan.span) {
      Block span = block_at(task, plan, t, 0, j);
      span.n = std::min(plan.span, plan.n - j);
      share(task, plan, span, scratch, threads);
      auto body = [&](int64_t chunk, int worker) {
        int64_t i = chunk / plan.col_blocks * plan.rows,
                column = chunk % plan.col_blocks * plan.cols;
        Block block = block_at(task, plan, t, i, j + column);
        block.shared_b = scratch;
        if (plan.shares_a) block.shared_a = scratch + plan.a_offset + row_bytes(plan, i, plan.k);
        block.span = span.n, block.column = column;
        run_block(task, plan, block, workers + worker * plan.worker_bytes, worker);
      };
      parallel(plan.chunks, plan.ns_each, task.interruptible, body, threads);
    }
}

void sum_part(const MatmulTask& task, const MatmulPlan& plan, Block block, int64_t part, char* sums,
              char* scratch) {
  int64_t p = part * plan.part_k, item = itemsize(task.dtype);
  block.a += p * plan.a_k * item;
  block.b += p * plan.b_k * item;
  block.k = std::min(plan.part_k, plan.k - p);
  block.sums = sums;
  sum_block(task, plan, block, scratch);
}

// The threads share the parts of one product after another.
void run_parts(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads) {
  char* workers = scratch + plan.shared_bytes;
  int64_t count = plan.m * plan.n * plan.kind->reals;
  for (int64_t t = 0; t < plan.batch; t++) {
    Block block = block_at(task, plan, t, 0, 0);
    block.sums = scratch;
    auto body = [&](int64_t part, int worker) {
      char* sums = scratch + part * plan.sums_bytes;
      sum_part(task, plan, block, part, sums, workers + worker * plan.worker_bytes);
    };
    parallel(plan.parts, plan.ns_each, task.interruptible, body, threads);
    for (int64_t part = 1; part < plan.parts; part++)
      plan.compute->add(scratch, scratch + part * plan.sums_bytes, count);
    store_block(task, plan, block);
    run_tail(task, plan, block, 0);
  }
}

// The threads share the products; each sums all parts.
void run_apart(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads) {
  int64_t count = plan.m * plan.n * plan.kind->reals;
  auto body = [&](int64_t product, int worker) {
    char* mine = scratch + worker * plan.worker_bytes;
    Block block = block_at(task, plan, product, 0, 0);
    block.sums = mine + plan.sums_offset;
    char* more = block.sums + plan.sums_bytes;
    for (int64_t part = 0; part < plan.parts; part++) {
      sum_part(task, plan, block, part, part == 0 ? block.sums : more, mine);
      if (part > 0) plan.compute->add(block.sums, more, count);
    }
    store_block(task, plan, block);
    run_tail(task, plan, block, worker);
  };
  parallel(plan.batch, plan.ns_each, task.interruptible, body, threads);
}

// b's columns are not adjacent: they are packed first.
void run_turned(const MatmulTask& task) {
  const MatmulDtype& kind = matmul_kernels().of[int(task.dtype)];
  const MatmulCompute& compute = *kind.compute;
  alignas(64) char panels[STACK_BYTES];
  kind.pack_b({panels, task.b.data, task.b.col_stride, task.b.row_stride, task.n, task.k,
               compute.tile_cols, false});
  compute.direct({task.m, task.n, task.k, task.a.data, task.a.row_stride, task.a.col_stride, panels,
                  compute.tile_cols, compute.tile_cols * task.k, task.c.data, task.c.row_stride,
                  false, task.accumulate});
}

void run_small(const MatmulTask& task, MatmulWay way) {
  if (way == MatmulWay::turned) return run_turned(task);
  if (way != MatmulWay::in_place) return run_small_vector(task, way);
  const MatmulCompute& compute = *matmul_kernels().of[int(task.dtype)].compute;
  compute.direct({task.m, task.n, task.k, task.a.data, task.a.row_stride, task.a.col_stride,
                  task.b.data, task.b.row_stride, compute.tile_cols, task.c.data, task.c.row_stride,
                  false, task.accumulate});
}

// All of c, where it is small or was computed by others.
void run_whole_tail(const MatmulTask& task) {
  if (!task.tail) return;
  int64_t count = task.m * task.n;
  for (int i = 0; i < task.batch_ndim; ++i) count *= task.batch_shape[i];
  if (count) task.tail->run(task.tail->context, 0, count, 0);
}

}  // namespace

int64_t MatmulPlan::scratch_bytes(int threads) const {
  if (way != MatmulWay::planned || is_empty(*this)) return 0;
  return shared_bytes + worker_bytes * std::min<int64_t>(chunks, threads);
}

void matmul(const MatmulTask& task, const MatmulPlan& plan, void* scratch, int threads) {
  if (blas_matmul(task)) return run_whole_tail(task);
  if (plan.way != MatmulWay::planned) return run_small(task, plan.way), run_whole_tail(task);
  if (is_empty(plan)) {
    if (!task.accumulate) fill_zeros(task, plan);
    return run_whole_tail(task);
  }
  char* base = static_cast<char*>(scratch);
  if (plan.is_vector) return run_vector(task, plan, base, threads), run_whole_tail(task);
  if (plan.shares_parts) return run_parts(task, plan, base, threads);
  if (plan.parts > 1) return run_apart(task, plan, base, threads);
  if (plan.shares_b) return run_shared(task, plan, base, threads);
  if (plan.chunks == 1) return run_chunk(task, plan, 0, base, 0);
  auto body = [&](int64_t chunk, int worker) {
    run_chunk(task, plan, chunk, base + worker * plan.worker_bytes, worker);
  };
  parallel(plan.chunks, plan.ns_each, task.interruptible, body, threads);
}

}  // namespace tessella::launch
