// Chooses how lines are sorted: short ones many at a time in tiles, longer ones one by one, each by
// one thread, and a long one by all threads together.
#include "sort.h"

#include <algorithm>

#include "../integers.h"
#include "../threads.h"
#include "sort_coding.h"
#include "sort_lines.h"
#include "sort_shared.h"
#include "sort_tiles.h"

namespace tessella::launch {
namespace {

constexpr int64_t share_from = 65536;      // a line worth sharing, if there are too few lines
constexpr int64_t share_always = 1 << 21;  // a line that takes one thread too long between polls
constexpr int64_t batch_words = 32768;     // short lines are taken together
constexpr int64_t longest_column = 2048;   // of a tile

enum class Path : uint8_t { tiles, lines, shared };

template <class W>
struct Plan {
  Path path;
  int64_t batch = 1;  // lines that a worker takes at once,
  int64_t group = 1;  // and of these, into scratch
  int64_t scratch;    // of each worker, or of all if the path is shared

  Plan(const SortLines& lines, int64_t item, int workers) {
    int64_t n = lines.n, count = lines.lines.size;
    if (n <= longest_column && count >= sort_columns<W> / 2 && !is_network_better(lines)) {
      path = Path::tiles;
      batch =
          ceil_div(batch_words / n + 1, TileSorter<W>::room(lines)) * TileSorter<W>::room(lines);
      scratch = TileSorter<W>::scratch_bytes(n);
    } else if (n >= share_always || (n >= share_from && count < 2 * workers)) {
      path = Path::shared;
      scratch = SharedSorter<W>::scratch_bytes(n);
    } else {
      path = Path::lines;
      group = LineSorter<W>::group(lines, workers);
      batch = std::max(batch_words / n, group);
      scratch = LineSorter<W>::scratch_bytes(lines, item, group);
    }
  }

  // A run in memory has to be turned for a tile, and turned back: not worth it where one network
  // sorts it as it lies.
  static bool is_network_better(const SortLines& lines) {
    return LineSorter<W>::are_runs(lines) && lines.n > 24 && lines.n <= sort_kernel<W>().block;
  }

  int64_t chunks(const SortLines& lines) const { return ceil_div(lines.lines.size, batch); }
  int64_t scratch_bytes(const SortLines& lines, int workers) const {
    return path == Path::shared ? scratch : scratch * std::min<int64_t>(workers, chunks(lines));
  }
};

template <class W>
void sort_lines(const SortTask& task, const SortLines& lines, int workers, char* scratch) {
  Plan<W> plan(lines, itemsize(task.dtype), workers);
  int64_t count = lines.lines.size;
  if (plan.path == Path::shared) {
    SharedSorter<W> sort_line(task, lines, scratch);
    lines.for_each(0, count, [&](const int64_t (&offsets)[3]) { sort_line(offsets); });
    return;
  }
  int64_t chunks = plan.chunks(lines);
  int64_t ns = plan.batch * (20 + lines.n * 4);
  workers = static_cast<int>(std::min<int64_t>(workers, chunks));  // as the scratch has room for
  auto call = [&](int64_t chunk, int worker) {
    int64_t first = chunk * plan.batch, last = std::min(first + plan.batch, count);
    char* memory = scratch + worker * plan.scratch;
    if (plan.path == Path::tiles) return TileSorter<W>(task, lines, memory)(first, last);
    LineSorter<W>(task, lines, plan.group, memory)(first, last);
  };
  parallel(chunks, ns, task.interruptible, call, workers);
}

}  // namespace

int64_t sort_scratch_bytes(const SortTask& task, int workers) {
  SortLines lines(task);
  if (lines.is_empty()) return 0;
  int64_t item = itemsize(task.dtype);
  return needs_wide_words(task, lines.n)
             ? Plan<int64_t>(lines, item, workers).scratch_bytes(lines, workers)
             : Plan<int32_t>(lines, item, workers).scratch_bytes(lines, workers);
}

void sort(const SortTask& task, int workers, void* scratch) {
  SortLines lines(task);
  if (lines.is_empty()) return;
  auto* memory = static_cast<char*>(scratch);
  needs_wide_words(task, lines.n) ? sort_lines<int64_t>(task, lines, workers, memory)
                                  : sort_lines<int32_t>(task, lines, workers, memory);
}

}  // namespace tessella::launch
