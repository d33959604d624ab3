// Finds and moves the elements that pools choose. Chunks are planes, or rows of a large one.
#include "pool.h"

#include <algorithm>
#include <cmath>

#include "../kernels/pool.h"
#include "../threads.h"
#include "convolve_plan.h"

namespace tessella::launch {

namespace {

constexpr int64_t WINDOW_ELEMENTS = 1 << 14;  // brought into scratch at once: a part of L1 and L2
constexpr int64_t CHUNK_ELEMENTS = 1 << 15;

struct PoolPlan {
  const ConvolveDtype* kind;
  const PoolKernel* kernel;
  int64_t item;  // bytes of an element in scratch
  TapAxis cols;
  int64_t rows, row_blocks;  // places of a unit
  int64_t lines;             // rows of the image that it needs
  int64_t units, units_each, chunks;
  int64_t image_bytes, worker_bytes;
};

// The tables of a worker, behind its image.
struct Tables {
  int64_t* starts;   // of each column of a window, in the image's lines
  int64_t* offsets;  // of each tap, in the image
  int64_t* steps;    // of each tap, in the plane
  int32_t* chosen;   // the tap of each place

  Tables(const PoolTask& task, char* scratch) {
    int64_t taps = task.rows.window * task.cols.window;
    starts = reinterpret_cast<int64_t*>(scratch);
    offsets = starts + task.cols.window, steps = offsets + taps;
    chosen = reinterpret_cast<int32_t*>(steps + taps);
  }
  static int64_t bytes(const PoolTask& task) {
    int64_t taps = task.rows.window * task.cols.window;
    return align64((task.cols.window + 2 * taps) * int64_t(sizeof(int64_t)) +
                   task.cols.out * int64_t(sizeof(int32_t)));
  }
};

int64_t lines_for(const PoolAxis& rows, int64_t places) {
  return (places - 1) * rows.stride + (rows.window - 1) * rows.dilation + 1;
}

PoolPlan plan_pool(const PoolTask& task) {
  PoolPlan plan{};
  const PoolKernels& kernels = TS_CHOSEN(pool_kernels);
  bool is_wide = task.dtype == DType::float64;
  plan.kind = &convolve_kernel(task.dtype);
  plan.kernel = is_wide ? &kernels.float64 : &kernels.float32;
  plan.item = is_wide ? 8 : 4;
  const PoolAxis& cols = task.cols;
  plan.cols =
      forward_axis({cols.image, cols.window, cols.out, cols.stride, cols.pad, cols.dilation});
  int64_t line = plan.cols.slots * plan.cols.extent;
  plan.rows = task.rows.out;
  // Rows of the image are kept whole, so that a dilated window of few rows may need many.
  auto needed = [&] { return std::min(lines_for(task.rows, plan.rows), task.rows.image); };
  while (plan.rows > 1 && needed() * line > WINDOW_ELEMENTS) plan.rows = ceil_div(plan.rows, 2);
  plan.lines = needed();
  plan.row_blocks = ceil_div(task.rows.out, plan.rows);
  plan.units = task.batch * task.channels * plan.row_blocks;
  plan.units_each = std::clamp<int64_t>(CHUNK_ELEMENTS / std::max<int64_t>(plan.lines * line, 1), 1,
                                        std::max<int64_t>(plan.units, 1));
  plan.chunks = ceil_div(plan.units, plan.units_each);
  plan.image_bytes = align64(plan.lines * line * plan.item) + 64;  // a last vector may read on
  plan.worker_bytes = plan.image_bytes + Tables::bytes(task);
  return plan;
}

// The taps of one row of places that lie inside of the image's rows.
struct RowTaps {
  int64_t first, count;
  RowTaps(const PoolAxis& axis, int64_t place) {
    int64_t start = place * axis.stride - axis.pad;
    first = start < 0 ? ceil_div(-start, axis.dilation) : 0;
    int64_t left = axis.image - start;
    int64_t last = left > 0 ? ceil_div(left, axis.dilation) : 0;
    count = std::max<int64_t>(std::min(last, axis.window) - first, 0);
  }
};

int64_t first_inside(const PoolAxis& axis, int64_t place) {
  int64_t start = place * axis.stride - axis.pad;
  return start < 0 ? start + ceil_div(-start, axis.dilation) * axis.dilation : start;
}

// The places of row i of the result; line `top` of the image is the first in scratch.
void pool_row(const PoolTask& task, const PoolPlan& plan, const Tables& tables, const char* image,
              int64_t top, int64_t i, int64_t* out) {
  RowTaps taps(task.rows, i);
  int64_t window = task.cols.window, start = i * task.rows.stride - task.rows.pad, t = 0;
  for (int64_t k = taps.first; k < taps.first + taps.count; k++)
    for (int64_t j = 0; j < window; j++, t++) {
      int64_t line = start + k * task.rows.dilation;
      tables.offsets[t] = tables.starts[j] + (line - top) * plan.cols.extent;
      tables.steps[t] = line * task.cols.image + j * task.cols.dilation - task.cols.pad;
    }
  plan.kernel->largest(tables.chosen, image, tables.offsets, t, task.cols.out);
  for (int64_t j = 0; j < task.cols.out; j++) {
    int32_t tap = tables.chosen[j];
    out[j] = tap >= 0 ? tables.steps[tap] + j * task.cols.stride
                      : first_inside(task.rows, i) * task.cols.image + first_inside(task.cols, j);
  }
}

void pool_unit(const PoolTask& task, const PoolPlan& plan, int64_t unit, char* scratch) {
  int64_t plane = unit / plan.row_blocks, row = unit % plan.row_blocks * plan.rows;
  int64_t last = std::min(row + plan.rows, task.rows.out);
  const int64_t* strides = task.x.strides;
  const char* in =
      task.x.data + (plane / task.channels * strides[0] + plane % task.channels * strides[1]) *
                        itemsize(task.dtype);
  int64_t top =
      std::clamp<int64_t>(row * task.rows.stride - task.rows.pad, 0, task.rows.image - plan.lines);
  int64_t slot_size = plan.lines * plan.cols.extent;
  for (int64_t slot = 0; slot < plan.cols.slots; slot++)
    plan.kind->window({scratch + slot * slot_size * plan.item, 0, plan.cols.extent, 1, in, 0,
                       strides[2], strides[3], 1,
                       ConvolveRange{plan.lines, top, 1, task.rows.image}, plan.cols.range(slot, 0),
                       -INFINITY});
  Tables tables(task, scratch + plan.image_bytes);
  for (int64_t j = 0; j < task.cols.window; j++)
    tables.starts[j] = plan.cols.slot_of(j) * slot_size + plan.cols.shift_of(j);
  for (int64_t i = row; i < last; i++)
    pool_row(task, plan, tables, scratch, top, i,
             task.places + (plane * task.rows.out + i) * task.cols.out);
}

// --- windows that share an axis evenly
// ------------------------------------------------------------

struct Share {
  int64_t first, last;
  Share(const PoolAxis& axis, int64_t place) {
    // place * image / out would overflow where both are large.
    __int128 at = place, image = axis.image;
    first = int64_t(at * image / axis.out);
    last = int64_t(((at + 1) * image + axis.out - 1) / axis.out);
  }
};

template <class T>
int64_t largest_in(const T* line, const PoolTask& task, const Share& rows, const Share& cols) {
  int64_t found = rows.first * task.cols.image + cols.first;
  T most = -T(INFINITY);
  for (int64_t h = rows.first; h < rows.last; h++)
    for (int64_t w = cols.first; w < cols.last; w++) {
      T next = line[h * task.cols.image + w];
      if (next > most || next != next) most = next, found = h * task.cols.image + w;
    }
  return found;
}

// A plane at a time, brought into scratch.
void share_plane(const PoolTask& task, int64_t plane, char* scratch) {
  const int64_t* strides = task.x.strides;
  const char* in =
      task.x.data + (plane / task.channels * strides[0] + plane % task.channels * strides[1]) *
                        itemsize(task.dtype);
  convolve_kernel(task.dtype)
      .window({scratch, 0, task.cols.image, 1, in, 0, strides[2], strides[3], 1,
               ConvolveRange{task.rows.image, 0, 1, task.rows.image},
               ConvolveRange{task.cols.image, 0, 1, task.cols.image}});
  int64_t* out = task.places + plane * task.rows.out * task.cols.out;
  for (int64_t i = 0; i < task.rows.out; i++)
    for (int64_t j = 0; j < task.cols.out; j++) {
      Share rows(task.rows, i), cols(task.cols, j);
      *out++ = task.dtype == DType::float64
                   ? largest_in(reinterpret_cast<const double*>(scratch), task, rows, cols)
                   : largest_in(reinterpret_cast<const float*>(scratch), task, rows, cols);
    }
}

int64_t plane_bytes(const PoolTask& task) {
  int64_t item = itemsize(compute_dtype(task.dtype));
  return align64(task.rows.image * task.cols.image * item);
}

bool is_empty(const PoolTask& task) {
  return task.batch * task.channels == 0 || task.rows.out * task.cols.out == 0;
}

}  // namespace

int64_t pool_scratch_bytes(const PoolTask& task, int threads) {
  if (is_empty(task)) return 0;
  if (task.cols.window == 0)
    return plane_bytes(task) * std::min<int64_t>(threads, task.batch * task.channels);
  PoolPlan plan = plan_pool(task);
  return plan.worker_bytes * std::min<int64_t>(threads, plan.chunks);
}

void pool(const PoolTask& task, void* scratch, int threads) {
  if (is_empty(task)) return;
  char* base = static_cast<char*>(scratch);
  if (task.cols.window == 0) {
    auto body = [&](int64_t plane, int worker) {
      share_plane(task, plane, base + worker * plane_bytes(task));
    };
    int64_t ns = task.rows.image * task.cols.image * 2 + 1;
    return parallel(task.batch * task.channels, ns, task.interruptible, body, threads);
  }
  PoolPlan plan = plan_pool(task);
  auto body = [&](int64_t chunk, int worker) {
    int64_t first = chunk * plan.units_each, last = std::min(first + plan.units_each, plan.units);
    for (int64_t unit = first; unit < last; unit++)
      pool_unit(task, plan, unit, base + worker * plan.worker_bytes);
  };
  int64_t each = plan.lines * plan.cols.slots * plan.cols.extent +
                 plan.rows * task.cols.out * (2 + task.rows.window * task.cols.window / 4);
  parallel(plan.chunks, each * plan.units_each / 2 + 1, task.interruptible, body, threads);
}

}  // namespace tessella::launch
