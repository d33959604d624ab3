// Chooses paths and cuts blocks for the matrix product. See matmul_plan.h.
#include "matmul_plan.h"

#include <algorithm>
#include <utility>

namespace tessella::launch {

// Sizes in bytes, from those of the caches that panels stay in while they are used again.
constexpr int64_t DEPTH_BYTES = 2048;        // of k, for one line: panels of a and b fill L1
constexpr int64_t A_BYTES = 256 << 10;       // a block of a, in a part of L2
constexpr int64_t COLS_BYTES = 4096;         // columns of a block of b, for one k
constexpr int64_t SHARED_BYTES = 32 << 20;   // b packed at once, at most
constexpr int64_t SHARED_A_BYTES = 1 << 20;  // and a
// Times that decide how work is cut.
constexpr double HALF_NS = 7.5e3;         // a half of a product is worth sharing from here on,
constexpr double CHUNK_NS = 40e3;         // a smaller part of it from here on
constexpr double SHARED_CHUNK_NS = 10e3;  // or here on, if it packs nothing
constexpr double LONGEST_NS = 10e6;       // and takes no longer, so that an interrupt is answered
constexpr double PACK_PER_NS = 3;         // elements packed
constexpr double SHARED_PACK_NS = 20e3;   // b is worth sharing if packing it takes longer
constexpr int64_t CHUNKS = 8;             // enough for threads of unequal speed to end together
constexpr int64_t SHARED_CHUNKS = 16;     // the same, where a chunk packs nothing twice
constexpr int64_t EVEN_TILES = 8;         // fewer tiles are halved only if they are even in number
constexpr int64_t LEAST_TILES = 4;        // of rows, that make packing them pay in such a chunk

constexpr int64_t SMALL = 64 * 64 * 64;  // products that are never packed if they need not be

// k is summed in parts where c is so small that the threads would have to share its tiles. How many
// depends on nothing but the sizes: the parts are the order of the sum.
constexpr int64_t SPLIT_SIDE = 1024;        // of c, at most,
constexpr int64_t SPLIT_AREA = 128 * 128;   // and both sides together
constexpr int64_t PART_PRODUCTS = 1 << 21;  // a part has at least so many, and at least
constexpr int64_t PART_LEAST = 1 << 10;     // so long a k,
constexpr int64_t PART_MOST = 1 << 13;      // and at most this, where that makes more than
constexpr int64_t PARTS = 8;

static int64_t split_parts(int64_t m, int64_t n, int64_t k) {
  if (std::min(m, n) < 2 || std::max(m, n) > SPLIT_SIDE || m * n > SPLIT_AREA) return 1;
  int64_t worth = k / ceil_div(PART_PRODUCTS, m * n),
          most = std::max(PARTS, ceil_div(k, PART_MOST));
  return std::max<int64_t>(std::min({worth, k / PART_LEAST, most}), 1);
}

static MatmulWay way_of(const MatmulTask& task) {
  int64_t m = task.m, n = task.n, k = task.k;
  if (m <= 1 || n <= 1) return vector_way(task);
  bool is_small = k > 0 && m <= SMALL && n <= SMALL / m && k <= SMALL / (m * n);
  const MatmulDtype& kind = matmul_kernels().of[int(task.dtype)];
  if (!is_small || task.batch_ndim != 0 || task.c.col_stride != 1 || !kind.is_native)
    return MatmulWay::planned;
  if (task.b.col_stride == 1) return MatmulWay::in_place;
  int64_t cols = ceil_div(n, kind.compute->tile_cols) * kind.compute->tile_cols;
  return cols * k * kind.compute->itemsize <= STACK_BYTES ? MatmulWay::turned : MatmulWay::planned;
}

// The sizes are the caller's, not those of a folded batch.
static MatmulPlan copy_task(const MatmulTask& task) {
  MatmulPlan plan{};
  plan.way = MatmulWay::planned;
  plan.kind = &matmul_kernels().of[int(task.dtype)];
  plan.compute = plan.kind->compute;
  plan.m = task.m, plan.n = task.n, plan.k = task.k;
  plan.a = task.a.data, plan.b = task.b.data, plan.c = task.c.data;
  plan.a_row = task.a.row_stride, plan.a_k = task.a.col_stride;
  plan.b_k = task.b.row_stride, plan.b_col = task.b.col_stride;
  plan.c_row = task.c.row_stride, plan.c_col = task.c.col_stride;
  plan.a_batch = task.a.batch_strides, plan.b_batch = task.b.batch_strides;
  plan.c_batch = task.c.batch_strides;
  plan.batch_ndim = task.batch_ndim;
  plan.parts = split_parts(task.m, task.n, task.k);
  plan.part_k = ceil_div(task.k, plan.parts);
  if (task.k > 0) plan.parts = ceil_div(task.k, plan.part_k);
  return plan;
}

// The innermost batch axes continue the rows of a and c, and b is the same for all of them. Not
// for single rows, whose sums have another order, nor for sums in parts, which are kept for each.
static void fold_batch(const MatmulTask& task, MatmulPlan& plan) {
  if ((plan.m == 1 && plan.n != 1) || plan.parts > 1) return;
  while (plan.batch_ndim > 0) {
    int axis = plan.batch_ndim - 1;
    int64_t size = task.batch_shape[axis];
    bool continues =
        plan.a_batch[axis] == plan.m * plan.a_row && plan.c_batch[axis] == plan.m * plan.c_row;
    if (size != 1 && (plan.b_batch[axis] != 0 || !(continues || plan.m == 1))) return;
    if (plan.m == 1) plan.a_row = plan.a_batch[axis], plan.c_row = plan.c_batch[axis];
    plan.m *= size;
    plan.batch_ndim--;
  }
}

// c^T = b^T a^T has the same sums. Not for complex: the parts of its products would swap places.
static void exchange(MatmulPlan& plan) {
  std::swap(plan.m, plan.n);
  std::swap(plan.a, plan.b);
  std::swap(plan.a_batch, plan.b_batch);
  std::swap(plan.a_row, plan.b_col);
  std::swap(plan.a_k, plan.b_k);
  std::swap(plan.c_row, plan.c_col);
}

// Strides along axes of size 1 mean nothing: give them the values that open the fast paths.
static void settle_strides(MatmulPlan& plan) {
  if (plan.n == 1) plan.b_col = plan.c_col = 1;
  if (plan.m == 1) plan.c_row = plan.n, plan.a_row = plan.k;
  if (plan.k == 1) plan.a_k = 1, plan.b_k = plan.n;
}

// Lines this far apart fall into so few sets of L1 that they drive each other out.
static bool is_aliased(int64_t stride, int64_t itemsize, int64_t period) {
  return stride * itemsize % period == 0;
}

// Packing a pays if its panels are used for many columns, packing b if for many rows.
static void choose_path(MatmulPlan& plan, bool accumulate) {
  const MatmulCompute& compute = *plan.compute;
  int64_t itemsize = compute.itemsize, reals = plan.kind->reals;
  bool native = plan.kind->is_native;
  bool small = plan.m <= SMALL && plan.n <= SMALL / plan.m && plan.k <= SMALL / (plan.m * plan.n);
  bool thin = plan.m <= 2 * compute.tile_rows;
  bool aliased = is_aliased(plan.a_row, itemsize, 4096);
  // Each column of tiles reads a anew: line after line, or, where ks are apart, across all lines,
  // which is as good while they stay near.
  bool is_near = plan.m <= A_BYTES / itemsize / plan.k;
  int64_t columns = plan.a_k == 1 ? (aliased ? 1 : 8) : (is_near ? 8 : aliased ? 1 : 2);
  bool narrow = plan.n <= columns * compute.tile_cols;
  plan.packs_a = !(native && (small || thin || narrow));
  bool low = plan.m <= 9 * compute.tile_rows && !is_aliased(plan.b_k, itemsize, 512);
  plan.packs_b = plan.packs_a || plan.b_col != 1 || !(small || thin || low);
  int64_t depth = std::max<int64_t>(DEPTH_BYTES / itemsize / reals, 1);
  plan.depth = small ? plan.k : ceil_div(plan.part_k, ceil_div(plan.part_k, depth));
  bool writable = native || reals == 2;
  plan.has_sums = !writable || plan.c_col != 1 || (accumulate && plan.depth < plan.k);
}

static double block_ns(const MatmulPlan& plan) {
  double reals = plan.kind->reals;
  return reals * reals * double(plan.rows) * double(plan.cols) * double(plan.k) /
         plan.compute->products_per_ns;
}

// Halves the longer side of a block; columns only in whole tiles, of which few make no equal
// halves. False if it is one tile already.
static bool halve(MatmulPlan& plan) {
  int64_t tile_rows = plan.compute->tile_rows;
  int64_t tile_cols = plan.compute->tile_cols / plan.kind->reals;
  int64_t tiles = ceil_div(plan.cols, tile_cols);
  bool is_uneven = tiles % 2 != 0 && tiles < EVEN_TILES && plan.rows >= 2 * tile_rows;
  bool by_rows = plan.rows > plan.cols || plan.cols <= tile_cols || is_uneven;
  if (by_rows && plan.rows <= tile_rows) return false;
  if (by_rows)
    plan.rows = ceil_div(plan.rows, 2);
  else
    plan.cols = ceil_div(ceil_div(plan.cols, 2), tile_cols) * tile_cols;
  plan.row_blocks = ceil_div(plan.m, plan.rows);
  plan.col_blocks = ceil_div(plan.n, plan.cols);
  return true;
}

// Every chunk packs what it needs: one product or a part of it, or several small ones.
static void cut_apart(MatmulPlan& plan) {
  int64_t itemsize = plan.compute->itemsize * plan.kind->reals;
  int64_t most_rows = std::max<int64_t>(A_BYTES / (plan.depth * itemsize), 1);
  plan.row_blocks = plan.packs_a ? ceil_div(plan.m, most_rows) : 1;
  plan.rows = ceil_div(plan.m, plan.row_blocks);
  plan.cols = std::min(plan.n, COLS_BYTES / itemsize);
  plan.col_blocks = ceil_div(plan.n, plan.cols);
  if (plan.row_blocks * plan.col_blocks * plan.batch == 1 && block_ns(plan) > 2 * HALF_NS)
    halve(plan);
  while (2 * plan.row_blocks * plan.col_blocks * plan.batch < CHUNKS &&
         block_ns(plan) > 2 * CHUNK_NS && halve(plan)) {
  }
  while (block_ns(plan) > LONGEST_NS && halve(plan)) {
  }
  plan.batch_each = 1;
  double ns = std::max(block_ns(plan), 1.0);
  if (plan.row_blocks * plan.col_blocks == 1)
    plan.batch_each = std::clamp(int64_t(CHUNK_NS / ns), int64_t(1), plan.batch);
  plan.chunks = plan.row_blocks * plan.col_blocks * ceil_div(plan.batch, plan.batch_each);
  plan.ns_each = int64_t(ns * double(plan.batch_each)) + 1;
}

// b is packed once for all rows, in spans of columns if it is large, and a once for all columns if
// it is small. False where that does not pay.
static bool share(MatmulPlan& plan) {
  int64_t itemsize = plan.compute->itemsize * plan.kind->reals, reals = plan.kind->reals;
  double pack_ns = double(plan.n) * double(plan.k) * double(reals * reals) / PACK_PER_NS;
  int64_t most_cols = SHARED_BYTES / (plan.k * itemsize * reals);
  bool pays = plan.packs_a && pack_ns > SHARED_PACK_NS && plan.batch < CHUNKS &&
              most_cols >= std::min(plan.n, COLS_BYTES / itemsize);
  bool is_small = plan.m <= SHARED_A_BYTES / (plan.k * itemsize) && plan.n <= most_cols;
  if (!pays || (!is_small && plan.m < 2 * LEAST_TILES * plan.compute->tile_rows)) return false;
  plan.shares_b = true;
  plan.shares_a = is_small;
  int64_t tile_cols = plan.compute->tile_cols / reals;
  int64_t span = ceil_div(plan.n, ceil_div(plan.n, most_cols));
  plan.span = ceil_div(span, tile_cols) * tile_cols;
  return true;
}

// Blocks of a span: of rows; or, where a is shared, of the rows that stay in L2 and of columns, so
// that a product of few rows has enough of them too.
static void cut_shared(MatmulPlan& plan) {
  int64_t reals = plan.kind->reals, itemsize = plan.compute->itemsize * reals;
  plan.rows = plan.m, plan.cols = plan.span;
  double ns = block_ns(plan);
  double least_ns = plan.shares_a ? SHARED_CHUNK_NS : CHUNK_NS;
  int64_t chunks = std::clamp(int64_t(ns / least_ns), int64_t(1), SHARED_CHUNKS);
  chunks = std::max(chunks, int64_t(ns / LONGEST_NS));
  int64_t blocks = ceil_div(plan.m * plan.depth * itemsize, A_BYTES);
  if (!plan.shares_a) {
    blocks = std::max(blocks, std::min(chunks, plan.m / (LEAST_TILES * plan.compute->tile_rows)));
    if (blocks > 1) blocks -= blocks % 2;  // two threads end together
  }
  plan.rows = ceil_div(plan.m, blocks);
  plan.row_blocks = ceil_div(plan.m, plan.rows);
  if (plan.shares_a) {
    int64_t tile_cols = plan.compute->tile_cols / reals;
    plan.cols = ceil_div(plan.span / tile_cols, ceil_div(chunks, plan.row_blocks)) * tile_cols;
  }
  plan.col_blocks = ceil_div(plan.span, plan.cols);
  plan.chunks = plan.row_blocks * plan.col_blocks;
  plan.ns_each = int64_t(block_ns(plan)) + 1;
}

// Every chunk sums one part of k, for all of c; or all parts, where there are many products.
static void cut_parts(MatmulPlan& plan) {
  plan.rows = plan.m, plan.cols = plan.n;
  plan.row_blocks = plan.col_blocks = plan.batch_each = 1;
  plan.has_sums = true;
  double ns = block_ns(plan);
  plan.shares_parts = plan.batch < CHUNKS || ns > LONGEST_NS;
  plan.chunks = plan.shares_parts ? plan.parts : plan.batch;
  plan.ns_each = int64_t(plan.shares_parts ? ns / double(plan.parts) : ns) + 1;
}

static void size_scratch(MatmulPlan& plan) {
  int64_t itemsize = plan.compute->itemsize, reals = plan.kind->reals;
  int64_t depth = plan.depth * reals, tile_cols = plan.compute->tile_cols;
  int64_t cols = ceil_div(plan.cols * reals, tile_cols) * tile_cols;
  int64_t a_bytes = plan.shares_a ? align64(plan.m * plan.k * reals * itemsize) : 0;
  int64_t b_bytes = align64(plan.span * reals * plan.k * reals * itemsize);  // span: whole tiles
  plan.a_offset = plan.shares_a ? b_bytes : 0;
  plan.b_offset = plan.packs_a && !plan.shares_a ? align64(plan.rows * depth * itemsize) : 0;
  bool keeps_b = plan.packs_b && !plan.shares_b;
  plan.sums_offset = plan.b_offset + (keeps_b ? align64(cols * depth * itemsize) : 0);
  plan.sums_bytes = plan.has_sums ? align64(plan.rows * cols * itemsize) : 0;
  plan.shared_bytes = plan.shares_parts ? plan.parts * plan.sums_bytes
                      : plan.shares_b   ? b_bytes + a_bytes
                                        : 0;
  // A worker keeps its sums, beside them those of one more part; or none, where parts are shared.
  int64_t own = plan.parts == 1 ? 1 : plan.shares_parts ? 0 : 2;
  plan.worker_bytes = plan.sums_offset + own * plan.sums_bytes;
}

// c's columns should be adjacent. But where few rows meet lines of b along k, which would have to
// be packed, these are read in place as rows of the exchanged product; and where few columns meet
// rows of a that are adjacent, as its columns.
static bool wants_exchange(const MatmulPlan& plan) {
  if (plan.is_vector) return plan.n != 1;
  int64_t few = plan.compute->tile_cols / 2;
  if (plan.kind->is_native && plan.m <= few && plan.n >= 4 * plan.m && plan.b_k == 1)
    return plan.b_col != 1;
  if (plan.kind->is_native && plan.n <= few && plan.m >= 4 * plan.n && plan.a_row == 1)
    return plan.a_k != 1;
  return plan.c_col != 1 && plan.c_row == 1;
}

MatmulPlan plan_matmul(const MatmulTask& task) {
  if (MatmulWay way = way_of(task); way != MatmulWay::planned) {
    MatmulPlan small;
    small.way = way;
    return small;
  }
  MatmulPlan plan = copy_task(task);
  fold_batch(task, plan);
  plan.batch = 1;
  for (int axis = 0; axis < plan.batch_ndim; axis++) plan.batch *= task.batch_shape[axis];
  settle_strides(plan);
  plan.is_vector = plan.kind->reals == 1 && (plan.m == 1 || plan.n == 1);
  if (plan.kind->reals == 1 && wants_exchange(plan)) exchange(plan);
  if (plan.is_vector) {
    plan_vector(plan);
  } else if (plan.batch > 0 && plan.m > 0 && plan.n > 0 && plan.k > 0) {
    choose_path(plan, task.accumulate);
    if (plan.parts > 1)
      cut_parts(plan);
    else if (share(plan))
      cut_shared(plan);
    else
      cut_apart(plan);
    size_scratch(plan);
  }
  return plan;
}

int64_t batch_offset(const MatmulTask& task, const MatmulPlan& plan, const int64_t* strides,
                     int64_t index) {
  int64_t offset = 0;
  for (int axis = plan.batch_ndim - 1; axis >= 0; axis--) {
    offset += index % task.batch_shape[axis] * strides[axis];
    index /= task.batch_shape[axis];
  }
  return offset * itemsize(task.dtype);
}

}  // namespace tessella::launch
