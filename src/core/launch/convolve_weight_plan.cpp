// Chooses how weights' sums are ordered, multiplied and cut between threads.
#include "convolve_weight_plan.h"

#include <algorithm>

namespace tessella::launch {

// What the order of sums depends on: functions of sizes only.
constexpr int64_t PLACES = 512;              // in a block, about
constexpr int64_t LINE_MOST = 1024;          // longer lines are cut into blocks
constexpr int64_t PARTS = 8;                 // at most,
constexpr int64_t PART_PRODUCTS = 1 << 22;   // each of at least so many,
constexpr int64_t PARTS_ELEMENTS = 1 << 20;  // and all of no more sums than these
// How sums are cut between threads and kept in caches.
constexpr int64_t LINES = 128;
constexpr int64_t COLUMNS = 64;

// About how many vectors are multiplied for one place; too few chains at a time leave the
// multipliers idle.
static double cost_of(const WeightPlan& plan, int64_t lines, int64_t columns, int64_t times) {
  constexpr int64_t CHAINS = 8;
  int64_t vector = plan.compute->tile_cols / 2;
  int64_t chains = std::min(lines, int64_t(plan.compute->tile_rows)) *
                   std::min<int64_t>(ceil_div(columns, vector), 2);
  double idle = chains < CHAINS ? double(CHAINS) / double(std::max<int64_t>(chains, 1)) : 1;
  return double(lines) * double(ceil_div(columns, vector)) * double(times) * idle;
}

static void choose_exchange(const ConvolveTask& task, WeightPlan& plan) {
  constexpr double GATHERED = 12, PACKED = 3;  // an element of a panel, in vectors multiplied
  double o = double(task.out_channels), pairs = double(task.in_channels) * double(plan.taps);
  double straight = cost_of(plan, task.out_channels, task.in_channels, plan.taps) + PACKED * o;
  double exchanged = cost_of(plan, task.in_channels * plan.taps, task.out_channels, 1);
  plan.is_exchanged = exchanged + GATHERED * pairs < straight;
}

static void choose_units(const ConvolveTask& task, WeightPlan& plan) {
  if (plan.is_lanewise) {
    plan.outs = std::min(task.groups, COLUMNS);
    plan.ins = plan.in_blocks = plan.lines = 1;
    plan.out_blocks = plan.units = ceil_div(task.groups, plan.outs);
    plan.columns = plan.outs;
    plan.width = ceil_div(plan.columns, 16) * 16;
    return;
  }
  plan.outs = std::min(task.out_channels, plan.is_exchanged ? COLUMNS : LINES);
  plan.ins = std::min(task.in_channels, plan.is_exchanged ? ceil_div(LINES, plan.taps) : COLUMNS);
  plan.out_blocks = ceil_div(task.out_channels, plan.outs);
  plan.in_blocks = ceil_div(task.in_channels, plan.ins);
  plan.units = task.groups * plan.out_blocks * plan.in_blocks;
  plan.lines = plan.is_exchanged ? plan.ins * plan.taps : plan.outs;
  plan.columns = plan.is_exchanged ? plan.outs : plan.ins;
  plan.width = plan.columns <= 4 ? plan.columns : ceil_div(plan.columns, 16) * 16;
}

static void choose_parts(const ConvolveTask& task, WeightPlan& plan) {
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
  plan.is_lanewise = task.in_channels == 1 && task.out_channels == 1 && task.groups > 1;
  if (!plan.is_lanewise) choose_exchange(task, plan);
  choose_units(task, plan);
  choose_parts(task, plan);
  int64_t item = plan.compute->itemsize, places = plan.rows.block * plan.cols.block;
  plan.sums_bytes =
      align64((plan.is_lanewise ? plan.width : plan.outs) * plan.ins * plan.taps * item);
  plan.shared_bytes = plan.parts * plan.units * plan.sums_bytes;
  int64_t offsets = plan.is_lanewise ? plan.taps : plan.lines;
  plan.tables_bytes = align64((2 * places + offsets) * int64_t(sizeof(int64_t)));
  plan.panels_bytes = plan.is_lanewise ? 0 : align64(places * plan.lines * item);
  int64_t image = window_elements(plan) * (plan.is_exchanged ? plan.ins : plan.width);
  int64_t other = plan.is_exchanged || plan.is_lanewise ? places * plan.width : 0;
  plan.image_bytes = align64(image * item) + 64;  // a last vector may read on
  plan.worker_bytes = plan.tables_bytes + plan.panels_bytes + plan.image_bytes +
                      (other > 0 ? align64(other * item) + 64 : 0);
  return plan;
}

}  // namespace tessella::launch
