// Convolutions and their adjoints against their definition, with the same bits for every layout,
// thread count and instruction set with fma; and pools against plain loops. Operands end where
// their last element does, so that a sanitizer sees every read beyond. Prints what differs and
// returns 1. Arguments: a seed, a number of rounds.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <random>
#include <vector>

#include "../../src/core/kernels/cast.h"
#include "../../src/core/launch/convolve.h"
#include "../../src/core/launch/convolve_ref.h"
#include "../../src/core/launch/pool.h"
#include "../../src/core/threads.h"
#include "same_bits.h"

using namespace tessella;

namespace {

std::mt19937_64 rng;
int failures = 0;

int64_t pick(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

// A tensor of four axes in any order, with gaps and negative strides, in a block of its own size.
struct Image {
  DType dtype;
  int64_t shape[4];
  launch::ConvolveOperand operand;
  char* memory;

  Image(DType type, std::initializer_list<int64_t> sizes, bool is_plain) : dtype(type) {
    std::copy(sizes.begin(), sizes.end(), shape);
    int order[4] = {3, 2, 1, 0};
    if (!is_plain) std::shuffle(order, order + 4, rng);
    int64_t step = 1, first = 0, last = 0;
    for (int i : order) {
      int64_t gap = is_plain || rng() % 4 ? 1 : 2;
      bool is_flipped = !is_plain && rng() % 5 == 0;
      operand.strides[i] = step * gap * (is_flipped ? -1 : 1);
      (is_flipped ? first : last) += step * gap * std::max<int64_t>(shape[i] - 1, 0);
      step *= gap * std::max<int64_t>(shape[i], 1);
    }
    memory = static_cast<char*>(malloc(static_cast<size_t>((first + last + 1) * itemsize(dtype))));
    operand.data = memory + first * itemsize(dtype);
  }
  Image(const Image&) = delete;
  ~Image() { free(memory); }

  int64_t size() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  char* at(int64_t flat) const {
    int64_t offset = 0;
    for (int i = 3; i >= 0; i--) offset += flat % shape[i] * operand.strides[i], flat /= shape[i];
    return operand.data + offset * itemsize(dtype);
  }
  void fill() const {
    for (int64_t i = 0; i < size(); i++) {
      double value = static_cast<double>(rng() % 2001) / 500.0 - 2.0;
      cast_kernel(DType::float64, dtype)(1, at(i), &value);
    }
  }
  template <class T>
  std::vector<T> values(DType compute) const {
    std::vector<T> found(static_cast<size_t>(size()));
    for (int64_t i = 0; i < size(); i++)
      cast_kernel(dtype, compute)(1, &found[static_cast<size_t>(i)], at(i));
    return found;
  }
};

launch::ConvolveAxis random_axis(int64_t most) {
  launch::ConvolveAxis axis{pick(1, most), pick(1, 4), pick(1, most), 1, 0, 1};
  if (rng() % 2) axis.stride = pick(1, 4);
  if (rng() % 2) axis.dilation = pick(1, 3);
  axis.pad = pick(-2, 3);
  // Mostly sizes that belong together, so that windows lie inside.
  int64_t room = axis.image + 2 * axis.pad - (axis.kernel - 1) * axis.dilation - 1;
  if (room >= 0 && rng() % 4) axis.out = room / axis.stride + 1;
  return axis;
}

template <class T>
void check(const launch::ConvolveTask& task, const Image& x, const Image& w, const Image& y,
           const Image& bias) {
  DType compute = compute_dtype(task.dtype);
  auto xs = x.values<T>(compute), ws = w.values<T>(compute), ys = y.values<T>(compute);
  auto biases = bias.values<T>(compute);
  launch::ConvolveRef<T> ref{task, xs.data(), ws.data(), ys.data(), !is_unfused()};
  const Image& out = task.result == launch::ConvolveResult::output  ? y
                     : task.result == launch::ConvolveResult::input ? x
                                                                    : w;
  int threads = static_cast<int>(pick(1, 3));
  size_t bytes = static_cast<size_t>(launch::convolve_scratch_bytes(task, threads));
  void* scratch = aligned_alloc(64, (bytes + 127) / 64 * 64);
  memset(scratch, 0xff, bytes);  // NaN: what is not written must not be read
  launch::convolve(task, scratch, threads);
  free(scratch);
  for (int64_t i = 0; i < out.size(); i++) {
    int64_t d = i % out.shape[3], c = i / out.shape[3] % out.shape[2];
    int64_t b = i / out.shape[3] / out.shape[2] % out.shape[1];
    int64_t a = i / out.shape[3] / out.shape[2] / out.shape[1];
    T want = task.result == launch::ConvolveResult::output  ? ref.output(a, b, c, d)
             : task.result == launch::ConvolveResult::input ? ref.input(a, b, c, d)
                                                            : ref.weight(a, b, c, d);
    if (task.bias) want = want + biases[static_cast<size_t>(b)];
    char expected[8];
    cast_kernel(compute, task.dtype)(1, expected, &want);
    if (is_same(task.dtype, expected, out.at(i))) continue;
    ++failures;
    printf("result %d %s element %ld of %ld: batch %ld groups %ld channels %ld %ld\n",
           static_cast<int>(task.result), info(task.dtype).name, long(i), long(out.size()),
           long(task.batch), long(task.groups), long(task.in_channels), long(task.out_channels));
    for (const auto& axis : {task.rows, task.cols})
      printf("  image %ld kernel %ld out %ld stride %ld pad %ld dilation %ld\n", long(axis.image),
             long(axis.kernel), long(axis.out), long(axis.stride), long(axis.pad),
             long(axis.dilation));
    return;
  }
}

void check_convolution(DType dtype, launch::ConvolveResult result) {
  int64_t most = rng() % 4 == 0 ? 40 : 12, batch = pick(0, 5), groups = rng() % 3 ? 1 : pick(2, 20);
  int64_t ins = groups > 4 ? pick(1, 2) : pick(0, rng() % 3 ? 6 : 40);
  int64_t outs = groups > 4 ? pick(1, 2) : pick(0, rng() % 3 ? 6 : 40);
  launch::ConvolveAxis rows = random_axis(most), cols = random_axis(most);
  bool is_plain = rng() % 2;
  Image x(dtype, {batch, groups * ins, rows.image, cols.image}, is_plain);
  Image w(dtype, {groups * outs, ins, rows.kernel, cols.kernel}, is_plain);
  Image y(dtype, {batch, groups * outs, rows.out, cols.out}, is_plain);
  bool is_output = result == launch::ConvolveResult::output;
  Image bias(dtype, {1, groups * (is_output ? outs : ins), 1, 1}, is_plain);
  for (const Image* each : {&x, &w, &y, &bias}) each->fill();
  bool has_bias = result != launch::ConvolveResult::weight && rng() % 2;
  launch::ConvolveTask task{result,
                            dtype,
                            batch,
                            groups,
                            ins,
                            outs,
                            rows,
                            cols,
                            x.operand,
                            w.operand,
                            y.operand,
                            has_bias ? bias.operand.data : nullptr,
                            bias.operand.strides[1],
                            true};
  if (dtype == DType::float64)
    check<double>(task, x, w, y, bias);
  else
    check<float>(task, x, w, y, bias);
}

void check_pool(DType dtype) {
  auto axis = [] {
    launch::PoolAxis found{pick(1, 30), 0, pick(1, 4), pick(1, 4), 0, pick(1, 2)};
    int64_t span = (found.window - 1) * found.dilation + 1;
    found.image = std::max(found.image, span);
    found.pad = pick(0, span / 2);
    found.out = (found.image + 2 * found.pad - span) / found.stride + 1;
    return found;
  };
  launch::PoolAxis rows = axis(), cols = axis();
  if (rng() % 4 == 0) rows.window = cols.window = 0;
  Image x(dtype, {pick(0, 2), pick(1, 3), rows.image, cols.image}, rng() % 2);
  x.fill();
  std::vector<int64_t> places(static_cast<size_t>(x.shape[0] * x.shape[1] * rows.out * cols.out));
  launch::PoolTask task{dtype, x.shape[0], x.shape[1], rows, cols, x.operand, places.data(), true};
  size_t bytes = static_cast<size_t>(launch::pool_scratch_bytes(task, 2));
  void* scratch = aligned_alloc(64, (bytes + 127) / 64 * 64);
  launch::pool(task, scratch, 2);
  free(scratch);
  auto values = x.values<double>(DType::float64);
  auto covers = [](const launch::PoolAxis& axis, int64_t place, int64_t at) {
    if (axis.window == 0)
      return at >= place * axis.image / axis.out &&
             at < ((place + 1) * axis.image + axis.out - 1) / axis.out;
    int64_t from = at - place * axis.stride + axis.pad;
    return from >= 0 && from % axis.dilation == 0 && from / axis.dilation < axis.window;
  };
  for (size_t i = 0; i < places.size(); i++) {
    int64_t q = int64_t(i) % cols.out, p = int64_t(i) / cols.out % rows.out;
    int64_t plane = int64_t(i) / cols.out / rows.out, found = -1;
    const double* image = values.data() + plane * rows.image * cols.image;
    for (int64_t at = 0; at < rows.image * cols.image; at++)
      if (covers(rows, p, at / cols.image) && covers(cols, q, at % cols.image) &&
          (found < 0 || image[at] > image[found]))
        found = at;
    if (places[i] == found) continue;
    ++failures;
    printf("pool %s place %zu: %ld, want %ld\n", info(dtype).name, i, long(places[i]), long(found));
    return;
  }
}

}  // namespace

int main(int count, char** arguments) {
  uint64_t seed = count > 1 ? strtoull(arguments[1], nullptr, 10) : std::random_device{}();
  int rounds = count > 2 ? atoi(arguments[2]) : 300;
  isa = choose_isa();
  rng.seed(seed);
  for (int round = 0; round < rounds && failures < 5; round++) {
    DType dtypes[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};
    DType dtype = dtypes[rng() % 4];
    for (int result = 0; result < 3; result++)
      check_convolution(dtype, static_cast<launch::ConvolveResult>(result));
    check_pool(dtype);
  }
  if (failures) printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return failures > 0;
}
