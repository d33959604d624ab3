// Runs the adjoint of a convolution in its weight: w[o, c, k] = sum of y[n, o, p] * x[n, c, p + k]
// over all images and places. Columns of the product are channels of x, for one tap after another,
// and its lines channels of y; or, where x has few, columns are channels of y, and lines the pairs
// of a channel of x and a tap. Either way the operand of columns is brought into scratch with its
// channels adjacent, so that its rows need no packing. Where every group has one channel of each,
// there is no product: groups are the lanes of vectors.
#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "convolve_weight_plan.h"

namespace tessella::launch {

namespace {

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
  unit.outs = std::min(plan.outs, (plan.is_lanewise ? task.groups : task.out_channels) - unit.out);
  if (plan.is_lanewise) unit.in = unit.out, unit.ins = unit.outs;
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

// The places of y, with channels adjacent.
void bring_output(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit,
                  const Places& places) {
  const int64_t* strides = task.y.strides;
  int64_t first = unit.group * task.out_channels + unit.out;
  const char* y =
      task.y.data + (places.image * strides[0] + first * strides[1]) * itemsize(task.dtype);
  plan.kind->columns({unit.other, 1, places.cols * plan.width, plan.width, y, strides[1],
                      strides[2], strides[3], unit.outs,
                      ConvolveRange{places.rows, places.row, 1, task.rows.out},
                      ConvolveRange{places.cols, places.col, 1, task.cols.out}});
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
  int64_t window = window_elements(plan);
  bring_image(task, plan, unit, places);
  for (int64_t c = 0; c < unit.ins; c++)
    for (int64_t tap = 0; tap < plan.taps; tap++)
      unit.lines[c * plan.taps + tap] = c * window + tap_offset(plan, tap);
  fill_places(unit.steps, places, plan.cols.extent, 1);
  fill_places(unit.rows, places, places.cols * plan.width, plan.width);
  plan.compute_kind->panels({unit.panels, unit.image, unit.lines, unit.steps, unit.ins * plan.taps,
                             places.count(), plan.compute->tile_rows});
  bring_output(task, plan, unit, places);
  plan.compute->indexed({unit.ins * plan.taps, unit.outs, places.count(), unit.panels, unit.other,
                         unit.rows, unit.sums, unit.outs, false, add});
}

// Groups are lanes: sums (tap, group).
void multiply_lanes(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit,
                    const Places& places, bool add) {
  bring_image(task, plan, unit, places);
  bring_output(task, plan, unit, places);
  for (int64_t tap = 0; tap < plan.taps; tap++)
    unit.lines[tap] = tap_offset(plan, tap) * plan.width;
  fill_places(unit.rows, places, plan.cols.extent * plan.width, plan.width);
  plan.kind->lanes({unit.sums, unit.other, unit.image, unit.rows, unit.lines, places.count(),
                    plan.taps, plan.width, add});
}

// Adds up the parts of one unit, and writes its sums, or zeros.
void store_unit(const ConvolveTask& task, const WeightPlan& plan, const Unit& unit, int64_t index,
                char* shared) {
  int64_t size = plan.compute->itemsize, item = itemsize(task.dtype);
  const MatmulDtype& kind = matmul_kernels().of[int(task.dtype)];
  char* sums = shared + index * plan.sums_bytes;
  int64_t columns = plan.is_lanewise ? plan.width : plan.is_exchanged ? unit.outs : unit.ins;
  int64_t lines = plan.is_lanewise ? 1 : plan.is_exchanged ? unit.ins : unit.outs;
  for (int64_t part = 1; part < plan.parts; part++)
    plan.compute->add(sums, sums + part * plan.units * plan.sums_bytes,
                      lines * plan.taps * columns);
  const int64_t* strides = task.w.strides;
  int64_t first = unit.group * task.out_channels + unit.out;
  int64_t out_step = strides[0], in_step = strides[1];
  for (int64_t tap = 0; tap < plan.taps; tap++) {
    int64_t at = first * out_step + (plan.is_lanewise ? 0 : unit.in * in_step) +
                 tap / task.cols.kernel * strides[2] + tap % task.cols.kernel * strides[3];
    bool is_across = plan.is_exchanged || plan.is_lanewise;  // columns are channels of y
    kind.store({task.w.data + at * item, is_across ? in_step : out_step,
                is_across ? out_step : in_step, sums + tap * columns * size, plan.taps * columns,
                lines, plan.is_lanewise ? unit.outs : columns, false});
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
        auto multiply = plan.is_lanewise    ? multiply_lanes
                        : plan.is_exchanged ? multiply_exchanged
                                            : multiply_straight;
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
