// See tiled.h.
#include "tiled.h"

#include <algorithm>
#include <optional>

#include "../kernels/streaming.h"
#include "../threads.h"
#include "reduce_tree.h"

namespace tessella::launch {

namespace {

// Per element and operation, in cache, times 4.
constexpr int64_t NS_TIMES_4 = 1;
constexpr int64_t SPREAD = 256;      // elements that the value of a long row is spread over
constexpr int64_t PIECE = 256;       // elements to compute between lines of memory
constexpr int64_t LINE = 64;         // bytes
constexpr int64_t MOST_WAITING = 8;  // levels of the tree over the tiles of a chunk

using Waiting = std::optional<WaitingBlocks<MOST_WAITING>>;
static_assert(CHUNK / TILE < 1 << (MOST_WAITING - 1));

// In assembly where it can be: GCC takes a function that only prefetches for one without effect.
inline void fetch_line(const char* line) {
#if defined(__x86_64__) && defined(__GNUC__)
  asm volatile("prefetcht1 %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 0, 2);
#endif
}

class TileRun {
 public:
  // `end`: where elements end that follow each other tile by tile.
  TileRun(const TiledTask& task, char* scratch, Waiting* waiting, int64_t end)
      : task_(task),
        scratch_(scratch),
        places_(reinterpret_cast<char**>(scratch + task.tiles * task.tile_bytes)),
        waiting_(waiting),
        end_(end) {}

  // `count` elements from number `first` of a row on: some whole rows, or a part of one.
  void run(int64_t row, int64_t rows, int64_t first, int64_t count) {
    row_ = row, rows_ = rows, first_ = first, count_ = count;
    flat_ = row * task_.length + first;
    char** to = places_;
    for (const Stream& stream : task_.streams) {
      if (!has_begun_ || !stream.is_repeated) *to = locate(stream);
      ++to;
    }
    has_begun_ = true;
    size_t reductions = 0;
    for (const TileOp& op : task_.ops) {
      if (op.work != TileWork::reduce)
        compute(op);
      else if (waiting_)
        reduce_part(op, *waiting_[reductions++]);
      else
        reduce_rows(op);
    }
  }

  // Nothing of what was written waits to be seen.
  void end() {
    for (const Stream& stream : task_.streams)
      if (stream.is_streamed) return TS_CHOSEN(streaming_kernels).end();
  }

 private:
  char* tile(int number) { return scratch_ + number * task_.tile_bytes; }
  char* spare(int number) { return tile(task_.tiles - SPARE_TILES + number); }

  char* place(int number) { return number < 0 ? nullptr : places_[number]; }

  // Where the elements of a stream are that this tile sees.
  char* locate(const Stream& stream) {
    int64_t first = stream.is_of_rows ? row_ : flat_, offset;
    switch (stream.kind) {
      case StreamKind::memory:
        if (stream.is_streamed) break;
        return stream.data + first * stream.itemsize;
      case StreamKind::constant:
        return stream.data;
      case StreamKind::strided: {
        int64_t count = stream.is_of_rows ? rows_ : count_;
        if (stream.runs->find_contiguous(first, count, &offset))
          return stream.data + offset * stream.itemsize;
        gather_tile(*stream.runs, stream.data, stream.itemsize, first, count, tile(stream.tile));
        break;
      }
      case StreamKind::tile:
        break;
    }
    return tile(stream.tile);
  }

  bool is_streamed(const TileOp& op) const {
    return task_.streams[static_cast<size_t>(op.out)].is_streamed;
  }

  // In pieces where memory is written or asked for beside: it does so while the processor computes.
  void compute(const TileOp& op) {
    if (op.has_spreads && op.links.empty()) return compute_spread(op);
    const int64_t count = op.is_of_rows ? rows_ : count_;
    const bool is_beside_memory = op.is_fetching || is_streamed(op);
    if (!op.has_spreads && !is_beside_memory)
      return compute_piece(op, count, [&](int stream, bool) { return place(stream); });
    // The value of a row is a number to each element of the row.
    const int64_t length = op.has_spreads ? task_.length : count;
    const int64_t piece = is_beside_memory ? PIECE : length;
    for (int64_t row = 0, begin = 0; begin < count; ++row, begin += length) {
      for (int64_t at = 0; at < length; at += piece) {
        int64_t first = begin + at, size = std::min(piece, length - at);
        compute_piece(op, size, [&](int stream, bool is_spread) {
          return stream < 0 ? nullptr : element(stream, is_spread ? row : first);
        });
        if (is_streamed(op)) stream_out(op, first, size);
        if (op.is_fetching) ask_for(first, size);
      }
    }
  }

  // place(stream, is_spread): where its elements are.
  template <class Place>
  void compute_piece(const TileOp& op, int64_t count, Place place) {
    char *out = place(op.out, false), *start = place(op.in[0], false);
    if (op.work == TileWork::convert) return op.cast_out(count, out, start);
    if (op.links.empty())
      return call(op, count, out, {start, place(op.in[1], false), place(op.in[2], false)});
    ChainStep steps[MOST_LINKS];
    int number = 0;
    for (const TileLink& link : op.links)
      steps[number++] = {link.code, place(link.stream, link.is_spread)};
    op.chain(count, out, start, steps, number);
  }

  void call(const TileOp& op, int64_t count, char* out, char* const (&given)[3]) {
    if (!op.has_casts) return op.kernel(count, out, given[0], given[1], given[2]);
    char* in[] = {given[0], given[1], given[2]};
    for (int i = 0; i < 3; ++i)
      if (op.cast_in[i] && !op.is_spread[i])
        op.cast_in[i](count, spare(i), in[i]), in[i] = spare(i);
    char* result = op.cast_out ? spare(3) : out;
    op.kernel(count, result, in[0], in[1], in[2]);
    if (op.cast_out) op.cast_out(count, out, result);
  }

  void stream_out(const TileOp& op, int64_t first, int64_t count) {
    const Stream& out = task_.streams[static_cast<size_t>(op.out)];
    char* to = out.data + (flat_ + first) * out.itemsize;
    TS_CHOSEN(streaming_kernels).copy(count * out.itemsize, to, element(op.out, first));
  }

  // Asks for what lies in the next tile where these elements lie in this one.
  void ask_for(int64_t first, int64_t count) {
    const int64_t next = flat_ + count_ + first;
    for (const Stream& stream : task_.streams) {
      if (!stream.is_fetched || next >= end_) continue;
      const char* from = stream.data + next * stream.itemsize;
      int64_t bytes = std::min(count, end_ - next) * stream.itemsize;
      for (int64_t line = 0; line < bytes; line += LINE) fetch_line(from + line);
    }
  }

  // Long rows one by one, in pieces over which a value is spread; of short ones all at once.
  void compute_spread(const TileOp& op) {
    bool is_short = task_.length <= SPREAD;
    int64_t piece = std::min(task_.length, SPREAD);
    char* in[] = {place(op.in[0]), place(op.in[1]), place(op.in[2])};
    for (int64_t row = 0; row < rows_; ++row) {
      for (int i = 0; i < 3; ++i)
        if (op.is_spread[i]) in[i] = spread(op, i, row, piece, is_short ? row * piece : 0);
      if (is_short) continue;
      for (int64_t at = 0; at < task_.length; at += piece) {
        int64_t first = row * task_.length + at;
        for (int i = 0; i < 3; ++i)
          if (op.in[i] >= 0 && !op.is_spread[i]) in[i] = element(op.in[i], first);
        call(op, std::min(piece, task_.length - at), element(op.out, first), in);
      }
    }
    if (is_short) call(op, count_, place(op.out), in);
    if (is_streamed(op)) stream_out(op, 0, count_);
  }

  // Where element `number` of what a tile sees of a stream is.
  char* element(int stream, int64_t number) {
    const Stream& of = task_.streams[static_cast<size_t>(stream)];
    return of.kind == StreamKind::constant ? of.data : places_[stream] + number * of.itemsize;
  }

  // Puts the value of a row into `count` elements of a spare tile, from number `at` on.
  char* spread(const TileOp& op, int i, int64_t row, int64_t count, int64_t at) {
    int64_t bytes = task_.streams[static_cast<size_t>(op.in[i])].itemsize;
    const char* value = element(op.in[i], row);
    alignas(16) char converted[16];
    if (op.cast_in[i]) op.cast_in[i](1, converted, value), value = converted, bytes = op.bytes[i];
    fill_tile(value, bytes, count, spare(i) + at * bytes);
    return spare(i);
  }

  const char* converted(const TileOp& op) {
    const ReducePlan& plan = *op.reduction;
    const char* x = place(op.in[0]);
    if (!plan.cast) return x;
    plan.cast(count_, spare(0), x);
    return spare(0);
  }

  void reduce_rows(const TileOp& op) {
    const ReducePlan& plan = *op.reduction;
    Partials values{spare(1), reinterpret_cast<int64_t*>(spare(2))};
    plan.kernel->rows(rows_, task_.length, task_.length, values, converted(op), 0);
    reduce_finish(plan, rows_, values, place(op.out), 1);
  }

  void reduce_part(const TileOp& op, WaitingBlocks<MOST_WAITING>& waiting) {
    op.reduction->kernel->rows(1, count_, 0, waiting.next(), converted(op), first_);
    waiting.push();
  }

  const TiledTask& task_;
  char* scratch_;
  char** places_;  // of each stream
  Waiting* waiting_;
  int64_t end_;
  int64_t row_ = 0, rows_ = 0, first_ = 0, count_ = 0, flat_ = 0;
  bool has_begun_ = false;
};

// Tiles, and where each stream is.
int64_t worker_bytes(const TiledTask& task) {
  auto places = static_cast<int64_t>(task.streams.size() * sizeof(char*));
  return task.tiles * task.tile_bytes + (places + LINE - 1) / LINE * LINE;
}

// body(op, number, offset): each reduction, and where its values of spans lie in their scratch.
template <class F>
void each_reduction(const TiledTask& task, F body) {
  int64_t offset = 0;
  int number = 0;
  for (const TileOp& op : task.ops) {
    if (op.work != TileWork::reduce) continue;
    body(op, number++, offset);
    offset += op.reduction->scratch_bytes();
  }
}

void run_part(const TiledTask& task, char* scratch, Waiting* waiting, int64_t row, int64_t begin,
              int64_t end, bool is_followed = true) {
  TileRun run(task, scratch, waiting, is_followed ? task.rows * task.length : 0);
  const int64_t each = task.is_one_chain() ? std::max(TILE, end - begin) : TILE;
  for (int64_t at = begin; at < end; at += each) run.run(row, 1, at, std::min(each, end - at));
  run.end();
}

// Parts of rows that reductions join in the end.
void run_reduced_part(const TiledTask& task, char* scratch, char* partials, int64_t row,
                      int64_t span) {
  Waiting waiting[MOST_REDUCTIONS];
  each_reduction(task, [&](const TileOp& op, int number, int64_t) {
    waiting[number].emplace(*op.reduction, 1);
  });
  int64_t begin = span * CHUNK;
  run_part(task, scratch, waiting, row, begin, std::min(begin + CHUNK, task.length));
  each_reduction(task, [&](const TileOp& op, int number, int64_t offset) {
    const ReducePlan& plan = *op.reduction;
    Partials result = waiting[number]->finish();
    char* out = task.streams[static_cast<size_t>(op.out)].data;
    if (plan.spans > 1)
      reduce_keep(plan, partials + offset, span, row, 1, 1, result);
    else
      reduce_finish(plan, 1, result, out + row * itemsize(plan.out), 1);
  });
}

void run_parts(const TiledTask& task, char* scratch) {
  int64_t spans = tiled_spans(task.length), each = worker_bytes(task);
  if (!task.has_reductions && task.rows * spans <= 1)
    return run_part(task, scratch, nullptr, 0, 0, task.length);
  char* partials = scratch + each * task.workers;
  auto body = [&](int64_t chunk, int worker) {
    int64_t row = chunk / spans, begin = chunk % spans * CHUNK;
    char* own = scratch + worker * each;
    if (task.has_reductions) return run_reduced_part(task, own, partials, row, chunk % spans);
    run_part(task, own, nullptr, row, begin, std::min(begin + CHUNK, task.length));
  };
  int64_t ops = task.operations();
  parallel(task.rows * spans, CHUNK * ops * NS_TIMES_4 / 4, task.interruptible, body, task.workers);
  each_reduction(task, [&](const TileOp& op, int, int64_t offset) {
    char* out = task.streams[static_cast<size_t>(op.out)].data;
    if (op.reduction->spans > 1) reduce_join(*op.reduction, out, partials + offset, false);
  });
}

void run_whole_rows(const TiledTask& task, char* scratch) {
  int64_t at_once = std::max<int64_t>(1, TILE / task.length);
  int64_t each = std::max(at_once, CHUNK / task.length / at_once * at_once);
  auto body = [&](int64_t chunk, int worker) {
    TileRun run(task, scratch + worker * worker_bytes(task), nullptr, task.rows * task.length);
    int64_t end = std::min(task.rows, (chunk + 1) * each);
    for (int64_t row = chunk * each; row < end; row += at_once) {
      int64_t rows = std::min(at_once, end - row);
      run.run(row, rows, 0, rows * task.length);
    }
    run.end();
  };
  int64_t chunks = (task.rows + each - 1) / each;
  if (chunks <= 1) return body(0, 0);
  int64_t ops = task.operations();
  parallel(chunks, each * task.length * ops * NS_TIMES_4 / 4, task.interruptible, body,
           task.workers);
}

}  // namespace

int64_t tiled_scratch_bytes(const TiledTask& task) {
  int64_t bytes = worker_bytes(task) * task.workers;
  if (task.has_parts())
    each_reduction(task,
                   [&](const TileOp& op, int, int64_t) { bytes += op.reduction->scratch_bytes(); });
  return bytes;
}

void tiled_run(const TiledTask& task, void* scratch, int64_t first, int64_t count, int worker) {
  char* own = static_cast<char*>(scratch) + worker * worker_bytes(task);
  run_part(task, own, nullptr, 0, first, first + count, false);  // a row of a block of a product
}

void tiled(const TiledTask& task, void* scratch) {
  if (task.has_parts())
    run_parts(task, static_cast<char*>(scratch));
  else
    run_whole_rows(task, static_cast<char*>(scratch));
}

}  // namespace tessella::launch
