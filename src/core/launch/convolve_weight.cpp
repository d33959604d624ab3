// Runs the adjoint of a convolution in its weight: w[o, c, k] = sum of y[n, o, p] * x[n, c, p + k]
// over all images and places. Columns of the product are channels of x, for one tap after another,
// and its lines channels of y; or, where x has few, columns are channels of y, and lines the pairs
// of a channel of x and a tap. Either way the operand of columns is brought into scratch with its
// channels adjacent, so that its rows need no packing.
#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "convolve_plan.h"

namespace tessella::launch {

namespace {

// What the order of sums depends on: functions of sizes only.
constexpr int64_t PLACES = 512;              // in a block, about
constexpr int64_t LINE_MOST = 1024;          // longer lines are cut into blocks
constexpr int64_t PARTS = 8;                 // at most,
constexpr int64_t PART_PRODUCTS = 1 << 22;   // each of at least so many,
constexpr int64_t PARTS_ELEMENTS = 1 << 20;  // and all of no more sums than these
// How sums are cut between threads and kept in caches.
constexpr int64_t LINES = 128;
constexpr int64_t COLUMNS = 64;

struct WeightPlan {
  const ConvolveDtype* kind;
  const ConvolveDtype* compute_kind;
  const MatmulCompute* compute;
  TapAxis rows, cols;  // of places
  int64_t taps, blocks, parts;
  bool is_exchanged;  // columns are channels of y

  int64_t outs, ins;  // channels of y and x in a unit, at most
  int64_t out_blocks, in_blocks, units;
  int64_t lines, columns, width;  // of a unit's product; width: from one place to the next
  int64_t rounds, ns_each;

