// Optimizers' updates over tensors of any layout, several at once, on any number of threads: the
// same bits as one element after another. Memory between elements stays as it was. Prints what
// differs and returns 1. Arguments: a seed, a number of rounds.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "../../src/core/launch/updates.h"
#include "../../src/core/threads.h"
#include "same_bits.h"

using namespace tessella;

namespace {

std::mt19937_64 rng;
int failures = 0;

int64_t pick(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

constexpr int OPERANDS = UPDATE_OPERANDS;
constexpr char UNTOUCHED = 0x5a;

// A parameter with its gradient, states and counters, each in memory of its own.
struct Item {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // [OPERANDS][ndim]
  std::vector<char> memory[OPERANDS];
  int64_t first[OPERANDS] = {};
  bool has[OPERANDS];
  double counters[UPDATE_COUNTERS] = {2, 0.5};
  bool is_plain;

  Item(DType dtype, UpdateOp op, int64_t most) : dtype(dtype), is_plain(rng() % 3 == 0) {
    for (int64_t i = pick(0, 3); i > 0; --i) {
      shape.push_back(rng() % 50 ? pick(1, std::max<int64_t>(most, 1)) : 0);
      most /= std::max<int64_t>(shape.back(), 1);
    }
    for (int k = 0; k < OPERANDS; ++k) {
      has[k] = k < 2 + UPDATES[static_cast<int>(op)].states && (k < 2 || rng() % 4);
      lay_out(k);
      fill(k);
    }
  }

  int ndim() const { return static_cast<int>(shape.size()); }
  int64_t size() const {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    return n;
  }

  // Axes in any order, with gaps and negative strides.
  void lay_out(int k) {
    std::vector<size_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (!is_plain) std::shuffle(order.begin(), order.end(), rng);
    strides.resize(shape.size() * OPERANDS);
    int64_t step = 1;
    for (size_t j = order.size(); j-- > 0;) {
      size_t i = order[j];
      int64_t gap = !is_plain && rng() % 4 == 0 ? pick(1, 3) : 1;
      bool is_flipped = !is_plain && rng() % 6 == 0;
      int64_t& stride = strides[static_cast<size_t>(k) * shape.size() + i];
      stride = step * gap * (is_flipped ? -1 : 1);
      if (is_flipped && shape[i] > 0) first[k] -= stride * (shape[i] - 1);
      step *= gap * std::max<int64_t>(shape[i], 1);
    }
    memory[k].assign(static_cast<size_t>(step * itemsize(dtype)), UNTOUCHED);
  }

  char* at(int k, int64_t flat) {
    int64_t offset = first[k];
    for (size_t i = shape.size(); i-- > 0;) {
      offset += flat % shape[i] * strides[static_cast<size_t>(k) * shape.size() + i];
      flat /= shape[i];
    }
    return memory[k].data() + offset * itemsize(dtype);
  }

  void fill(int k) {
    for (int64_t i = 0; i < size(); ++i) {
      double value = static_cast<double>(pick(-1000, 1000)) / 256;
      if (k > 2) value = value * value;
      if (rng() % 5000 == 0) value = INFINITY;
      cast_kernel(DType::float64, dtype)(1, at(k, i), &value);
    }
  }

  launch::UpdateItem task(UpdateOp op, const UpdateSettings* settings) {
    launch::UpdateItem item{};
    item.op = op, item.settings = settings, item.dtype = dtype, item.size = size();
    item.ndim = is_plain ? 1 : ndim();
    if (!is_plain) item.shape = shape.data(), item.strides = strides.data();
    for (int k = 0; k < OPERANDS; ++k)
      item.data[k] = has[k] ? memory[k].data() + first[k] * itemsize(dtype) : nullptr;
    for (int i = 0; i < UPDATE_COUNTERS; ++i)
      item.counters[i] = reinterpret_cast<char*>(&counters[i]);
    return item;
  }
};

// One element after another, each as an item of its own; counters advance for all alike.
void update_slowly(Item& item, UpdateOp op, const UpdateSettings& settings) {
  double before[UPDATE_COUNTERS], after[UPDATE_COUNTERS];
  std::copy(std::begin(item.counters), std::end(item.counters), before);
  std::copy(std::begin(item.counters), std::end(item.counters), after);
  for (int64_t i = 0; i < std::max<int64_t>(item.size(), 1); ++i) {
    std::copy(std::begin(before), std::end(before), after);
    launch::UpdateItem one{};
    one.op = op, one.settings = &settings, one.dtype = item.dtype, one.ndim = 1;
    one.size = item.size() ? 1 : 0;
    for (int k = 0; k < OPERANDS; ++k)
      one.data[k] = item.has[k] && one.size ? item.at(k, i) : nullptr;
    for (int j = 0; j < UPDATE_COUNTERS; ++j) one.counters[j] = reinterpret_cast<char*>(&after[j]);
    launch::UpdatePlan plan;
    launch::update({&one, 1}, &plan, true);
  }
  std::copy(std::begin(after), std::end(after), item.counters);
}

UpdateSettings random_settings(UpdateOp op) {
  UpdateSettings settings{};
  for (double& number : settings.numbers) number = static_cast<double>(pick(1, 200)) / 256;
  for (int i = 0; i < UPDATES[static_cast<int>(op)].constants; ++i)
    settings.constants[i] = rng() % 2 ? static_cast<double>(pick(0, 200)) / 256 : 0;
  return settings;
}

void compare(Item& found, Item& wanted, UpdateOp op, int round) {
  bool is_same_count =
      std::equal(std::begin(found.counters), std::end(found.counters), std::begin(wanted.counters));
  int wrong = -1;
  for (int k = 0; k < OPERANDS && wrong < 0; ++k)
    for (int64_t i = 0; i < found.size() && wrong < 0; ++i)
      if (!is_same(found.dtype, found.at(k, i), wanted.at(k, i))) wrong = k;
  // What lies between the elements: the copies differ nowhere else either, up to NaNs.
  for (int64_t i = 0; i < found.size(); ++i)
    for (int k = 0; k < OPERANDS; ++k)
      memcpy(found.at(k, i), wanted.at(k, i), static_cast<size_t>(itemsize(found.dtype)));
  for (int k = 0; k < OPERANDS && wrong < 0; ++k)
    if (found.memory[k] != wanted.memory[k]) wrong = 10 + k;
  if (is_same_count && wrong < 0) return;
  ++failures;
  printf("round %d, %s: operand %d of %ld elements, counters %d\n", round,
         UPDATES[static_cast<int>(op)].name, wrong, static_cast<long>(found.size()), is_same_count);
}

void check(int round) {
  constexpr DType DTYPES[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};
  constexpr int THREADS[] = {1, 2, 3, 8};
  auto op = static_cast<UpdateOp>(rng() % UPDATE_COUNT);
  UpdateSettings settings = random_settings(op);
  std::vector<Item> wanted;
  for (int64_t i = pick(0, 5); i > 0; --i)
    wanted.emplace_back(DTYPES[rng() % 4], op, rng() % 10 ? pick(1, 300) : pick(1, 60000));
  std::vector<Item> found = wanted;
  std::vector<launch::UpdateItem> tasks;
  for (Item& item : found) tasks.push_back(item.task(op, &settings));
  std::vector<launch::UpdatePlan> plans(tasks.size());
  set_num_threads(THREADS[rng() % 4]);
  launch::update(tasks, plans.data(), rng() % 2);
  for (Item& item : wanted) update_slowly(item, op, settings);
  for (size_t i = 0; i < found.size(); ++i) compare(found[i], wanted[i], op, round);
}

}  // namespace

int main(int count, char** arguments) {
  isa = choose_isa();
  rng.seed(count > 1 ? strtoull(arguments[1], nullptr, 10) : 1);
  int rounds = count > 2 ? atoi(arguments[2]) : 400;
  for (int i = 0; i < rounds && failures < 10; ++i) check(i);
  printf("%d rounds, %d failures\n", rounds, failures);
  return failures ? 1 : 0;
}
