// Parameters that lie contiguous are updated where they are, others tile by tile.
#include "updates.h"

#include <string.h>

#include <algorithm>

#include "../kernels/cast.h"
#include "../threads.h"
#include "runs.h"
#include "tile.h"

namespace tessella::launch {

namespace {

constexpr int64_t NS_PER_CHUNK = CHUNK;  // about a nanosecond for each element, in memory

const UpdateKernel& kernel_of(const UpdateItem& item) {
  return TS_CHOSEN(update_kernels).each[static_cast<int>(item.op)];
}

UpdateRun run_of(const UpdateItem& item) {
  const UpdateKernel& kernel = kernel_of(item);
  return compute_dtype(item.dtype) == DType::float32 ? kernel.float32 : kernel.float64;
}

// One operand on its way through tiles: in place where it is contiguous and of the right dtype.
class TiledOperand {
 public:
  TiledOperand(const UpdateItem& item, int k)
      : data_(item.data[k]),
        dtype_(item.dtype),
        runs_(item.shape ? item.ndim : 1, item.shape ? item.shape : &item.size,
              {item.shape ? item.strides + k * item.ndim : &ONE}) {
    bool is_plain = runs_.ndim == 0 || (runs_.ndim == 1 && runs_.inner_stride(0) == 1);
    is_direct_ = is_plain && compute_dtype(dtype_) == dtype_;
  }

  void* fetch(int64_t flat, int64_t count) {
    if (!data_) return nullptr;
    if (is_direct_) return data_ + flat * itemsize(dtype_);
    bool is_wide = compute_dtype(dtype_) == dtype_;
    gather_tile(runs_, data_, itemsize(dtype_), flat, count, is_wide ? tile_ : raw_);
    if (!is_wide) cast_kernel(dtype_, compute_dtype(dtype_))(count, tile_, raw_);
    return tile_;
  }

  void deliver(int64_t flat, int64_t count) {
    if (!data_ || is_direct_) return;
    bool is_wide = compute_dtype(dtype_) == dtype_;
    if (!is_wide) cast_kernel(compute_dtype(dtype_), dtype_)(count, raw_, tile_);
    scatter_tile(runs_, data_, itemsize(dtype_), flat, count, is_wide ? tile_ : raw_);
  }

 private:
  static constexpr int64_t ONE = 1;
  char* data_;
  DType dtype_;
  Runs<1> runs_;
  bool is_direct_;
  alignas(64) char tile_[TILE * 8];
  alignas(64) char raw_[TILE * 2];
};

void run_tiles(const UpdateItem& item, const UpdateFactors& factors, int64_t begin, int64_t end) {
  static_assert(UPDATE_OPERANDS == 5);
  TiledOperand operands[] = {{item, 0}, {item, 1}, {item, 2}, {item, 3}, {item, 4}};
  void* tiles[UPDATE_OPERANDS];
  UpdateRun run = run_of(item);
  for (int64_t flat = begin; flat < end; flat += TILE) {
    int64_t count = std::min(TILE, end - flat);
    for (int k = 0; k < UPDATE_OPERANDS; ++k) tiles[k] = operands[k].fetch(flat, count);
    run(count, tiles, factors);
    for (int k = 0; k < UPDATE_OPERANDS; ++k)
      if (k != 1) operands[k].deliver(flat, count);  // the gradient is as it was
  }
}

void run_range(const UpdateItem& item, const UpdateFactors& factors, int64_t begin, int64_t end) {
  if (item.shape || compute_dtype(item.dtype) != item.dtype)
    return run_tiles(item, factors, begin, end);
  void* operands[UPDATE_OPERANDS];
  for (int k = 0; k < UPDATE_OPERANDS; ++k)
    operands[k] = item.data[k] ? item.data[k] + begin * itemsize(item.dtype) : nullptr;
  run_of(item)(end - begin, operands, factors);
}

struct Counters {
  double values[UPDATE_COUNTERS];
  bool operator==(const Counters&) const = default;
};

Counters read_counters(const UpdateItem& item) {
  Counters counters{};
  for (int i = 0; i < UPDATE_COUNTERS; ++i)
    if (item.counters[i]) memcpy(&counters.values[i], item.counters[i], sizeof(double));
  return counters;
}

// Advances the counters of all items. The parameters of a group have mostly made the same steps:
// then their factors are the same, and not worked out again.
void prepare(std::span<const UpdateItem> items, UpdatePlan* plans) {
  Counters before{}, after{};
  for (size_t k = 0; k < items.size(); ++k) {
    const UpdateItem& item = items[k];
    Counters now = read_counters(item);
    if (k > 0 && now == before && item.settings == items[k - 1].settings) {
      plans[k].factors = plans[k - 1].factors;
    } else {
      before = after = now;
      plans[k].factors = {};
      kernel_of(item).prepare(*item.settings, after.values, &plans[k].factors);
    }
    for (int i = 0; i < UPDATE_COUNTERS; ++i)
      if (item.counters[i]) memcpy(item.counters[i], &after.values[i], sizeof(double));
  }
}

// Chunks are numbered through all items.
void share(std::span<const UpdateItem> items, UpdatePlan* plans) {
  int64_t chunks = 0;
  for (size_t i = 0; i < items.size(); ++i)
    plans[i].end = chunks += (items[i].size + CHUNK - 1) / CHUNK;
  parallel(chunks, NS_PER_CHUNK, false, [&](int64_t chunk, int) {
    const UpdatePlan* plan =
        std::upper_bound(plans, plans + items.size(), chunk,
                         [](int64_t value, const UpdatePlan& each) { return value < each.end; });
    const UpdateItem& item = items[static_cast<size_t>(plan - plans)];
    int64_t first = plan->end - (item.size + CHUNK - 1) / CHUNK;
    int64_t begin = (chunk - first) * CHUNK;
    run_range(item, plan->factors, begin, std::min(item.size, begin + CHUNK));
  });
}

}  // namespace

void update(std::span<const UpdateItem> items, UpdatePlan* plans, bool in_order) {
  int64_t total = 0;
  for (const UpdateItem& item : items) total += item.size;
  prepare(items, plans);
  if (total > UPDATE_SHARED && !in_order) return share(items, plans);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].size > UPDATE_SHARED)
      share({&items[i], 1}, &plans[i]);
    else
      run_range(items[i], plans[i].factors, 0, items[i].size);
  }
}

}  // namespace tessella::launch