  int64_t sums_bytes, shared_bytes;
  int64_t tables_bytes, panels_bytes, image_bytes, worker_bytes;
};

// About how many vectors are multiplied for one place; too few chains at a time leave the
// multipliers idle.
double cost_of(const WeightPlan& plan, int64_t lines, int64_t columns, int64_t times) {
  constexpr int64_t CHAINS = 8;
  int64_t vector = plan.compute->tile_cols / 2;
  int64_t chains = std::min(lines, int64_t(plan.compute->tile_rows)) *
                   std::min<int64_t>(ceil_div(columns, vector), 2);
  double idle = chains < CHAINS ? double(CHAINS) / double(std::max<int64_t>(chains, 1)) : 1;
  return double(lines) * double(ceil_div(columns, vector)) * double(times) * idle;
}

void choose_exchange(const ConvolveTask& task, WeightPlan& plan) {
  constexpr double GATHERED = 12, PACKED = 3;  // an element of a panel, in vectors multiplied
  double o = double(task.out_channels), pairs = double(task.in_channels) * double(plan.taps);
  double straight = cost_of(plan, task.out_channels, task.in_channels, plan.taps) + PACKED * o;
  double exchanged = cost_of(plan, task.in_channels * plan.taps, task.out_channels, 1);
  plan.is_exchanged = exchanged + GATHERED * pairs < straight;
}

void choose_units(const ConvolveTask& task, WeightPlan& plan) {
  plan.outs = std::min(task.out_channels, plan.is_exchanged ? COLUMNS : LINES);
  plan.ins = std::min(task.in_channels, plan.is_exchanged ? ceil_div(LINES, plan.taps) : COLUMNS);
  plan.out_blocks = ceil_div(task.out_channels, plan.outs);
  plan.in_blocks = ceil_div(task.in_channels, plan.ins);
  plan.units = task.groups * plan.out_blocks * plan.in_blocks;
  plan.lines = plan.is_exchanged ? plan.ins * plan.taps : plan.outs;
  plan.columns = plan.is_exchanged ? plan.outs : plan.ins;
  plan.width = plan.columns <= 4 ? plan.columns : ceil_div(plan.columns, 16) * 16;
}

void choose_parts(const ConvolveTask& task, WeightPlan& plan) {
  double sums = double(task.groups) * double(task.out_channels) * double(task.in_channels) *
                double(plan.taps);
  double products = sums * double(task.batch) * double(task.rows.out) * double(task.cols.out);
  double most = std::min({double(PARTS), products / double(PART_PRODUCTS),
                          double(PARTS_ELEMENTS) / sums, double(plan.blocks)});
  plan.parts = std::max<int64_t>(int64_t(most), 1);
  double ns = products / plan.compute->products_per_ns / double(plan.units * plan.parts);
  plan.rounds =
      std::clamp<int64_t>(int64_t(ns / CHUNK_MOST_NS), 1, std::max<int64_t>(plan.blocks, 1));
  plan.ns_each = int64_t(ns / double(plan.rounds)) + 1;
}

// Elements of a block's window of x; of y's in its place where columns are y's.
int64_t window_elements(const WeightPlan& plan) {
  return plan.rows.slots * plan.cols.slots * plan.rows.extent * plan.cols.extent;
}

WeightPlan plan_weight(const ConvolveTask& task) {
  WeightPlan plan{};
  plan.kind = &convolve_kernel(task.dtype);
  plan.compute_kind = &convolve_kernel(compute_dtype(task.dtype));
  plan.compute = matmul_kernels().of[int(task.dtype)].compute;
  plan.rows = forward_axis(task.rows), plan.cols = forward_axis(task.cols);
  int64_t line = std::max<int64_t>(task.cols.out, 1);
  if (line > LINE_MOST) plan.cols.cut(PLACES);
  plan.rows.cut(std::clamp<int64_t>(PLACES / line, 1, std::max<int64_t>(task.rows.out, 1)));
  plan.taps = task.rows.kernel * task.cols.kernel;
  plan.blocks = task.batch * plan.rows.blocks() * plan.cols.blocks();
  choose_exchange(task, plan);
  choose_units(task, plan);
  choose_parts(task, plan);
  int64_t item = plan.compute->itemsize, places = plan.rows.block * plan.cols.block;
  plan.sums_bytes = align64(plan.outs * plan.ins * plan.taps * item);
  plan.shared_bytes = plan.parts * plan.units * plan.sums_bytes;
  plan.tables_bytes = align64((2 * places + plan.lines) * int64_t(sizeof(int64_t)));
  plan.panels_bytes = align64(places * plan.lines * item);
  int64_t image = window_elements(plan) * (plan.is_exchanged ? plan.ins : plan.width);
  int64_t other = plan.is_exchanged ? places * plan.width : 0;
  plan.image_bytes = align64(image * item) + 64;  // a last vector may read on
  plan.worker_bytes = plan.tables_bytes + plan.panels_bytes + plan.image_bytes +
                      (other > 0 ? align64(other * item) + 64 : 0);
  return plan;
}

// The channels of one unit, and where its scratch is.
struct Unit {
  int64_t out, outs, in, ins, group;  // channels of the group, and how many
  int64_t* rows;
  int64_t* steps;
  int64_t* lines;
  char* panels;
  char* image;
  char* other;
  char* sums;
};

Unit unit_at(const ConvolveTask& task, const WeightPlan& plan, int64_t index, char* scratch) {
  Unit unit{};
  unit.in = index % plan.in_blocks * plan.ins, index /= plan.in_blocks;
  unit.out = index % plan.out_blocks * plan.outs;
  unit.group = index / plan.out_blocks;
  unit.ins = std::min(plan.ins, task.in_channels - unit.in);
  unit.outs = std::min(plan.outs, task.out_channels - unit.out);
  int64_t places = plan.rows.block * plan.cols.block;
  unit.rows = reinterpret_cast<int64_t*>(scratch);
  unit.steps = unit.rows + places, unit.lines = unit.steps + places;
  unit.panels = scratch + plan.tables_bytes;
  unit.image = unit.panels + plan.panels_bytes;
  unit.other = unit.image + plan.image_bytes;
  return unit;
}

// A block of places in one image.
struct Places {
  int64_t image, row, col, rows, cols;

