// Two paths with the same bits: whole rows straight from memory, where every operand's last axis
// is contiguous or constant; otherwise tiles gathered into scratch.
#include "elementwise.h"

#include "../kernels/cast.h"
#include "../threads.h"
#include "finite.h"
#include "tile.h"

namespace tessella::launch {

namespace {

constexpr int64_t NS_PER_ELEMENT_TIMES_4 = 1;  // an arithmetic kernel, in cache
constexpr int64_t LEAST_ROW = 64;              // shorter rows are cheaper gathered

// How one operand reaches the kernel.
enum class Way : uint8_t { direct, constant, gathered };

struct Plan {
  const ElementwiseTask& task;
  Space space;
  int arity;
  ElementwiseFn kernel;
  DType out_dtype;    // of the kernel
  DType in_dtype[3];  // of the kernel
  Way way[3];
  bool out_is_direct;
};

bool is_half(DType dtype) { return compute_dtype(dtype) != dtype; }

struct Tiles {
  alignas(64) char in[3][TILE_BYTES];
  alignas(64) char out[TILE_BYTES];
  alignas(64) char raw[TILE_BYTES];  // before or after conversion
};

// Brings `count` elements of input i, from number `flat` on, into a contiguous run.
const char* fetch(const Plan& plan, int i, int64_t flat, int64_t count, Tiles& tiles) {
  const Operand& x = plan.task.in[i];
  int64_t size = itemsize(x.dtype);
  if (plan.way[i] == Way::constant) return tiles.in[i];
  bool is_linear = plan.space.is_linear(i + 1);
  if (plan.way[i] == Way::direct) return x.data + flat * size;
  if (!is_half(x.dtype)) {
    gather_tile(plan.space, i + 1, x.data, size, flat, count, tiles.in[i]);
    return tiles.in[i];
  }
  const char* raw = x.data + flat * size;
  if (!is_linear)
    gather_tile(plan.space, i + 1, x.data, size, flat, count, tiles.raw), raw = tiles.raw;
  cast_kernel(x.dtype, plan.in_dtype[i])(count, tiles.in[i], raw);
  return tiles.in[i];
}

void deliver(const Plan& plan, int64_t flat, int64_t count, Tiles& tiles) {
  const Operand& out = plan.task.out;
  int64_t size = itemsize(out.dtype);
  char* result = tiles.out;
  if (out.dtype != plan.out_dtype) {
    cast_kernel(plan.out_dtype, out.dtype)(count, tiles.raw, tiles.out);
    result = tiles.raw;
  }
  scatter_tile(plan.space, 0, out.data, size, flat, count, result);
}

void fill_constants(const Plan& plan, int64_t count, Tiles& tiles) {
  for (int i = 0; i < plan.arity; ++i) {
    if (plan.way[i] != Way::constant) continue;
    const Operand& x = plan.task.in[i];
    char element[16];
    cast_kernel(x.dtype, plan.in_dtype[i])(1, element, x.data);
    fill_tile(element, itemsize(plan.in_dtype[i]), count, tiles.in[i]);
  }
}

void run_range(const Plan& plan, int64_t begin, int64_t end) {
  Tiles tiles;
  bool tiled = !plan.out_is_direct;
  for (int i = 0; i < plan.arity; ++i) tiled |= plan.way[i] != Way::direct;
  int64_t step = tiled ? TILE : end - begin;
  fill_constants(plan, end - begin < TILE ? end - begin : TILE, tiles);
  for (int64_t flat = begin; flat < end; flat += step) {
    int64_t count = end - flat < step ? end - flat : step;
    const char* in[3] = {};
    for (int i = 0; i < plan.arity; ++i) in[i] = fetch(plan, i, flat, count, tiles);
    char* out =
        plan.out_is_direct ? plan.task.out.data + flat * itemsize(plan.out_dtype) : tiles.out;
    plan.kernel(count, out, in[0], in[1], in[2]);
    if (!plan.out_is_direct) deliver(plan, flat, count, tiles);
  }
}

// Rows: the last axis is contiguous or constant for every operand; the rest is walked.
bool can_run_rows(const Plan& plan) {
  int last = plan.space.ndim - 1;
  if (plan.space.ndim < 2 || plan.space.shape[last] < LEAST_ROW) return false;
  if (plan.task.out.dtype != plan.out_dtype || plan.space.strides[0][last] != 1) return false;
  for (int i = 0; i < plan.arity; ++i)
    if (plan.task.in[i].dtype != plan.in_dtype[i] || plan.space.strides[i + 1][last] != 1)
      return false;
  return true;
}

void run_rows(const Plan& plan, int64_t begin, int64_t end) {
  const Space& space = plan.space;
  int last = space.ndim - 1;
  int64_t row = space.shape[last];
  for (int64_t flat = begin; flat < end;) {
    Position at(space, flat);
    int64_t count = row - at.index[last];
    if (count > end - flat) count = end - flat;
    const char* in[3] = {};
    for (int i = 0; i < plan.arity; ++i)
      in[i] = plan.task.in[i].data + at.offset(space, i + 1) * itemsize(plan.in_dtype[i]);
    char* out = plan.task.out.data + at.offset(space, 0) * itemsize(plan.out_dtype);
    plan.kernel(count, out, in[0], in[1], in[2]);
    flat += count;
  }
}

// Shares [0, size) among threads in chunks of CHUNK elements.
template <class Run>
void share(int64_t size, bool interruptible, Run run) {
  int64_t chunks = (size + CHUNK - 1) / CHUNK;
  if (chunks <= 1) {
    if (size) run(0, size);
    return;
  }
  parallel(chunks, CHUNK * NS_PER_ELEMENT_TIMES_4 / 4, interruptible, [&](int64_t chunk, int) {
    int64_t end = (chunk + 1) * CHUNK;
    run(chunk * CHUNK, end < size ? end : size);
  });
}

void look_at(const Plan& plan, int64_t begin, int64_t end) {
  const char* first = plan.task.out.data + begin * itemsize(plan.out_dtype);
  if (!are_finite(plan.out_dtype, end - begin, first))
    plan.task.is_finite->store(false, std::memory_order_relaxed);
}

Plan make_plan(const ElementwiseTask& task) {
  int arity = OPCODES[static_cast<int>(task.opcode)].arity;
  const int64_t* strides[MAX_OPERANDS] = {task.out.strides};
  for (int i = 0; i < arity; ++i) strides[i + 1] = task.in[i].strides;
  const ElementwiseKernel& kernel =
      elementwise_table().kernels[static_cast<int>(task.opcode)][static_cast<int>(task.dtype)];
  Plan plan{
      task, Space(task.ndim, task.shape, arity + 1, strides), arity, kernel.fn, kernel.out, {}, {},
      false};
  for (int i = 0; i < arity; ++i) {
    plan.in_dtype[i] = compute_dtype(task.in[i].dtype);
    bool is_direct = plan.space.is_linear(i + 1) && task.in[i].dtype == plan.in_dtype[i];
    plan.way[i] = is_direct                       ? Way::direct
                  : plan.space.is_constant(i + 1) ? Way::constant
                                                  : Way::gathered;
  }
  plan.out_is_direct = plan.space.is_linear(0) && task.out.dtype == plan.out_dtype;
  return plan;
}

}  // namespace

bool elementwise_out_dtype(Opcode opcode, DType dtype, DType* out) {
  if (is_user(dtype)) return false;
  const ElementwiseKernel& kernel =
      elementwise_table().kernels[static_cast<int>(opcode)][static_cast<int>(dtype)];
  *out = kernel.out == compute_dtype(dtype) ? dtype : kernel.out;
  return kernel.fn != nullptr;
}

void elementwise(const ElementwiseTask& task) {
  Plan plan = make_plan(task);
  bool rows = can_run_rows(plan);
  share(plan.space.size, task.interruptible, [&](int64_t begin, int64_t end) {
    rows ? run_rows(plan, begin, end) : run_range(plan, begin, end);
    if (task.is_finite) look_at(plan, begin, end);
  });
}

}  // namespace tessella::launch
