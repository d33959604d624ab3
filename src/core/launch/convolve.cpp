// Runs convolutions and their adjoint in the input. See convolve.h for what is promised,
// convolve_plan.h for the plan.
#include "convolve.h"

#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "convolve_plan.h"

namespace tessella::launch {

namespace {

// Where shared scratch holds what.
struct Tables {
  int64_t* rows;    // of the window, for each k
  int64_t* direct;  // of the image itself
  int64_t* steps;   // of the kernel, for each k
  int64_t* lines;   // of the kernel, for each line of the result
  char* panels;
  char* workers;
};

Tables tables_in(const Correlation& plan, char* scratch) {
  auto* rows = reinterpret_cast<int64_t*>(scratch);
  char* panels = scratch + plan.tables_bytes;
  return {rows,
          rows + plan.k,
          rows + 2 * plan.k,
          rows + 3 * plan.k,
          panels,
          panels + plan.panels_bytes};
}

void fill_tables(const Correlation& plan, const Tables& tables) {
  int64_t p = 0, slot_size = plan.images * plan.plane;
  int64_t slots = plan.rows.slots * plan.cols.slots;
  for (int64_t c = 0; c < plan.channels; c++)
    for (int64_t i = 0; i < plan.rows.taps; i++)
      for (int64_t j = 0; j < plan.cols.taps; j++, p++) {
        int64_t slot = plan.rows.slot_of(i) * plan.cols.slots + plan.cols.slot_of(j);
        int64_t shift = plan.rows.shift_of(i) * plan.cols.extent + plan.cols.shift_of(j);
        int64_t row = plan.rows.tap_first + i * plan.rows.tap_step;
        int64_t col = plan.cols.tap_first + j * plan.cols.tap_step;
        tables.rows[p] = (c * slots + slot) * slot_size + shift;
        tables.direct[p] = c * plan.image.strides[1] + shift;
        tables.steps[p] = c * plan.w_channel + row * plan.w_row + col * plan.w_col;
      }
  for (int64_t i = 0; i < plan.m; i++) tables.lines[i] = i * plan.w_line;
}

int64_t panel_offset(const Correlation& plan, int64_t group, int64_t block) {
  return (group * plan.m + block * plan.lines) * plan.k * plan.compute->itemsize;
}

int64_t lines_of(const Correlation& plan, int64_t block) {
  return std::min(plan.lines, plan.m - block * plan.lines);
}

// The whole kernel: for each group and block of lines, panels of the first `depth` ks, then of the
// next.
void pack_kernel(const ConvolveTask& task, const Correlation& plan, const Tables& tables,
                 int threads) {
  int64_t item = itemsize(task.dtype);
  auto body = [&](int64_t chunk, int) {
    int64_t group = chunk / plan.line_blocks, block = chunk % plan.line_blocks;
    int64_t lines = lines_of(plan, block);
    char* out = tables.panels + panel_offset(plan, group, block);
    for (int64_t p = 0; p < plan.k; p += plan.depth) {
      int64_t depth = std::min(plan.depth, plan.k - p);
      plan.kind->panels({out + lines * p * plan.compute->itemsize,
                         plan.w + group * plan.w_group * item, tables.lines + block * plan.lines,
                         tables.steps + p, lines, depth, plan.compute->tile_rows});
    }
  };
  int64_t ns = int64_t(double(plan.lines) * double(plan.k) / WINDOW_PER_NS) + 1;
  parallel(plan.groups * plan.line_blocks, ns, task.interruptible, body, threads,
           plan.chunks * plan.ns_each);
}

// The block that one unit computes.
struct Unit {
  int64_t group, image, row, col, part;

