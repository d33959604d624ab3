// Chains of elementwise operations, of reductions along rows and of what follows from those, a tile
// at a time: a tile that stays in the cache goes through all operations before the next one is
// begun. The kernels are those of single operations, so the bits are theirs.
//
// All elements are rows of one length. If a row fits a tile, a tile is some whole rows, and what a
// reduction gives can be used by later operations; else it is a part of a row, and the values of
// reductions are there at the end. Without reductions all elements are one row.
#pragma once

#include <vector>

#include "../kernels/cast.h"
#include "../kernels/chain.h"
#include "../kernels/elementwise.h"
#include "reduce_plan.h"
#include "space.h"
#include "tile.h"

namespace tessella::launch {

constexpr int64_t LONGEST_ROW = TILE * 16;  // that a tile can hold
constexpr int MOST_REDUCTIONS = 8;          // of one chain

// Where the elements of an operand come from, or go to.
enum class StreamKind : uint8_t {
  memory,    // contiguous
  strided,   // gathered into a tile, unless what a tile sees of it is contiguous
  constant,  // one number: a tile that is filled with it, made before
  tile,      // an intermediate, which nobody else sees
};

struct Stream {
  StreamKind kind;
  bool is_of_rows;  // it has an element for each row
  int64_t itemsize;
  char* data = nullptr;           // of all but tiles
  const Runs<1>* runs = nullptr;  // of what is strided: the shape of the chain, its strides
  int tile = -1;                  // which tile of scratch
  bool is_repeated = false;       // strided, and every row sees the same elements
  bool is_streamed = false;       // memory that is written past the caches, from a tile
  bool is_fetched = false;        // memory that is read from beyond them, and asked for early
};

enum class TileWork : uint8_t {
  compute,  // elementwise
  convert,  // to another dtype, or none
  reduce,   // each row to a value
};

constexpr int MOST_LINKS = 16;

struct TileLink {
  ChainCode code;
  int stream;      // the other operand; -1: none
  bool is_spread;  // which has the values of rows, each to be used over its row
};

struct TileOp {
  TileWork work;
  bool is_of_rows = false;  // it computes with values of rows
  bool has_casts = false;
  bool has_spreads = false;
  bool is_slow = false;      // floats, by an operation that no chain has
  bool is_fetching = false;  // while it computes, what the next tile reads is asked for
  bool is_spread[3] = {};    // the stream has the values of rows, each to be used over its row
  Opcode opcode = {};
  ElementwiseFn kernel = nullptr;
  ChainFn chain = nullptr;    // what computes it as part of a chain; or null
  CastFn cast_in[3] = {};     // into the dtype that is computed in; or null
  int64_t bytes[3] = {};      // of an element of that dtype
  CastFn cast_out = nullptr;  // of the result; or null
  const ReducePlan* reduction = nullptr;
  int out = -1;
  int in[3] = {-1, -1, -1};          // streams, -1: none
  std::vector<TileLink> links = {};  // of a chain, which begins with in[0]

  template <class F>
  void each_input(F body) const {
    for (int stream : in)
      if (stream >= 0) body(stream);
    for (const TileLink& link : links)
      if (link.stream >= 0) body(link.stream);
  }
  int64_t length() const { return links.empty() ? 1 : static_cast<int64_t>(links.size()); }
};

struct TiledTask {
  int64_t rows, length;
  const std::vector<Stream>& streams;
  const std::vector<TileOp>& ops;
  int tiles;  // of scratch; those of conversions and reductions come last
  int64_t tile_bytes;
  bool has_reductions, interruptible;
  int workers;

  int64_t operations() const {
    int64_t count = 0;
    for (const TileOp& op : ops) count += op.length();
    return count;
  }
  // From memory to memory through registers, so that no tile limits how much is done at once.
  bool is_one_chain() const {
    if (ops.size() != 1 || ops[0].links.empty()) return false;
    for (const Stream& stream : streams)
      if (stream.tile >= 0) return false;
    return streams[static_cast<size_t>(ops[0].in[0])].kind == StreamKind::memory;
  }
  bool has_parts() const { return !has_reductions || length > LONGEST_ROW; }
};

constexpr int SPARE_TILES = 4;  // for conversions and reductions

// How many parts a row is cut into, if it is not whole.
constexpr int64_t tiled_spans(int64_t length) { return (length + CHUNK - 1) / CHUNK; }

int64_t tiled_scratch_bytes(const TiledTask& task);
// Some elements of a chain without reductions, on one thread.
void tiled_run(const TiledTask& task, void* scratch, int64_t first, int64_t count, int worker);
void tiled(const TiledTask& task, void* scratch);

}  // namespace tessella::launch
