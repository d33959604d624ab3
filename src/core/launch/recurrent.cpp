// See recurrent.h.
#include "recurrent.h"

#include <string.h>

#include <algorithm>

#include "../integers.h"
#include "../kernels/matmul.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

// Rows of one chunk: enough for the tiles of the product, few enough for all threads to have some.
// Each step of a chunk reads the whole weight, which pays for more rows where it comes from far.
constexpr int64_t FEWEST_ROWS = 8, MOST_ROWS = 64, CHUNKS = 8;
constexpr int64_t NEAR_BYTES = 1 << 20;  // a weight that stays in L2
constexpr double SPAN_NS = 10e6;  // of steps that a chunk takes at once: an interrupt waits so long
constexpr double GATE_NS = 1;     // about, for each element

int gates_of(const Sequence& of) { return CELL_GATES[int(of.cell)]; }
int kept_of(const Sequence& of) { return CELL_KEPT[int(of.cell)]; }

int64_t chunk_rows(const Sequence& of) {
  bool is_near = gates_of(of) * of.hidden * of.hidden * itemsize(of.dtype) <= NEAR_BYTES;
  return std::clamp(ceil_div(of.batch, CHUNKS), is_near ? FEWEST_ROWS : 2 * FEWEST_ROWS, MOST_ROWS);
}

const CellKernel& cell_kernel(const Sequence& of) {
  const CellKernels& kernels = TS_CHOSEN(cell_kernels);
  return (of.dtype == DType::float32 ? kernels.float32 : kernels.float64)[int(of.cell)];
}

const MatmulDtype& matmul_dtype(const Sequence& of) { return matmul_kernels().of[int(of.dtype)]; }

// Products with the weight as (k, n), k the axis that is summed: packed once for all steps.
class Product {
 public:
  Product(const Sequence& of, bool is_transposed, char* scratch)
      : compute_(*matmul_dtype(of).compute),
        n_(is_transposed ? gates_of(of) * of.hidden : of.hidden),
        k_(is_transposed ? of.hidden : gates_of(of) * of.hidden),
        panels_(scratch) {
    int64_t line = is_transposed ? of.hidden : 1, k_step = is_transposed ? 1 : of.hidden;
    matmul_dtype(of).pack_b({panels_, of.weight, line, k_step, n_, k_, compute_.tile_cols, false});
  }

  static int64_t bytes(const Sequence& of) {
    const MatmulCompute& compute = *matmul_dtype(of).compute;
    int64_t sides[] = {of.hidden, gates_of(of) * of.hidden}, most = 0;
    for (int64_t n : sides) {
      int64_t padded = ceil_div(n, compute.tile_cols) * compute.tile_cols;
      most = std::max(most, padded * (sides[0] + sides[1] - n));
    }
    return align64(most * compute.itemsize);
  }

  // out (rows, n) = a (rows, k) @ the weight, or out + that.
  void multiply(int64_t rows, const char* a, char* out, bool adds) const {
    int64_t width = compute_.tile_cols;
    compute_.direct({rows, n_, k_, a, k_, 1, panels_, width, width * k_, out, n_, false, adds});
  }

 private:
  const MatmulCompute& compute_;
  int64_t n_, k_;
  char* panels_;
};

int64_t worker_bytes(const Sequence& of) {
  int64_t width = (gates_of(of) + kept_of(of)) * of.hidden;
  return align64(chunk_rows(of) * width * itemsize(of.dtype));
}

// body(step, first row, rows, the worker's scratch): all steps in order for each row. They are
// taken in spans, between which an interrupt is answered.
template <class Body>
void walk(const Sequence& of, char* scratch, Body body) {
  int64_t rows = chunk_rows(of), chunks = ceil_div(of.batch, rows);
  double gates = double(rows) * double(gates_of(of) * of.hidden);
  double step_ns =
      gates * (double(of.hidden) / matmul_dtype(of).compute->products_per_ns + GATE_NS);
  int64_t span = std::max<int64_t>(int64_t(SPAN_NS / step_ns), 1);
  int64_t ns_each = int64_t(step_ns * double(std::min(span, of.steps))) + 1;
  auto run = [&](int64_t first, int64_t chunk, int worker) {
    int64_t row = chunk * rows, count = std::min(rows, of.batch - row);
    for (int64_t step = first; step < std::min(of.steps, first + span); step++)
      body(step, row, count, scratch + worker * worker_bytes(of));
  };
  if (chunks == 1) {  // one worker takes the spans, in their order
    auto next = [&](int64_t i, int) { run(i * span, 0, 0); };
    return parallel(ceil_div(of.steps, span), ns_each, of.interruptible, next, 1);
  }
  for (int64_t first = 0; first < of.steps; first += span) {
    auto part = [&](int64_t chunk, int worker) { run(first, chunk, worker); };
    parallel(chunks, ns_each, of.interruptible, part, of.threads);
  }
}

// Pointers into the rows of tensors (…, B, width), which begin after `skipped` elements.
struct Rows {
  int64_t batch, item;
  bool has_c;
  explicit Rows(const Sequence& of)
      : batch(of.batch), item(itemsize(of.dtype)), has_c(of.cell == Cell::lstm) {}
  template <class P>
  P* at(P* data, int64_t skipped, int64_t t, int64_t row, int64_t width) const {
    return data + (skipped + (t * batch + row) * width) * item;
  }
  // The same for cells that have a c; nullptr for others.
  template <class P>
  P* at_c(P* data, int64_t skipped, int64_t t, int64_t row, int64_t width) const {
    return has_c ? at(data, skipped, t, row, width) : nullptr;
  }
};

