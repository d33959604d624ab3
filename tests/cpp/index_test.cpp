// Checks gather, scatter, scatter_add and nonzero against loops over coordinates, on random shapes,
// strides and index tensors, at several thread counts. Exits with 1 at the first difference.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <vector>

#include "../../src/core/half.h"
#include "../../src/core/launch/index.h"
#include "../../src/core/launch/nonzero.h"
#include "../../src/core/threads.h"

using namespace tessella;
using namespace tessella::launch;
using Sizes = std::vector<int64_t>;

namespace {

std::mt19937_64 generator(7);
int64_t uniform(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(generator);
}

void require(bool ok, const char* what) {
  if (ok) return;
  printf("FAILED: %s\n", what);
  exit(1);
}

int64_t product(const Sizes& shape) {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

// Strides of a dense tensor with its axes in random order, some of them backwards.
// Returns the offset of the first element.
int64_t random_strides(const Sizes& shape, Sizes& strides, bool shuffle) {
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (shuffle) std::shuffle(order.begin(), order.end(), generator);
  strides.assign(shape.size(), 0);
  int64_t step = 1, first = 0;
  for (size_t k = order.size(); k-- > 0;) {
    size_t axis = order[k];
    bool backwards = shuffle && uniform(0, 3) == 0;
    strides[axis] = backwards ? -step : step;
    if (backwards && shape[axis] > 0) first += step * (shape[axis] - 1);
    step *= shape[axis];
  }
  return first;
}

template <class F>
void for_each_coordinate(const Sizes& shape, F&& body) {
  Sizes at(shape.size(), 0);
  for (int64_t n = product(shape); n > 0; --n) {
    body(at);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

int64_t dot(const Sizes& at, const Sizes& strides) {
  int64_t sum = 0;
  for (size_t i = 0; i < at.size(); ++i) sum += at[i] * strides[i];
  return sum;
}

// One random task over int32 data, with everything it points to.
struct Case {
  Sizes index_shape, rest_shape, axis_sizes;
  std::vector<Sizes> index_strides;
  std::vector<std::vector<int64_t>> index_data;
  Sizes x_strides, axis_strides, rest_strides, value_strides, value_index, value_rest;
  std::vector<int32_t> x, values;
  int64_t x_first, values_first;
  std::vector<const int64_t*> indices, strides_of;

  Case(Sizes index, Sizes rest, Sizes axes, bool shuffle)
      : index_shape(index), rest_shape(rest), axis_sizes(axes) {
    Sizes all = axes, value_shape = index;
    all.insert(all.end(), rest.begin(), rest.end());
    value_shape.insert(value_shape.end(), rest.begin(), rest.end());
    x_first = random_strides(all, x_strides, shuffle);
    values_first = random_strides(value_shape, value_strides, shuffle);
    split(x_strides, axes.size(), axis_strides, rest_strides);
    split(value_strides, index.size(), value_index, value_rest);
    x.resize(static_cast<size_t>(product(all)));
    values.resize(static_cast<size_t>(product(value_shape)));
    for (auto& v : x) v = static_cast<int32_t>(uniform(-1000000, 1000000));
    for (auto& v : values) v = static_cast<int32_t>(uniform(-1000000, 1000000));
    for (int64_t size : axes) add_index(size, shuffle);
    for (auto& data : index_data) indices.push_back(data.data());
    for (auto& s : index_strides) strides_of.push_back(s.data());
  }

  static void split(const Sizes& all, size_t n, Sizes& head, Sizes& tail) {
    head.assign(all.begin(), all.begin() + static_cast<long>(n));
    tail.assign(all.begin() + static_cast<long>(n), all.end());
  }

  void add_index(int64_t size, bool shuffle) {
    Sizes shape = index_shape, strides;
    for (auto& n : shape)
      if (n > 0 && shuffle && uniform(0, 3) == 0) n = 1;
    random_strides(shape, strides, false);
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != index_shape[i]) strides[i] = 0;
    std::vector<int64_t> data(static_cast<size_t>(product(shape)));
    for (auto& v : data) v = uniform(-size, size - 1);
    index_strides.push_back(strides);
    index_data.push_back(data);
  }

  IndexTask task() {
    return {4,
            static_cast<int>(axis_sizes.size()),
            indices.data(),
            strides_of.data(),
            axis_sizes.data(),
            axis_strides.data(),
            static_cast<int>(index_shape.size()),
            index_shape.data(),
            static_cast<int>(rest_shape.size()),
            rest_shape.data(),
            rest_strides.data(),
            reinterpret_cast<char*>(x.data() + x_first),
            reinterpret_cast<char*>(values.data() + values_first),
            value_index.data(),
            value_rest.data(),
            false};
  }

  // body(position in x, position in values) in row-major order of the index points.
  template <class F>
  void reference(F&& body) {
    for_each_coordinate(index_shape, [&](const Sizes& point) {
      int64_t at = x_first;
      for (size_t i = 0; i < axis_sizes.size(); ++i) {
        int64_t index = index_data[i][static_cast<size_t>(dot(point, index_strides[i]))];
        at += (index < 0 ? index + axis_sizes[i] : index) * axis_strides[i];
      }
      int64_t from = values_first + dot(point, value_index);
      for_each_coordinate(rest_shape, [&](const Sizes& rest) {
        body(static_cast<size_t>(at + dot(rest, rest_strides)),
             static_cast<size_t>(from + dot(rest, value_rest)));
      });
    });
  }
};

void check_case(Case c) {
  BadIndex bad;
  require(check_indices(c.task(), &bad), "valid indices");
  auto x = c.x, values = c.values;
  c.reference([&](size_t to, size_t from) { x[to] = values[from]; });
  Case set = c;
  set.indices.clear(), set.strides_of.clear();
  for (auto& data : set.index_data) set.indices.push_back(data.data());
  for (auto& s : set.index_strides) set.strides_of.push_back(s.data());
  Case add = set;
  scatter(set.task());
  require(set.x == x, "scatter");
  x = c.x;
  c.reference([&](size_t to, size_t from) { x[to] += values[from]; });
  scatter_add(add.task(), DType::int32);
  require(add.x == x, "scatter_add");
  c.reference([&](size_t from, size_t to) { values[to] = c.x[from]; });
  gather(c.task());
  require(c.values == values, "gather");
}

Sizes random_shape(int64_t axes, int64_t low, int64_t high) {
  Sizes shape;
  for (int64_t i = 0; i < axes; ++i) shape.push_back(uniform(low, high));
  return shape;
}

void test_random_cases() {
  for (int i = 0; i < 400; ++i) {
    int64_t low = i % 10 == 0 ? 0 : 1;
    check_case(Case(random_shape(uniform(0, 3), low, 9), random_shape(uniform(0, 3), low, 9),
                    random_shape(uniform(0, 3), 1, 5), i % 4 != 0));
  }
  check_case(Case({3000}, {1300}, {50}, false));
  check_case(Case({1300}, {700, 3}, {5}, true));
  check_case(Case({2}, {100000}, {3}, false));
  check_case(Case({100000}, {}, {1000}, false));
  check_case(Case({40000}, {3}, {1000}, false));
}

void test_bad_indices() {
  Case c({5, 4}, {2}, {3, 6}, false);
  c.index_data[1][7] = 6;
  c.index_data[1][9] = -7;
  BadIndex bad;
  require(!check_indices(c.task(), &bad), "a bad index is found");
  require(bad.which == 1 && bad.value == 6 && bad.axis_size == 6, "the first bad index is named");
}

template <class Half>
void test_half_sums(DType dtype, int n) {
  // Adding 1 to a half n times ends where 1 is below half a unit: every sum was rounded.
  std::vector<int64_t> index(static_cast<size_t>(n), 0);
  Half one, zero, x;
  from_float(1, &one);
  from_float(0, &zero);
  x = zero;
  std::vector<Half> ones(static_cast<size_t>(n), one);
  int64_t size = 1, step = 1, shape = n;
  const int64_t* data = index.data();
  const int64_t* steps = &step;
  scatter_add(
      {2, 1, &data, &steps, &size, &step, 1, &shape, 0, nullptr, nullptr,
       reinterpret_cast<char*>(&x), reinterpret_cast<char*>(ones.data()), &step, nullptr, false},
      dtype);
  require(to_float(x) == (dtype == DType::float16 ? 2048 : 256), "halves round at each sum");
}

void test_half_conversion() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half{static_cast<uint16_t>(bits)}, back;
    BFloat16 brain{static_cast<uint16_t>(bits)}, brain_back;
    from_float(to_float(half), &back);
    from_float(to_float(brain), &brain_back);
    bool is_nan = to_float(half) != to_float(half),
         is_brain_nan = to_float(brain) != to_float(brain);
    require(is_nan ? (back.bits & 0x7fff) > 0x7c00 : back.bits == half.bits, "float16");
    require(is_brain_nan || brain_back.bits == brain.bits, "bfloat16");
  }
  auto rounds_to = [](float x, uint16_t bits) {
    Float16 out;
    from_float(x, &out);
    return out.bits == bits;
  };
  require(rounds_to(65519.996f, 0x7bff) && rounds_to(65520, 0x7c00), "float16 overflow");
  require(rounds_to(0x1p-25f, 0) && rounds_to(0x1.000002p-25f, 1), "float16 underflow");
  require(rounds_to(-0x1.002p0f, 0xbc00) && rounds_to(0x1.006p0f, 0x3c02), "float16 ties");
}

void check_nonzero(const Sizes& shape, bool shuffle, int percent) {
  Sizes strides;
  int64_t first = random_strides(shape, strides, shuffle);
  std::vector<uint8_t> mask(static_cast<size_t>(product(shape)));
  for (auto& m : mask) m = uniform(0, 99) < percent ? static_cast<uint8_t>(uniform(1, 255)) : 0;
  MaskTask task{static_cast<int>(shape.size()), shape.data(), strides.data(),
                reinterpret_cast<const char*>(mask.data()) + first, false};
  std::vector<char> scratch(static_cast<size_t>(nonzero_scratch_bytes(task)));
  int64_t count = count_nonzero(task, scratch.data());
  std::vector<int64_t> out(static_cast<size_t>(count) * shape.size());
  nonzero(task, scratch.data(), count, out.data());
  int64_t found = 0;
  for_each_coordinate(shape, [&](const Sizes& at) {
    if (!mask[static_cast<size_t>(first + dot(at, strides))]) return;
    require(found < count, "nonzero's count");
    for (size_t d = 0; d < at.size(); ++d)
      require(out[d * static_cast<size_t>(count) + static_cast<size_t>(found)] == at[d], "nonzero");
    ++found;
  });
  require(found == count, "nonzero's count");
}

void test_nonzero() {
  for (int i = 0; i < 300; ++i)
    check_nonzero(random_shape(uniform(0, 4), i % 10 == 0 ? 0 : 1, 12), i % 3 != 0, i % 101);
  check_nonzero({300000}, false, 50);
  check_nonzero({300, 1000}, false, 100);
  check_nonzero({300, 1000}, true, 3);
}

}  // namespace

int main() {
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    test_random_cases();
    test_nonzero();
  }
  test_bad_indices();
  test_half_sums<Float16>(DType::float16, 3000);
  test_half_sums<BFloat16>(DType::bfloat16, 500);
  test_half_conversion();
  printf("index: ok\n");
}
