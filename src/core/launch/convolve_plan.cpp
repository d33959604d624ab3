// The geometry of convolutions, and how the output and the input are cut into blocks.
#include "convolve_plan.h"

#include <algorithm>
#include <numeric>

namespace tessella::launch {

// Sizes in elements, from those of the caches.
constexpr int64_t IMAGE_ELEMENTS = 1 << 16;  // a block's windows, in a part of L2
constexpr int64_t SUMS_ELEMENTS = 1 << 16;   // its sums, in another
constexpr int64_t COLUMNS_MOST = 4096;
constexpr int64_t COLUMNS_LEAST = 64;  // fewer are not worth a tile's beginning and end
constexpr int64_t DEPTH_BYTES = 3072;  // of k, for one line: panels of a fill most of L1

void TapAxis::cut(int64_t places) {
  block = places;
  reach = taps > 0 ? (taps - 1) * gap / step : 0;
  is_spread = reach >= block;
  int64_t remainders = std::min(taps, step / std::gcd(step, gap));
  slots = std::max<int64_t>(is_spread ? taps : remainders, 1);
  if (is_spread) reach = 0;
  extent = block + reach;
}

TapAxis forward_axis(const ConvolveAxis& axis) {
  TapAxis found{};
  found.count = axis.out, found.out_first = 0, found.out_step = 1;
  found.taps = axis.kernel, found.tap_first = 0, found.tap_step = 1;
  found.image = axis.image;
  found.first = -axis.pad, found.step = axis.stride, found.gap = axis.dilation;
  found.cut(std::max<int64_t>(found.count, 1));
  return found;
}

int64_t adjoint_period(const ConvolveAxis& axis) {
  return axis.stride / std::gcd(axis.stride, axis.dilation);
}

// Element h of the input is reached from p = (h + pad - k * dilation) / stride, where that is
// whole. All taps k of one remainder of k * dilation reach the same ones: h + pad = q * stride +
// remainder, p = q - k * dilation / stride.
TapAxis adjoint_axis(const ConvolveAxis& axis, int64_t tap_first) {
  TapAxis found{};
  int64_t period = adjoint_period(axis), remainder = tap_first * axis.dilation % axis.stride;
  int64_t lowest = axis.pad - remainder;  // of q * stride
  int64_t q = lowest >= 0 ? ceil_div(lowest, axis.stride) : -(-lowest / axis.stride);
  found.out_first = q * axis.stride + remainder - axis.pad, found.out_step = axis.stride;
  int64_t left = axis.image - found.out_first;
  found.count = left > 0 ? ceil_div(left, axis.stride) : 0;
  found.taps = ceil_div(axis.kernel - tap_first, period);
  found.tap_first = tap_first, found.tap_step = period, found.is_reversed = true;
  found.image = axis.out;
  found.step = 1, found.gap = period * axis.dilation / axis.stride;
  found.first = q - tap_first * axis.dilation / axis.stride - (found.taps - 1) * found.gap;
  found.cut(std::max<int64_t>(found.count, 1));
  return found;
}

// The task's operands by their roles.
static Correlation read_task(const ConvolveTask& task, const TapAxis& rows, const TapAxis& cols) {
  bool is_output = task.result == ConvolveResult::output;
  Correlation plan{};
  plan.kind = &convolve_kernel(task.dtype);
  plan.compute = matmul_kernels().of[int(task.dtype)].compute;
  plan.batch = task.batch, plan.groups = task.groups;
  plan.m = is_output ? task.out_channels : task.in_channels;
  plan.channels = is_output ? task.in_channels : task.out_channels;
  plan.rows = rows, plan.cols = cols;
  plan.k = plan.channels * rows.taps * cols.taps;
  plan.image = is_output ? task.x : task.y;
  plan.out = is_output ? task.y : task.x;
  const int64_t* strides = task.w.strides;
  plan.w = task.w.data;
  plan.w_group = task.out_channels * strides[0];
  plan.w_line = strides[is_output ? 0 : 1], plan.w_channel = strides[is_output ? 1 : 0];
  plan.w_row = strides[2], plan.w_col = strides[3];
  return plan;
}

static int64_t window_elements(const Correlation& plan) {
  return plan.channels * plan.rows.slots * plan.cols.slots * plan.rows.extent * plan.cols.extent *
         plan.images;
}

static int64_t flat_columns(const Correlation& plan) {
  return (plan.images - 1) * plan.rows.extent * plan.cols.extent +
         (plan.rows.block - 1) * plan.cols.extent + plan.cols.block;
}

static bool halve_places(Correlation& plan, int64_t least) {
  if (plan.rows.block > 1 && flat_columns(plan) > least) {
    plan.rows.cut(ceil_div(plan.rows.block, 2));
  } else if (plan.rows.block == 1 && plan.cols.block > least) {
    plan.cols.cut(ceil_div(plan.cols.block, 2));
  } else {
    return false;
  }
  return true;
}

// Windows and columns that stay near; several images, where one is less than some tiles.
static void choose_places(Correlation& plan) {
  plan.images = 1;
  while ((window_elements(plan) > IMAGE_ELEMENTS || flat_columns(plan) > COLUMNS_MOST) &&
         halve_places(plan, COLUMNS_LEAST)) {
  }
  bool is_enough = flat_columns(plan) >= 2 * COLUMNS_LEAST;
  if (is_enough || plan.rows.blocks() * plan.cols.blocks() > 1) return;
  int64_t wanted = ceil_div(4 * COLUMNS_LEAST, flat_columns(plan));
  int64_t room = std::max<int64_t>(IMAGE_ELEMENTS / std::max<int64_t>(window_elements(plan), 1), 1);
  plan.images = std::clamp<int64_t>(std::min(wanted, room), 1, std::max<int64_t>(plan.batch, 1));
}

static double unit_ns(const Correlation& plan) {
  double products = double(plan.m) * double(plan.k) * double(flat_columns(plan));
  double moved = double(window_elements(plan)) + double(plan.m) * double(flat_columns(plan));
  return products / plan.compute->products_per_ns / double(plan.line_chunks) +
         moved / WINDOW_PER_NS;
}

static void count_units(Correlation& plan) {
  plan.units = plan.groups * ceil_div(plan.batch, plan.images) * plan.rows.blocks() *
               plan.cols.blocks() * plan.line_chunks;
}

// Enough chunks for the threads, of a time that is worth it, and none too long.
static void choose_chunks(Correlation& plan) {
  plan.line_chunks = 1;
  count_units(plan);
  while ((plan.units < CHUNKS_WANTED && unit_ns(plan) > 2 * CHUNK_LEAST_NS) ||
         unit_ns(plan) > CHUNK_MOST_NS) {
    if (plan.images > 1) {
      plan.images = ceil_div(plan.images, 2);
    } else if (!halve_places(plan, 2 * COLUMNS_LEAST)) {
      if (2 * plan.line_chunks * plan.compute->tile_rows > plan.m) break;
      plan.line_chunks *= 2;
    }
    count_units(plan);
  }
  double ns = std::max(unit_ns(plan), 1.0);
  plan.units_each =
      std::clamp(int64_t(CHUNK_LEAST_NS / ns), int64_t(1), std::max<int64_t>(plan.units, 1));
  plan.chunks = ceil_div(plan.units, plan.units_each);
  plan.ns_each = int64_t(ns * double(plan.units_each)) + 1;
}

static void choose_lines(Correlation& plan) {
  int64_t tile = plan.compute->tile_rows;
  int64_t most = std::max(SUMS_ELEMENTS / plan.columns, 4 * tile);
  int64_t each = ceil_div(plan.m, plan.line_chunks);
  plan.lines = std::max<int64_t>(ceil_div(each, ceil_div(each, most)), 1);
  if (plan.lines < plan.m) plan.lines = ceil_div(plan.lines, tile) * tile;
  plan.line_blocks = ceil_div(plan.m, plan.lines);
  plan.line_chunks = std::min(plan.line_chunks, std::max<int64_t>(plan.line_blocks, 1));
}

// Rows of sums a multiple of a large power of two apart would share few sets of L1.
static int64_t spaced(int64_t columns) {
  int64_t row = ceil_div(columns, 16) * 16;
  return row % 256 == 0 ? row + 16 : row;
}

// Whole lines without gaps or borders, of elements that need no conversion.
static bool is_direct(const ConvolveTask& task, const Correlation& plan) {
  const TapAxis &rows = plan.rows, &cols = plan.cols;
  const int64_t* strides = plan.image.strides;
  bool is_native = task.dtype == compute_dtype(task.dtype) && plan.images == 1;
  bool is_plain = rows.step == 1 && cols.step == 1 && !rows.is_spread && !cols.is_spread;
  bool is_whole = cols.first == 0 && cols.block == cols.count && cols.extent == cols.image;
  bool is_inside = rows.first >= 0 && rows.first + rows.count + rows.reach <= rows.image;
  bool is_dense = strides[3] == 1 && (strides[2] == cols.image || rows.image == 1);
  bool is_forward = strides[0] >= 0 && strides[1] >= 0;
  return is_native && is_plain && is_whole && is_inside && is_dense && is_forward;
}

Correlation plan_correlation(const ConvolveTask& task, const TapAxis& rows, const TapAxis& cols) {
  Correlation plan = read_task(task, rows, cols);
  choose_places(plan);
  choose_chunks(plan);
  plan.plane = plan.rows.extent * plan.cols.extent;
  plan.columns = flat_columns(plan);
  plan.is_direct = is_direct(task, plan);
  choose_lines(plan);
  count_units(plan);
  plan.chunks = ceil_div(plan.units, plan.units_each);
  plan.sums_row = spaced(plan.columns);
  int64_t item = plan.compute->itemsize, most = std::max<int64_t>(DEPTH_BYTES / item, 1);
  plan.depth = std::max<int64_t>(ceil_div(plan.k, std::max<int64_t>(ceil_div(plan.k, most), 1)), 1);
  plan.tables_bytes = align64((3 * plan.k + plan.m) * int64_t(sizeof(int64_t)));
  plan.panels_bytes = align64(plan.groups * plan.m * plan.k * item);
  plan.image_bytes = align64(window_elements(plan) * item) + 64;  // a last vector may read on
  plan.worker_bytes = plan.image_bytes + align64(plan.lines * plan.sums_row * item);
  return plan;
}

}  // namespace tessella::launch
