// See tile_group.h.
#include "tile_group.h"

#include "../memory/account.h"
#include "../threads.h"

namespace tessella {

namespace {

const ElementwiseKernel& kernel_of(const ElementwiseCall& call) {
  return elementwise_table().kernels[static_cast<int>(call.opcode)][static_cast<int>(call.dtype)];
}

}  // namespace

const char* TileGroup::why_alone(const Instruction& instruction) {
  if (!instruction.elementwise) return "it is not elementwise";
  const ElementwiseCall& call = *instruction.elementwise;
  const ElementwiseKernel& kernel = kernel_of(call);
  const Place& out = instruction.operands[0];
  for (int i = 0; i < call.arity; ++i)
    if (compute_dtype(call.dtypes[i]) != call.dtypes[i]) return "halves are computed in float32";
  if (compute_dtype(out.dtype) != out.dtype) return "halves are computed in float32";
  if (!kernel.fn) return "it has no kernel of its dtype";
  if (kernel.out != out.dtype) return "what it writes has another dtype";
  if (!out.layout.is_contiguous()) return "what it writes is not contiguous";
  return nullptr;
}

TileGroup::TileGroup(const Tape& tape, std::span<const int> instructions,
                     std::span<Buffer* const> buffers) {
  const Layout& first = tape.instructions[static_cast<size_t>(instructions[0])].operands[0].layout;
  shape_.assign(first.shape, first.shape + first.ndim);
  size_ = first.size();
  for (int at : instructions) {
    const Instruction& each = tape.instructions[static_cast<size_t>(at)];
    const ElementwiseCall& call = *each.elementwise;
    launch::TileOp op{kernel_of(call).fn, -1, {-1, -1, -1}};
    size_t next = 1;
    for (int i = 0; i < call.arity; ++i)
      op.in[i] = call.is_tensor[i] ? stream_of(each.operands[next++], buffers)
                                   : stream_of(call.scalars[i], call.dtypes[i]);
    op.out = stream_of(each.operands[0], buffers);
    ops_.push_back(op);
    is_interruptible_ &= call.interruptible;
  }
  assign_tiles();
}

int TileGroup::stream_of(const Place& place, std::span<Buffer* const> buffers) {
  Key key{place.slot, place.dtype, place.layout.offset, {}};
  Layout spread = place.layout.broadcast_to(shape_);
  key.strides.assign(spread.strides, spread.strides + spread.ndim);
  for (size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return static_cast<int>(i);
  launch::Stream stream{launch::StreamKind::tile, itemsize(place.dtype)};
  Buffer* source = buffers[static_cast<size_t>(place.slot)];
  if (source) {
    stream.kind = launch::StreamKind::memory;
    if (size_ && !spread.is_contiguous()) {
      const int64_t* strides[] = {spread.strides};
      spaces_.push_back(std::make_unique<launch::Space>(spread.ndim, spread.shape, 1, strides));
      stream.kind = launch::StreamKind::strided;
      stream.space = spaces_.back().get();
    }
  }
  keys_.push_back(std::move(key));
  sources_.push_back(source);
  offsets_.push_back(place.layout.offset * itemsize(place.dtype));
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

int TileGroup::stream_of(const Scalar& number, DType dtype) {
  int64_t bytes = itemsize(dtype);
  constants_.push_back(std::make_unique<char[]>(static_cast<size_t>(launch::TILE * bytes)));
  launch::fill_tile(number.bytes, bytes, size_ < launch::TILE ? size_ : launch::TILE,
                    constants_.back().get());
  keys_.push_back({-1 - static_cast<int>(keys_.size()), dtype, 0, {}});  // like no other
  sources_.push_back(nullptr);
  offsets_.push_back(0);
  streams_.push_back({launch::StreamKind::constant, bytes, constants_.back().get()});
  return static_cast<int>(streams_.size()) - 1;
}

// Gives each stream that needs one a tile, and the tile of one that is done with to the next.
void TileGroup::assign_tiles() {
  std::vector<size_t> last(streams_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    last[static_cast<size_t>(ops_[i].out)] = i;
    for (int in : ops_[i].in)
      if (in >= 0) last[static_cast<size_t>(in)] = i;
  }
  std::vector<int> free;
  auto take = [&](launch::Stream& stream) {
    if (stream.tile >= 0) return;
    if (free.empty()) free.push_back(tiles_++);
    stream.tile = free.back();
    free.pop_back();
  };
  // What is strided is gathered before the first operation.
  for (launch::Stream& stream : streams_)
    if (stream.kind == launch::StreamKind::strided) take(stream);
  for (size_t i = 0; i < ops_.size(); ++i) {
    // A result may lie where an operand lay that ends here: elements are read before written.
    for (int in : ops_[i].in)
      if (in >= 0 && last[static_cast<size_t>(in)] == i && in != ops_[i].out) {
        launch::Stream& stream = streams_[static_cast<size_t>(in)];
        bool is_listed = in == ops_[i].in[1] && in == ops_[i].in[0];
        is_listed |= in == ops_[i].in[2] && (in == ops_[i].in[0] || in == ops_[i].in[1]);
        bool has_width = stream.itemsize == streams_[static_cast<size_t>(ops_[i].out)].itemsize;
        if (stream.tile >= 0 && has_width && !is_listed) free.push_back(stream.tile);
      }
    launch::Stream& out = streams_[static_cast<size_t>(ops_[i].out)];
    if (out.kind == launch::StreamKind::tile) take(out);
  }
}

size_t TileGroup::scratch_bytes() const {
  return static_cast<size_t>(launch::tiled_scratch_bytes(tiles_, num_threads()));
}

void TileGroup::run() {
  for (size_t i = 0; i < streams_.size(); ++i)
    if (sources_[i]) streams_[i].data = sources_[i]->host_ptr() + offsets_[i];
  int workers = num_threads();
  Scratch scratch(scratch_bytes());
  LongWork work(size_ * static_cast<int64_t>(ops_.size()), {});
  launch::tiled({size_, streams_, ops_, tiles_, is_interruptible_, workers}, scratch.data());
}

}  // namespace tessella
