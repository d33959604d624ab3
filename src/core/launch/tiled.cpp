// See tiled.h.
#include "tiled.h"

#include "../threads.h"

namespace tessella::launch {

namespace {

// Per element and operation, in cache, times 4.
constexpr int64_t NS_TIMES_4 = 1;

void run_tile(const TiledTask& task, char* scratch, int64_t flat, int64_t count) {
  auto tile_of = [&](const Stream& stream) { return scratch + stream.tile * TILE_BYTES; };
  for (const Stream& stream : task.streams) {
    if (stream.kind == StreamKind::strided)
      gather_tile(*stream.space, 0, stream.data, stream.itemsize, flat, count, tile_of(stream));
  }
  auto place = [&](int number) -> char* {
    if (number < 0) return nullptr;
    const Stream& stream = task.streams[static_cast<size_t>(number)];
    if (stream.kind == StreamKind::memory) return stream.data + flat * stream.itemsize;
    return stream.kind == StreamKind::constant ? stream.data : tile_of(stream);
  };
  for (const TileOp& op : task.ops)
    op.kernel(count, place(op.out), place(op.in[0]), place(op.in[1]), place(op.in[2]));
}

}  // namespace

int64_t tiled_scratch_bytes(int tiles, int workers) {
  return static_cast<int64_t>(tiles) * TILE_BYTES * workers;
}

void tiled(const TiledTask& task, void* scratch) {
  auto run = [&](int64_t begin, int64_t end, int worker) {
    char* own = static_cast<char*>(scratch) + worker * task.tiles * TILE_BYTES;
    for (int64_t flat = begin; flat < end; flat += TILE)
      run_tile(task, own, flat, end - flat < TILE ? end - flat : TILE);
  };
  int64_t chunks = (task.size + CHUNK - 1) / CHUNK;
  if (chunks <= 1) return run(0, task.size, 0);
  auto ops = static_cast<int64_t>(task.ops.size());
  parallel(
      chunks, CHUNK * ops * NS_TIMES_4 / 4, task.interruptible,
      [&](int64_t chunk, int worker) {
        int64_t end = (chunk + 1) * CHUNK;
        run(chunk * CHUNK, end < task.size ? end : task.size, worker);
      },
      task.workers);
}

}  // namespace tessella::launch
