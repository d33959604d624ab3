// The product of a matrix and a vector (m or n is 1). The plan is exchanged so that n is 1: c has m
// elements, a is the matrix of m lines, b the vector.
//
// k is cut into segments; a segment's lanes are joined into one sum for each line, and the sums of
// the segments are added in order. So the threads share long vectors too.
#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "matmul_plan.h"

namespace tessella::launch {

constexpr int64_t SEGMENT = 1 << 15;         // of k; the order of a sum depends on it
constexpr int64_t LINES = 256;               // of one chunk
constexpr int64_t ADJACENT_LINES = 1024;     // of one chunk, if read across: rows as long as a page
constexpr int64_t STRIP = 4 * MATMUL_LANES;  // of k, packed at a time
constexpr int64_t IMMEDIATE_BYTES = 1 << 18;  // of a matrix that one thread reads within 20 us
constexpr double BYTES_PER_NS = 10;           // about what one core reads
constexpr double CHUNK_NS = 10e3;             // a chunk is worth at least this
constexpr int64_t CHUNKS = 4;                 // enough for threads to share

namespace {

// The matrix as lines of k elements, the vector, and c.
struct Lines {
  const void* matrix;
  const void* x;
  int64_t count, line, k_step, x_step, c_step;
};

Lines lines_of(const MatmulTask& task) {
  const MatmulOperand &a = task.a, &b = task.b, &c = task.c;
  if (task.m == 1)
    return {b.data, a.data, task.n, b.col_stride, b.row_stride, a.col_stride, c.col_stride};
  return {a.data, b.data, task.m, a.row_stride, a.col_stride, b.row_stride, c.row_stride};
}

}  // namespace

MatmulWay vector_way(const MatmulTask& task) {
  const MatmulDtype& kind = matmul_kernels().of[int(task.dtype)];
  bool is_plain = task.batch_ndim == 0 && kind.is_native && !task.accumulate;
  if (!is_plain || (task.m != 1 && task.n != 1)) return MatmulWay::planned;
  int64_t most = IMMEDIATE_BYTES / kind.compute->itemsize;
  if (task.k == 0 || task.k > std::min(most, SEGMENT)) return MatmulWay::planned;
  Lines x = lines_of(task);
  if (x.x_step != 1 || x.count > most / task.k || (x.c_step != 1 && x.count > 1))
    return MatmulWay::planned;
  if (x.k_step == 1) return MatmulWay::vector_along;
  bool fits = x.count * MATMUL_LANES * kind.compute->itemsize <= STACK_BYTES;
  return x.line == 1 && fits ? MatmulWay::vector_across : MatmulWay::planned;
}

void run_small_vector(const MatmulTask& task, MatmulWay way) {
  const MatmulCompute& compute = *matmul_kernels().of[int(task.dtype)].compute;
  Lines x = lines_of(task);
  if (way == MatmulWay::vector_along)
    return compute.dot(task.c.data, x.matrix, x.x, x.line, x.count, task.k);
  alignas(64) char lanes[STACK_BYTES];
  compute.axpy(lanes, x.matrix, x.x, x.k_step, x.count, task.k, false);
  compute.join(task.c.data, lanes, x.count);
}

// A chunk is one block of lines in one segment of k; or several whole products, if a product is
// one such block. Shared scratch holds the sums of segments, [batch][segment][m]. A worker's holds
// lanes, a packed strip of the matrix, joined sums, and the packed vector at the end.
void plan_vector(MatmulPlan& plan) {
  int64_t item = plan.compute->itemsize;
  plan.packs_b = !(plan.kind->is_native && plan.b_k == 1);
  plan.packs_a = !(plan.kind->is_native && (plan.a_k == 1 || plan.a_row == 1));
  bool is_across = !plan.packs_a && plan.a_k != 1;
  plan.rows = std::min(plan.m, is_across ? ADJACENT_LINES : LINES);
  plan.depth = std::min(plan.k, SEGMENT);
  double read_ns = double(plan.m) * double(plan.depth) * double(item) / BYTES_PER_NS;
  while (plan.rows > LINES && ceil_div(plan.m, plan.rows) < CHUNKS && read_ns > 4 * CHUNK_NS)
    plan.rows /= 2;
  plan.row_blocks = plan.m > 0 ? ceil_div(plan.m, plan.rows) : 0;
  plan.col_blocks = ceil_div(plan.k, SEGMENT);
  plan.has_sums = plan.col_blocks > 1;
  double ns = double(plan.rows) * double(plan.depth) * double(item) / BYTES_PER_NS + 1;
  bool is_one_block = plan.row_blocks * plan.col_blocks == 1;
  plan.batch_each = is_one_block ? int64_t(CHUNK_NS / ns) + 1 : 1;
  plan.chunks = plan.row_blocks * plan.col_blocks * ceil_div(plan.batch, plan.batch_each);
  plan.ns_each = int64_t(ns) * plan.batch_each;
  plan.shared_bytes = plan.has_sums ? align64(plan.batch * plan.col_blocks * plan.m * item) : 0;
  plan.a_offset = align64(MATMUL_LANES * plan.rows * item);
  plan.sums_offset = plan.a_offset + (plan.packs_a ? align64(STRIP * plan.rows * item) : 0);
  plan.b_offset = plan.sums_offset + align64(plan.rows * item);
  plan.worker_bytes = plan.b_offset + (plan.packs_b ? align64(plan.depth * item) : 0);
}

namespace {

// Some lines of one product, over one segment of k.
struct Part {
  const char* a;
  const char* x;  // of the compute type, adjacent
  int64_t lines, k;
};

// out[line] = sum over the segment.
void sum_lines(const MatmulPlan& plan, const Part& part, int64_t in_item, char* scratch,
               char* out) {
  const MatmulCompute& compute = *plan.compute;
  int64_t item = compute.itemsize, lines = part.lines;
  if (!plan.packs_a && plan.a_k == 1)
    return compute.dot(out, part.a, part.x, plan.a_row, lines, part.k);
  if (!plan.packs_a) compute.axpy(scratch, part.a, part.x, plan.a_k, lines, part.k, false);
  char* packed = scratch + plan.a_offset;
  for (int64_t p = 0; plan.packs_a && p < part.k; p += STRIP) {
    int64_t depth = std::min(STRIP, part.k - p);
    const char* in = part.a + p * plan.a_k * in_item;
    plan.kind->pack_a({packed, in, plan.a_row, plan.a_k, lines, depth, lines, true});
    compute.axpy(scratch, packed, part.x + p * item, lines, lines, depth, p > 0);
  }
  compute.join(out, scratch, lines);
}

void store_lines(const MatmulTask& task, const MatmulPlan& plan, int64_t product, int64_t line,
                 int64_t lines, const char* sums) {
  char* c = static_cast<char*>(plan.c) + batch_offset(task, plan, plan.c_batch, product) +
            line * plan.c_row * itemsize(task.dtype);
  plan.kind->store({c, 0, plan.c_row, sums, 0, 1, lines, task.accumulate});
}

void run_part(const MatmulTask& task, const MatmulPlan& plan, int64_t product, int64_t row_block,
              int64_t segment, char* shared, char* scratch) {
  int64_t item = plan.compute->itemsize, in_item = itemsize(task.dtype);
  int64_t line = row_block * plan.rows, p = segment * SEGMENT;
  Part part;
  part.a = static_cast<const char*>(plan.a) + batch_offset(task, plan, plan.a_batch, product) +
           (line * plan.a_row + p * plan.a_k) * in_item;
  part.x = static_cast<const char*>(plan.b) + batch_offset(task, plan, plan.b_batch, product) +
           p * plan.b_k * in_item;
  part.lines = std::min(plan.rows, plan.m - line);
  part.k = std::min(SEGMENT, plan.k - p);
  if (plan.packs_b) {  // as a row of part.k lines, which are adjacent when packed
    char* packed = scratch + plan.b_offset;
    plan.kind->pack_b({packed, part.x, plan.b_k, 0, part.k, 1, part.k, true});
    part.x = packed;
  }
  int64_t place = (product * plan.col_blocks + segment) * plan.m + line;
  char* out = plan.has_sums ? shared + place * item : scratch + plan.sums_offset;
  sum_lines(plan, part, in_item, scratch, out);
  if (!plan.has_sums) store_lines(task, plan, product, line, part.lines, out);
}

}  // namespace

void run_vector(const MatmulTask& task, const MatmulPlan& plan, char* scratch, int threads) {
  char* workers = scratch + plan.shared_bytes;
  auto body = [&](int64_t chunk, int worker) {
    int64_t segment = chunk % plan.col_blocks, rest = chunk / plan.col_blocks;
    int64_t row_block = rest % plan.row_blocks, first = rest / plan.row_blocks * plan.batch_each;
    int64_t last = std::min(first + plan.batch_each, plan.batch);
    for (int64_t t = first; t < last; t++)
      run_part(task, plan, t, row_block, segment, scratch, workers + worker * plan.worker_bytes);
  };
  if (plan.chunks == 1)
    body(0, 0);
  else
    parallel(plan.chunks, plan.ns_each, task.interruptible, body, threads);
  if (!plan.has_sums) return;
  int64_t bytes = plan.m * plan.compute->itemsize;
  for (int64_t t = 0; t < plan.batch; t++) {
    char* sums = scratch + t * plan.col_blocks * bytes;
    for (int64_t s = 1; s < plan.col_blocks; s++) plan.compute->add(sums, sums + s * bytes, plan.m);
    store_lines(task, plan, t, 0, plan.m, sums);
  }
}

}  // namespace tessella::launch
