// The table of matrix product kernels: tiles over strided or packed operands, packing, the
// products with a vector, and the writing of finished sums. Which of them runs, on which block and
// on which thread, is the driver's (launch/matmul.h).
//
// Sums run in a compute type: float32 (also for halves and complex64), float64 (also complex128),
// uint32 (integers up to 32 bits) or uint64. Complex products are real ones of doubled sizes:
// (m, k) is read as a real (m, 2k), and each b is packed as the 2x2 block [re im; -im re].
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

// c (m, n) from a (m, k) and b (k, n), all of the compute type, strides in elements. Each element
// of c is one chain of multiply-adds over k in increasing order.
struct MatmulBlock {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_k;  // unused when a is packed
  const void* b;
  int64_t b_k, b_panel;  // from one k to the next; from one panel of tile_cols to the next
  void* c;
  int64_t c_row;  // columns of c are adjacent
  bool resume;    // the chains go on from what c holds; otherwise they begin at zero
  bool add;       // c + chain is stored in place of the chain
};

// c (m, n) from a packed a (m, k) and rows of n adjacent elements at b + rows[p] for each k, which
// may overlap. Vectors behind a row's end are read, and not used.
struct MatmulIndexed {
  int64_t m, n, k;
  const void* a;
  const void* b;
  const int64_t* rows;
  void* c;
  int64_t c_row;
  bool resume, add;  // as above
};

// Packs `count` lines (rows of a, columns of b) of k elements as panels laid out [k][width].
struct MatmulPanels {
  void* out;
  const void* in;
  int64_t line, k_step;  // strides of `in`, in its own elements
  int64_t count, k;
  int64_t width;  // lines in a panel, at most
  bool even;  // panels of nearly equal width, unpadded (a); or all `width`, zeros at the end (b)
};

// Finished sums (m, n), rows `in_row` apart, converted into c; or c + them, each rounded once.
struct MatmulStore {
  void* c;
  int64_t c_row, c_col;
  const void* in;
  int64_t in_row;
  int64_t m, n;
  bool add;
};

// A product with a vector sums k in MATMUL_LANES interleaved chains (k % MATMUL_LANES), which are
// then joined by a fixed tree: lane i with lane i + half, halving until one is left.
constexpr int MATMUL_LANES = 16;

struct MatmulCompute {
  int itemsize;
  int tile_rows, tile_cols;
  double products_per_ns;  // about what one core does; only decides how work is cut
  void (*packed)(const MatmulBlock&);
  void (*direct)(const MatmulBlock&);
  void (*indexed)(const MatmulIndexed&);  // of floats only
  // out[line] = matrix[line][0..k) * x, lanes joined; lines `line` apart, k adjacent
  void (*dot)(void* out, const void* matrix, const void* x, int64_t line, int64_t lines, int64_t k);
  // lanes[LANES][lines] += matrix * x with lines adjacent and k elements `k_step` apart; lanes
  // begin at zero if not `resume`
  void (*axpy)(void* lanes, const void* matrix, const void* x, int64_t k_step, int64_t lines,
               int64_t k, bool resume);
  // out[i] = tree over l of lanes[l][i]
  void (*join)(void* out, const void* lanes, int64_t lines);
  // sums[i] += more[i]
  void (*add)(void* sums, const void* more, int64_t count);
};

struct MatmulDtype {
  const MatmulCompute* compute;  // nullptr for bool
  bool is_native;                // elements are of the compute type: kernels may read them in place
  int reals;                     // 2 for complex, else 1
  void (*pack_a)(const MatmulPanels&);
  void (*pack_b)(const MatmulPanels&);
  void (*store)(const MatmulStore&);
};

struct MatmulKernels {
  MatmulDtype of[DTYPE_COUNT];
};

TS_KERNELS(MatmulKernels, matmul_kernels)
const MatmulKernels& matmul_kernels();  // those of the chosen instruction set

// Panel t of `panels` even ones over `count` lines begins here.
constexpr int64_t matmul_even_begin(int64_t t, int64_t panels, int64_t count) {
  return t * count / panels;
}

}  // namespace tessella
