// Checks copy against one element at a time: random shapes, orders of axes, gaps, steps backwards
// and repeated elements, every size of element, items of users, conversions, sizes that are cut
// into chunks.
// Exits with 1 at the first difference.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../../src/core/kernels/cast.h"
#include "../../src/core/launch/copy.h"
#include "../../src/core/threads.h"

using namespace tessella;

namespace {

std::mt19937_64 generator(5);

int64_t below(int64_t n) { return static_cast<int64_t>(generator() % static_cast<uint64_t>(n)); }

// A tensor in memory of its own: its axes in a random order, with gaps or backwards.
struct Placed {
  std::vector<char> bytes;
  std::vector<int64_t> strides;
  int64_t first = 0;  // of the element with all indices 0
};

Placed place(const std::vector<int64_t>& shape, int64_t item, bool may_repeat) {
  Placed out;
  out.strides.resize(shape.size());
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  int64_t step = 1;
  for (size_t axis : order) {
    if (may_repeat && below(4) == 0) continue;  // stride 0
    step *= below(5) == 0 ? 2 : 1;
    out.strides[axis] = step;
    step *= shape[axis];
    if (below(5) == 0) {
      out.first += out.strides[axis] * (shape[axis] - 1);
      out.strides[axis] *= -1;
    }
  }
  out.bytes.resize(static_cast<size_t>(step * item));
  for (char& byte : out.bytes) byte = static_cast<char>(below(100));
  return out;
}

void check(const std::vector<int64_t>& shape, DType from, DType to) {
  Placed x = place(shape, itemsize(from), true), out = place(shape, itemsize(to), false);
  std::vector<char> expected = out.bytes;
  int64_t size = size_of({shape.data(), shape.size()});
  for (int64_t flat = 0; flat < size; ++flat) {
    int64_t rest = flat, at_x = x.first, at_out = out.first;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      at_x += rest % shape[axis] * x.strides[axis];
      at_out += rest % shape[axis] * out.strides[axis];
    }
    char* element = expected.data() + at_out * itemsize(to);
    const char* source = x.bytes.data() + at_x * itemsize(from);
    if (from == to)
      memcpy(element, source, static_cast<size_t>(itemsize(to)));
    else
      cast_kernel(from, to)(1, element, source);
  }
  launch::copy(static_cast<int>(shape.size()), shape.data(),
               {out.bytes.data() + out.first * itemsize(to), to, out.strides.data()},
               {x.bytes.data() + x.first * itemsize(from), from, x.strides.data()}, false);
  if (out.bytes == expected) return;
  printf("FAILED: %s to %s, shape", info(from).name, info(to).name);
  for (int64_t n : shape) printf(" %lld", static_cast<long long>(n));
  printf("\n");
  exit(1);
}

}  // namespace

int main() {
  auto items = [](const char* name, int64_t bytes) {
    return static_cast<DType>(register_dtype(name, bytes));
  };
  const DType same[] = {DType::uint8,      DType::int16,       DType::float32,
                        DType::float64,    DType::complex128,  items("three", 3),
                        items("seven", 7), items("large", 40), items("word", 8)};
  const std::vector<std::vector<int64_t>> shapes = {
      {},         {1},        {7},           {40},         {3, 5},      {17, 33},
      {64, 64},   {2, 3, 4},  {5, 16, 31},   {3, 2, 5, 4}, {200, 300},  {70000},
      {3, 40000}, {40000, 3}, {2, 130, 140}, {1, 50, 1},   {9, 1, 2000}};
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    for (int round = 0; round < 5; ++round)
      for (const auto& shape : shapes) {
        for (DType dtype : same) check(shape, dtype, dtype);
        check(shape, DType::uint8, DType::float32);
        check(shape, DType::int16, DType::float16);
        check(shape, DType::float32, DType::complex128);
      }
  }
  printf("copy: ok\n");
}