  Unit(const Correlation& plan, int64_t index) {
    part = index % plan.line_chunks, index /= plan.line_chunks;
    col = index % plan.cols.blocks() * plan.cols.block, index /= plan.cols.blocks();
    row = index % plan.rows.blocks() * plan.rows.block, index /= plan.rows.blocks();
    int64_t spans = ceil_div(plan.batch, plan.images);
    image = index % spans * plan.images;
    group = index / spans;
  }
};

void bring_windows(const ConvolveTask& task, const Correlation& plan, const Unit& unit,
                   char* scratch) {
  int64_t item = itemsize(task.dtype), size = plan.compute->itemsize;
  const int64_t* strides = plan.image.strides;
  int64_t last = std::min(unit.image + plan.images, plan.batch);
  int64_t slots = plan.rows.slots * plan.cols.slots, slot_size = plan.images * plan.plane;
  const char* in = plan.image.data + unit.group * plan.channels * strides[1] * item;
  for (int64_t n = unit.image; n < last; n++)
    for (int64_t slot = 0; slot < slots; slot++) {
      char* out = scratch + (slot * slot_size + (n - unit.image) * plan.plane) * size;
      plan.kind->window({out, slots * slot_size, plan.cols.extent, 1, in + n * strides[0] * item,
                         strides[1], strides[2], strides[3], plan.channels,
                         plan.rows.range(slot / plan.cols.slots, unit.row),
                         plan.cols.range(slot % plan.cols.slots, unit.col)});
    }
  memset(scratch + plan.image_bytes - 64, 0, 64);
}

void store_lines(const ConvolveTask& task, const Correlation& plan, const Unit& unit, int64_t block,
                 const char* sums) {
  int64_t item = itemsize(task.dtype);
  const int64_t* strides = plan.out.strides;
  int64_t channel = unit.group * plan.m + block * plan.lines;
  int64_t row = plan.rows.out_first + unit.row * plan.rows.out_step;
  int64_t col = plan.cols.out_first + unit.col * plan.cols.out_step;
  char* out = plan.out.data + (channel * strides[1] + row * strides[2] + col * strides[3]) * item;
  const char* bias = task.bias ? task.bias + channel * task.bias_stride * item : nullptr;
  int64_t last = std::min(unit.image + plan.images, plan.batch);
  for (int64_t n = unit.image; n < last; n++)
    plan.kind->store({out + n * strides[0] * item, strides[1], strides[2] * plan.rows.out_step,
                      strides[3] * plan.cols.out_step,
                      sums + (n - unit.image) * plan.plane * plan.compute->itemsize, plan.sums_row,
                      plan.cols.extent, bias, task.bias_stride, lines_of(plan, block),
                      plan.rows.places(unit.row), plan.cols.places(unit.col)});
}

// The image itself, where the unit may read it up to the end of a last vector; or nullptr.
const char* direct_image(const ConvolveTask& task, const Correlation& plan, const Unit& unit,
                         int64_t columns) {
  if (!plan.is_direct) return nullptr;
  constexpr int64_t VECTOR = 16;  // elements, at most
  const int64_t* strides = plan.image.strides;
  int64_t first = unit.image * strides[0] + unit.group * plan.channels * strides[1] +
                  (plan.rows.first + unit.row) * plan.cols.image;
  int64_t reach = plan.rows.reach * plan.cols.image + plan.cols.reach;
  int64_t last = first + (plan.channels - 1) * strides[1] + reach + columns + VECTOR;
  int64_t size = (plan.batch - 1) * strides[0] + (plan.groups * plan.channels - 1) * strides[1] +
                 plan.rows.image * plan.cols.image;
  return last <= size ? plan.image.data + first * itemsize(task.dtype) : nullptr;
}

void run_unit(const ConvolveTask& task, const Correlation& plan, const Tables& tables,
              const Unit& unit, char* scratch) {
  char* sums = scratch + plan.image_bytes;
  int64_t images = std::min(plan.images, plan.batch - unit.image);
  int64_t columns = (images - 1) * plan.plane +
                    (plan.rows.places(unit.row) - 1) * plan.cols.extent +
                    plan.cols.places(unit.col);
  const char* image = direct_image(task, plan, unit, columns);
  const int64_t* rows = image ? tables.direct : tables.rows;
  if (!image) {
    bring_windows(task, plan, unit, scratch);
    image = scratch;
  }
  int64_t first = unit.part * plan.line_blocks / plan.line_chunks;
  int64_t last = (unit.part + 1) * plan.line_blocks / plan.line_chunks;
  for (int64_t block = first; block < last; block++) {
    int64_t lines = lines_of(plan, block), p = 0;
    const char* panels = tables.panels + panel_offset(plan, unit.group, block);
    do {
      int64_t depth = std::min(plan.depth, plan.k - p);
      plan.compute->indexed({lines, columns, depth, panels + lines * p * plan.compute->itemsize,
                             image, rows + p, sums, plan.sums_row, p > 0, false});
      p += plan.depth;
    } while (p < plan.k);
    store_lines(task, plan, unit, block, sums);
  }
}

void run_correlation(const ConvolveTask& task, const TapAxis& rows, const TapAxis& cols,
                     char* scratch, int threads) {
  if (rows.count == 0 || cols.count == 0) return;
  Correlation plan = plan_correlation(task, rows, cols);
  Tables tables = tables_in(plan, scratch);
  fill_tables(plan, tables);
  pack_kernel(task, plan, tables, threads);
  auto body = [&](int64_t chunk, int worker) {
    char* own = tables.workers + worker * plan.worker_bytes;
    int64_t first = chunk * plan.units_each, last = std::min(first + plan.units_each, plan.units);
    for (int64_t index = first; index < last; index++)
      run_unit(task, plan, tables, Unit(plan, index), own);
  };
  parallel(plan.chunks, plan.ns_each, task.interruptible, body, threads);
}

// f(rows, cols) for each set of places whose elements meet the same taps.
template <class F>
void each_correlation(const ConvolveTask& task, F f) {
  if (task.result == ConvolveResult::output)
    return f(forward_axis(task.rows), forward_axis(task.cols));
  int64_t row_sets = std::min(adjoint_period(task.rows), task.rows.kernel);
  int64_t col_sets = std::min(adjoint_period(task.cols), task.cols.kernel);
  for (int64_t i = 0; i < row_sets; i++)
    for (int64_t j = 0; j < col_sets; j++)
      f(adjoint_axis(task.rows, i), adjoint_axis(task.cols, j));
}

// Whether some elements of the input meet no tap.
bool has_gaps(const ConvolveTask& task) {
  auto leaves = [](const ConvolveAxis& axis) {
    return axis.stride > std::min(adjoint_period(axis), axis.kernel);
  };
  return task.result == ConvolveResult::input && (leaves(task.rows) || leaves(task.cols));
}

// Elements that meet no tap are the bias, or zero.
void fill_input(const ConvolveTask& task, int threads) {
  int64_t item = itemsize(task.dtype), channels = task.groups * task.in_channels;
  const int64_t* strides = task.x.strides;
  const ConvolveDtype& kind = convolve_kernel(task.dtype);
  alignas(64) static constexpr char ZEROS[512] = {};
  constexpr int64_t SPAN = 64;
  auto body = [&](int64_t n, int) {
    for (int64_t col = 0; col < task.cols.image; col += SPAN)
      kind.store({task.x.data + (n * strides[0] + col * strides[3]) * item, strides[1], strides[2],
                  strides[3], ZEROS, 0, 0, task.bias, task.bias_stride, channels, task.rows.image,
                  std::min(SPAN, task.cols.image - col)});
  };
  int64_t ns = int64_t(double(channels) * double(task.rows.image) * double(task.cols.image) /
                       WINDOW_PER_NS) +
               1;
  parallel(task.batch, ns, task.interruptible, body, threads);
}

bool is_empty(const ConvolveTask& task) {
  bool is_output = task.result == ConvolveResult::output;
  int64_t channels = is_output ? task.out_channels : task.in_channels;
  return task.batch == 0 || task.groups == 0 || channels == 0;
}

}  // namespace

int64_t convolve_scratch_bytes(const ConvolveTask& task, int threads) {
  if (task.result == ConvolveResult::weight) return weight_scratch_bytes(task, threads);
  int64_t bytes = 0;
  if (is_empty(task)) return bytes;
  each_correlation(task, [&](const TapAxis& rows, const TapAxis& cols) {
    if (rows.count == 0 || cols.count == 0) return;
    Correlation plan = plan_correlation(task, rows, cols);
    int64_t workers = std::min<int64_t>(plan.chunks, threads) * plan.worker_bytes;
    bytes = std::max(bytes, plan.tables_bytes + plan.panels_bytes + workers);
  });
  return bytes;
}

void convolve(const ConvolveTask& task, void* scratch, int threads) {
  if (task.result == ConvolveResult::weight)
    return convolve_weight(task, static_cast<char*>(scratch), threads);
  if (is_empty(task)) return;
  if (has_gaps(task)) fill_input(task, threads);
  each_correlation(task, [&](const TapAxis& rows, const TapAxis& cols) {
    run_correlation(task, rows, cols, static_cast<char*>(scratch), threads);
  });
}

}  // namespace tessella::launch
