// Cuts a cumulative operation into groups of lines; a line is never cut between threads. Elements
// that need a conversion pass through a tile, a piece of the lines at a time.
#include "cumulative.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../threads.h"
#include "lines.h"
#include "patch.h"

namespace tessella::launch {

namespace {

constexpr int64_t most_lines = 512;       // of one group: their carries are on the stack
constexpr int64_t least_lines = 4;        // as many as the kernel takes at once
constexpr int64_t least_columns = 256;    // side by side: each row may be in another page
constexpr int64_t item_elements = 65536;  // of one group, if a line is not longer
constexpr int64_t tile_elements = 4096;
constexpr int64_t part_elements = 1 << 20;  // what is scanned between two looks for Ctrl-C
constexpr int64_t ns_per_element = 1;

// The lines of two tensors, and how to walk through them.
struct Walk {
  DType from, out;
  Lines lines;
  const char* data;
  char* result;

  explicit Walk(const CumulativeTask& task)
      : from(task.dtype),
        out(task.out.dtype),
        lines(task.ndim, task.shape, task.strides, task.out.strides, task.axis),
        data(task.data),
        result(task.out.data) {}

  // Calls body(x, y, count) for each run of neighbouring lines among first … last-1.
  template <class Body>
  void for_lines(int64_t first, int64_t last, Body body) const {
    lines.others.walk(first, last, [&](const int64_t (&offsets)[2], int64_t count) {
      body(data + offsets[0] * itemsize(from), result + offsets[1] * itemsize(out), count);
    });
  }
};

struct Scan : Walk {
  ScanFn kernel;
  DType compute;

  // Elements begin … end-1 of `count` lines; data and out are at element 0 of the first.
  void run(int64_t begin, int64_t end, int64_t count, void* carry, const char* x, char* y) const {
    x += begin * lines.stride * itemsize(from);
    y += begin * lines.out_stride * itemsize(out);
    if (from == compute && out == compute)
      return kernel(end - begin, count, carry, begin == 0, y, {lines.out_stride, lines.out_step()},
                    x, {lines.stride, lines.step()});
    int64_t rows = std::max<int64_t>(1, tile_elements / count);
    for (int64_t at = begin; at < end; at += rows) {
      int64_t piece = std::min(rows, end - at);
      run_tile(piece, count, carry, at == 0, x, y);
      x += piece * lines.stride * itemsize(from);
      y += piece * lines.out_stride * itemsize(out);
    }
  }

  // The tile is laid out as the input is: the shorter stride runs through it.
  void run_tile(int64_t rows, int64_t count, void* carry, bool is_start, const char* x,
                char* y) const {
    alignas(64) char tile[tile_elements * 8];
    alignas(64) char other[tile_elements * 8];
    Steps steps = {1, rows};
    if (lines.step() == 1 && count > 1) steps = {count, 1};
    copy_patch(itemsize(from), rows, count, other, steps, x, {lines.stride, lines.step()});
    cast_kernel(from, compute)(rows * count, tile, other);
    ScanSteps scan_steps = {steps.row, steps.column};
    kernel(rows, count, carry, is_start, tile, scan_steps, tile, scan_steps);
    const char* done = tile;
    if (out != compute) {
      cast_kernel(compute, out)(rows * count, other, tile);
      done = other;
    }
    copy_patch(itemsize(out), rows, count, y, {lines.out_stride, lines.out_step()}, done, steps);
  }
};

struct ScanPlaces : Walk {
  ScanPlaceFn kernel;

  void run(int64_t begin, int64_t end, int64_t count, void*, const char* x, char* y) const {
    kernel(begin, end, count, reinterpret_cast<int64_t*>(y), {lines.out_stride, lines.out_step()},
           x, {lines.stride, lines.step()});
  }
};

// Long lines: group after group on this thread, each in parts.
template <class Job>
void scan_long(const Job& scan, int64_t first, int64_t last, bool interruptible) {
  int64_t length = scan.lines.length;
  scan.for_lines(first, last, [&](const char* x, char* y, int64_t count) {
    alignas(16) char carry[most_lines * 16];
    int64_t step = std::max<int64_t>(1, part_elements / count);
    int64_t parts = (length + step - 1) / step;
    auto part = [&](int64_t i, int) {
      scan.run(i * step, std::min(length, (i + 1) * step), count, carry, x, y);
    };
    parallel(parts, step * count * ns_per_element, interruptible, part, 1);
  });
}

template <class Job>
void scan_all(const Job& scan, bool interruptible) {
  int64_t length = scan.lines.length, total = scan.lines.others.size;
  if (length == 0 || total == 0) return;
  int64_t group = std::clamp(item_elements / length, least_lines, most_lines);
  if (scan.lines.step() == 1) group = std::max(group, least_columns);
  int64_t groups = (total + group - 1) / group;
  if (length * group > 16 * part_elements) {
    for (int64_t i = 0; i < groups; ++i)
      scan_long(scan, i * group, std::min(total, (i + 1) * group), interruptible);
    return;
  }
  parallel(groups, group * length * ns_per_element, interruptible, [&](int64_t i, int) {
    alignas(16) char carry[most_lines * 16];
    scan.for_lines(
        i * group, std::min(total, (i + 1) * group),
        [&](const char* x, char* y, int64_t count) { scan.run(0, length, count, carry, x, y); });
  });
}

// Complex sums are real ones over tensors with a last axis of 2.
void scan_complex_sum(const CumulativeTask& task) {
  DType real = task.dtype == DType::complex64 ? DType::float32 : DType::float64;
  int64_t shape[MAX_NDIM + 1], strides[MAX_NDIM + 1], out_strides[MAX_NDIM + 1];
  for (int i = 0; i < task.ndim; ++i) {
    shape[i] = task.shape[i];
    strides[i] = task.strides[i] * 2;
    out_strides[i] = task.out.strides[i] * 2;
  }
  shape[task.ndim] = 2;
  strides[task.ndim] = out_strides[task.ndim] = 1;
  CumulativeTask parts = {
      ScanOp::sum,       real,      task.ndim + 1, shape,
      strides,           task.data, task.axis,     {task.out.data, real, out_strides},
      task.interruptible};
  if (task.ndim > 0) return cumulate(parts);
  memcpy(task.out.data, task.data, static_cast<size_t>(itemsize(task.dtype)));
}

}  // namespace

void cumulate(const CumulativeTask& task) {
  if (kind(task.dtype) == DKind::complex && task.op == ScanOp::sum) return scan_complex_sum(task);
  DType compute = compute_dtype(task.out.dtype);
  auto& table = TS_CHOSEN(scan_kernels).join[static_cast<int>(task.op)];
  scan_all(Scan{Walk(task), table[static_cast<int>(compute)], compute}, task.interruptible);
}

void cumulate_places(const CumulativeTask& task, bool is_greatest) {
  const ScanKernels& kernels = TS_CHOSEN(scan_kernels);
  auto& table = is_greatest ? kernels.greatest : kernels.smallest;
  scan_all(ScanPlaces{Walk(task), table[static_cast<int>(task.dtype)]}, task.interruptible);
}

}  // namespace tessella::launch