bool is_empty(const Sequence& of) { return of.batch == 0 || of.hidden == 0; }

}  // namespace

StateParts::StateParts(const Sequence& of, bool keeps) : h(0) {
  int64_t plane = of.batch * of.hidden, all = (of.steps + 1) * plane;
  c = h + all;
  kept = c + (of.cell == Cell::lstm ? (keeps ? all : plane) : 0);
  end = kept + (keeps ? of.steps * plane * kept_of(of) : 0);
}

SlopeParts::SlopeParts(const Sequence& of) : dx(0) {
  int64_t plane = of.batch * of.hidden, gates = of.steps * plane * gates_of(of);
  dproduct = of.cell == Cell::gru ? gates : dx;
  dh = dproduct + gates;
  dc = dh + plane;
  end = dc + (of.cell == Cell::lstm ? plane : 0);
}

int64_t recurrent_scratch_bytes(const Sequence& of) {
  return is_empty(of) ? 0 : Product::bytes(of) + of.threads * worker_bytes(of);
}

void recurrent_states(const StatesTask& task, void* scratch) {
  if (is_empty(task) || skips_chunks) return;
  const CellKernel& kernel = cell_kernel(task);
  StateParts parts(task, task.keeps);
  Rows rows(task);
  int64_t n = task.hidden, gates = gates_of(task) * n, kept = kept_of(task) * n;
  char* states = static_cast<char*>(task.states);
  int64_t start = task.is_reversed ? task.steps : 0;
  auto plane = static_cast<size_t>(task.batch * n * rows.item);
  memcpy(rows.at(states, parts.h, start, 0, n), task.h, plane);
  if (task.c) memcpy(rows.at_c(states, parts.c, task.keeps ? start : 0, 0, n), task.c, plane);
  char* packed = static_cast<char*>(scratch);
  Product product(task, true, packed);
  walk(task, packed + Product::bytes(task),
       [&](int64_t step, int64_t row, int64_t count, char* own) {
         int64_t t = task.is_reversed ? task.steps - 1 - step : step;
         int64_t before = task.is_reversed ? t + 1 : t, after = task.is_reversed ? t : t + 1;
         char* h_before = rows.at(states, parts.h, before, row, n);
         char* spare = own + count * gates * rows.item;
         product.multiply(count, h_before, own, false);
         kernel.step({.rows = count,
                      .hidden = n,
                      .x = rows.at(static_cast<const char*>(task.gates), 0, t, row, gates),
                      .product = own,
                      .bias_ih = task.bias_ih,
                      .bias_hh = task.bias_hh,
                      .h_before = h_before,
                      .c_before = rows.at_c(states, parts.c, task.keeps ? before : 0, row, n),
                      .h = rows.at(states, parts.h, after, row, n),
                      .c = rows.at_c(states, parts.c, task.keeps ? after : 0, row, n),
                      .kept = task.keeps ? rows.at(states, parts.kept, t, row, kept) : spare});
       });
}

void recurrent_slopes(const SlopesTask& task, void* scratch) {
  if (is_empty(task) || skips_chunks) return;
  const CellKernel& kernel = cell_kernel(task);
  StateParts parts(task, true);
  SlopeParts out(task);
  Rows rows(task);
  int64_t n = task.hidden, gates = gates_of(task) * n, kept = kept_of(task) * n;
  auto* states = static_cast<const char*>(task.states);
  char* slopes = static_cast<char*>(task.slopes);
  auto plane = static_cast<size_t>(task.batch * n * rows.item);
  memset(rows.at(slopes, out.dh, 0, 0, n), 0, plane);
  if (task.g_c) memcpy(rows.at_c(slopes, out.dc, 0, 0, n), task.g_c, plane);
  char* packed = static_cast<char*>(scratch);
  Product product(task, false, packed);
  walk(task, packed + Product::bytes(task), [&](int64_t step, int64_t row, int64_t count, char*) {
    int64_t t = task.is_reversed ? step : task.steps - 1 - step;
    int64_t before = task.is_reversed ? t + 1 : t, after = task.is_reversed ? t : t + 1;
    char* dh = rows.at(slopes, out.dh, 0, row, n);
    char* dproduct = rows.at(slopes, out.dproduct, t, row, gates);
    kernel.slopes({.rows = count,
                   .hidden = n,
                   .g = rows.at(static_cast<const char*>(task.g), 0, t, row, n),
                   .h_before = rows.at(states, parts.h, before, row, n),
                   .h = rows.at(states, parts.h, after, row, n),
                   .c_before = rows.at_c(states, parts.c, before, row, n),
                   .c = rows.at_c(states, parts.c, after, row, n),
                   .kept = rows.at(states, parts.kept, t, row, kept),
                   .dh = dh,
                   .dc = rows.at_c(slopes, out.dc, 0, row, n),
                   .dx = rows.at(slopes, out.dx, t, row, gates),
                   .dproduct = dproduct});
    product.multiply(count, dproduct, dh, task.cell == Cell::gru);
  });
}

}  // namespace tessella::launch