  Places(const WeightPlan& plan, int64_t index) {
    col = index % plan.cols.blocks() * plan.cols.block, index /= plan.cols.blocks();
    row = index % plan.rows.blocks() * plan.rows.block;
    image = index / plan.rows.blocks();
    rows = plan.rows.places(row), cols = plan.cols.places(col);
  }
  int64_t count() const { return rows * cols; }
};

// table[p] for each place of the block.
void fill_places(int64_t* table, const Places& places, int64_t row, int64_t col) {
  for (int64_t i = 0; i < places.rows; i++)
    for (int64_t j = 0; j < places.cols; j++) *table++ = i * row + j * col;
}

int64_t tap_offset(const WeightPlan& plan, int64_t tap) {
  int64_t i = tap / plan.cols.taps, j = tap % plan.cols.taps;
  int64_t slot = plan.rows.slot_of(i) * plan.cols.slots + plan.cols.slot_of(j);
  return (slot * plan.rows.extent + plan.rows.shift_of(i)) * plan.cols.extent +
         plan.cols.shift_of(j);
}

// The window of x that the places need: channels apart where columns are y's, else adjacent.
void bring_image(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit,
                 const Places& places) {
  int64_t channel = plan.is_exchanged ? window_elements(plan) : 1;
  int64_t col = plan.is_exchanged ? 1 : plan.width;
  int64_t item = itemsize(task.dtype), plane = plan.rows.extent * plan.cols.extent;
  const int64_t* strides = task.x.strides;
  int64_t first = unit.group * task.in_channels + unit.in;
  const char* in = task.x.data + (places.image * strides[0] + first * strides[1]) * item;
  auto bring = plan.is_exchanged ? plan.kind->window : plan.kind->columns;
  for (int64_t slot = 0; slot < plan.rows.slots * plan.cols.slots; slot++)
    bring({unit.image + slot * plane * col * plan.compute->itemsize, channel,
           plan.cols.extent * col, col, in, strides[1], strides[2], strides[3], unit.ins,
           plan.rows.range(slot / plan.cols.slots, places.row),
           plan.cols.range(slot % plan.cols.slots, places.col)});
}

// Lines are channels of y, columns those of x, for each tap: sums (out, tap, in).
void multiply_straight(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit,
                       const Places& places, bool add) {
  int64_t item = itemsize(task.dtype), size = plan.compute->itemsize;
  const int64_t* strides = task.y.strides;
  bring_image(task, plan, unit, places);
  int64_t first = unit.group * task.out_channels + unit.out;
  const char* y = task.y.data + (places.image * strides[0] + first * strides[1] +
                                 places.row * strides[2] + places.col * strides[3]) *
                                    item;
  for (int64_t i = 0; i < unit.outs; i++) unit.lines[i] = i * strides[1];
  fill_places(unit.steps, places, strides[2], strides[3]);
  fill_places(unit.rows, places, plan.cols.extent * plan.width, plan.width);
  plan.kind->panels(
      {unit.panels, y, unit.lines, unit.steps, unit.outs, places.count(), plan.compute->tile_rows});
  for (int64_t tap = 0; tap < plan.taps; tap++)
    plan.compute->indexed({unit.outs, unit.ins, places.count(), unit.panels,
                           unit.image + tap_offset(plan, tap) * plan.width * size, unit.rows,
                           unit.sums + tap * unit.ins * size, plan.taps * unit.ins, false, add});
}

// Lines are channels of x with taps, columns channels of y: sums (in, tap, out).
void multiply_exchanged(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit,
                        const Places& places, bool add) {
  int64_t item = itemsize(task.dtype), window = window_elements(plan);
  const int64_t* strides = task.y.strides;
  bring_image(task, plan, unit, places);
  for (int64_t c = 0; c < unit.ins; c++)
    for (int64_t tap = 0; tap < plan.taps; tap++)
      unit.lines[c * plan.taps + tap] = c * window + tap_offset(plan, tap);
  fill_places(unit.steps, places, plan.cols.extent, 1);
  fill_places(unit.rows, places, places.cols * plan.width, plan.width);
  plan.compute_kind->panels({unit.panels, unit.image, unit.lines, unit.steps, unit.ins * plan.taps,
                             places.count(), plan.compute->tile_rows});
  int64_t first = unit.group * task.out_channels + unit.out;
  const char* y = task.y.data + (places.image * strides[0] + first * strides[1]) * item;
  plan.kind->columns({unit.other, 1, places.cols * plan.width, plan.width, y, strides[1],
                      strides[2], strides[3], unit.outs,
                      ConvolveRange{places.rows, places.row, 1, task.rows.out},
                      ConvolveRange{places.cols, places.col, 1, task.cols.out}});
  plan.compute->indexed({unit.ins * plan.taps, unit.outs, places.count(), unit.panels, unit.other,
                         unit.rows, unit.sums, unit.outs, false, add});
}

// Adds up the parts of one unit, and writes its sums, or zeros.
void store_unit(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit, int64_t index,
                char* shared) {
  int64_t size = plan.compute->itemsize, item = itemsize(task.dtype);
  const MatmulDtype& kind = matmul_kernels().of[int(task.dtype)];
  char* sums = shared + index * plan.sums_bytes;
  for (int64_t part = 1; part < plan.parts; part++)
    plan.compute->add(sums, sums + part * plan.units * plan.sums_bytes,
                      unit.outs * unit.ins * plan.taps);
  const int64_t* strides = task.w.strides;
  int64_t first = unit.group * task.out_channels + unit.out;
  int64_t across = plan.is_exchanged ? unit.outs : unit.ins;
  for (int64_t tap = 0; tap < plan.taps; tap++) {
    char* w =
        task.w.data + (first * strides[0] + unit.in * strides[1] +
                       tap / task.cols.kernel * strides[2] + tap % task.cols.kernel * strides[3]) *
                          item;
    const char* from = sums + tap * across * size;
    if (plan.is_exchanged)
      kind.store({w, strides[1], strides[0], from, plan.taps * across, unit.ins, unit.outs, false});
    else
      kind.store({w, strides[0], strides[1], from, plan.taps * across, unit.outs, unit.ins, false});
  }
}

// The blocks of one part that one round takes.
struct Span {
  int64_t first, last, begin;  // begin: of the part
  Span(const WeightPlan& plan, int64_t part, int64_t round) {
    begin = part * plan.blocks / plan.parts;
    int64_t count = (part + 1) * plan.blocks / plan.parts - begin;
    first = begin + round * count / plan.rounds;
    last = begin + (round + 1) * count / plan.rounds;
  }
};

bool has_sums(const ConvolveTask& task) {
  return task.groups * task.in_channels * task.out_channels > 0;
}

}  // namespace

int64_t weight_scratch_bytes(const ConvolveTask& task, int threads) {
  if (!has_sums(task)) return 0;
  WeightPlan plan = plan_weight(task);
  int64_t workers = std::min<int64_t>(plan.units * plan.parts, threads);
  return plan.shared_bytes + workers * plan.worker_bytes;
}

void convolve_weight(const ConvolveTask& task, char* scratch, int threads) {
  if (!has_sums(task)) return;
  WeightPlan plan = plan_weight(task);
  char* workers = scratch + plan.shared_bytes;
  if (plan.blocks == 0) memset(scratch, 0, size_t(plan.shared_bytes));
  for (int64_t round = 0; round < plan.rounds; round++) {
    auto body = [&](int64_t chunk, int worker) {
      int64_t part = chunk / plan.units, index = chunk % plan.units;
      Unit unit = unit_at(task, plan, index, workers + worker * plan.worker_bytes);
      unit.sums = scratch + chunk * plan.sums_bytes;
      Span span(plan, part, round);
      for (int64_t block = span.first; block < span.last; block++) {
        auto multiply = plan.is_exchanged ? multiply_exchanged : multiply_straight;
        multiply(task, plan, unit, Places(plan, block), block > span.begin);
      }
    };
    parallel(plan.units * plan.parts, plan.ns_each, task.interruptible, body, threads);
  }
  auto finish = [&](int64_t index, int worker) {
    Unit unit = unit_at(task, plan, index, workers + worker * plan.worker_bytes);
    store_unit(task, plan, unit, index, scratch);
  };
  int64_t sums = plan.sums_bytes / plan.compute->itemsize;
  parallel(plan.units, plan.parts * sums / 2 + 1, task.interruptible, finish, threads);
}

}  // namespace tessella::launch
