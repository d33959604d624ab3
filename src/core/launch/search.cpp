// Cuts the elements that are looked for into chunks; those that are no run pass through a tile.
#include "search.h"

#include <algorithm>
#include <bit>

#include "../kernels/search.h"
#include "../threads.h"
#include "patch.h"
#include "runs.h"

namespace tessella::launch {

namespace {

constexpr int64_t chunk_elements = 2048;
constexpr int64_t tile_elements = 512;

}  // namespace

void search(const SearchTask& task) {
  SearchFn kernel = TS_CHOSEN(search_kernels).search[static_cast<int>(task.dtype)];
  Runs<1> runs(task.ndim, task.shape, {task.strides});
  int64_t item = itemsize(task.dtype), step = runs.inner_stride(0);
  auto search_run = [&](const char* x, int64_t count, int64_t* out) {
    if (step == 1) return kernel(task.n, task.sorted, count, x, out, task.is_right);
    alignas(64) char tile[tile_elements * 8];
    for (int64_t i = 0; i < count; i += tile_elements) {
      int64_t part = std::min(tile_elements, count - i);
      copy_patch(item, 1, part, tile, {0, 1}, x + i * step * item, {0, step});
      kernel(task.n, task.sorted, part, tile, out + i, task.is_right);
    }
  };
  auto chunk = [&](int64_t number, int) {
    int64_t first = number * chunk_elements;
    int64_t* out = task.out + first;
    runs.walk(first, std::min(first + chunk_elements, runs.size),
              [&](const int64_t (&offsets)[1], int64_t count) {
                search_run(task.x + offsets[0] * item, count, out);
                out += count;
              });
  };
  // A step that stays in cache takes a nanosecond, and there is one for each bit of n.
  int64_t ns = chunk_elements * (1 + std::bit_width(static_cast<uint64_t>(task.n)));
  int64_t chunks = (runs.size + chunk_elements - 1) / chunk_elements;
  parallel(chunks, ns, task.interruptible, chunk);
}

}  // namespace tessella::launch
