// See tile_group.h.
#include "tile_group.h"

#include <algorithm>

#include "../kernels/streaming.h"
#include "../launch/chaining.h"
#include "../memory/account.h"
#include "../threads.h"

namespace tessella {

namespace {

using launch::StreamKind;
using launch::TileOp;
using launch::TileWork;

const ElementwiseKernel& kernel_of(const ElementwiseCall& call) {
  return elementwise_table().kernels[static_cast<int>(call.opcode)][static_cast<int>(call.dtype)];
}

// Elements of a row that are worth a call for each row: shorter rows are computed together.
constexpr int64_t SHORTEST_CHAINED = 64;

bool is_computed_in(DType dtype, DType kernels) {
  return dtype == kernels || compute_dtype(dtype) == kernels;
}

// Elements of each row that a reduction makes one of; 0: they are not the last axes.
int64_t row_length(const Instruction& reduction) {
  const Layout& layout = reduction.operands[1].layout;
  int64_t length = 1;
  bool is_inside = false;
  for (int i = 0; i < layout.ndim; ++i) {
    if (layout.shape[i] == 1) continue;
    bool is_reduced = reduction.reduce->axes >> i & 1;
    if (is_inside && !is_reduced) return 0;
    is_inside |= is_reduced;
    if (is_reduced) length *= layout.shape[i];
  }
  return length;
}

}  // namespace

Tiling TileGroup::tiling_of(const Instruction& instruction) {
  const Place& out = instruction.operands[0];
  bool is_copy = instruction.fill || instruction.copies;
  if (instruction.product && out.layout.is_contiguous() && out.layout.size())
    return {Form::product};
  if (!is_copy && !instruction.elementwise && !instruction.reduce)
    return {Form::alone, "it is not elementwise"};
  for (const Place& place : instruction.operands)
    if (is_user(place.dtype)) return {Form::alone, "its dtype is a user's"};
  if (!out.layout.is_contiguous()) return {Form::alone, "what it writes is not contiguous"};
  if (instruction.copies) {
    const Layout& x = instruction.operands[1].layout;
    bool is_plain = x.is_contiguous() && x.size() == out.layout.size();
    if (!is_plain) return {Form::alone, "it brings elements into another order"};
  }
  if (instruction.elementwise) {
    const ElementwiseKernel& kernel = kernel_of(*instruction.elementwise);
    if (!kernel.fn || !is_computed_in(out.dtype, kernel.out))
      return {Form::alone, "what it writes has another dtype"};
  }
  if (!instruction.reduce) return {Form::elementwise};
  if (kind(instruction.operands[1].dtype) == DKind::complex)
    return {Form::alone, "it reduces complex numbers"};
  if (row_length(instruction) < 2 || out.layout.size() == 0)
    return {Form::alone, "it does not reduce the last axes"};
  return {Form::reduce};
}

TileGroup::TileGroup(const Tape& tape, std::span<const int> instructions,
                     std::span<Buffer* const> buffers)
    : buffers_(buffers) {
  set_rows(tape, instructions);
  for (int at : instructions) {
    const Instruction& each = tape.instructions[static_cast<size_t>(at)];
    if (each.reduce)
      add_reduction(each);
    else if (each.elementwise)
      add_elementwise(each);
    else
      add_copy(each);
  }
  launch::join_chains(&ops_, streams_);
  assign_tiles();
  if (needs_spares_) tiles_ += launch::SPARE_TILES;
  buffers_ = {};
}

void TileGroup::set_rows(const Tape& tape, std::span<const int> instructions) {
  auto at = [&](int i) -> const Instruction& { return tape.instructions[static_cast<size_t>(i)]; };
  const Instruction& first = at(instructions[0]);
  const Layout& layout = first.operands[first.reduce ? 1 : 0].layout;
  shape_.assign(layout.shape, layout.shape + layout.ndim);
  length_ = layout.size();
  for (int i : instructions) {
    if (!at(i).reduce) continue;
    length_ = row_length(at(i));
    rows_ = layout.size() / length_;
    if (length_ <= launch::LONGEST_ROW) capacity_ = std::max(capacity_, length_);
    break;
  }
}

bool TileGroup::is_of_rows(const Instruction& each) const {
  return !std::ranges::equal(each.operands[0].layout.sizes(), shape_);
}

void TileGroup::add_elementwise(const Instruction& each) {
  const ElementwiseCall& call = *each.elementwise;
  const ElementwiseKernel& kernel = kernel_of(call);
  TileOp op{TileWork::compute};
  op.opcode = call.opcode;
  op.kernel = kernel.fn;
  size_t next = 1;
  bool is_alike = true;  // not abs of complex numbers, which are read as other elements
  for (int i = 0; i < call.arity; ++i) {
    DType dtype = call.dtypes[i], computed = compute_dtype(dtype);
    is_alike &= computed == kernel.out;
    if (!call.is_tensor[i]) {
      Scalar number;
      cast_kernel(dtype, computed)(1, number.bytes, call.scalars[i].bytes);
      op.in[i] = number_stream(number, computed);
      continue;
    }
    read(&op, i, each.operands[next++], each);
    op.bytes[i] = itemsize(computed);
    if (computed != dtype) op.cast_in[i] = cast_kernel(dtype, computed), op.has_casts = true;
    widest_ = std::max(widest_, itemsize(computed));
  }
  DType out = each.operands[0].dtype;
  if (out != kernel.out) op.cast_out = cast_kernel(kernel.out, out), op.has_casts = true;
  widest_ = std::max(widest_, itemsize(kernel.out));
  needs_spares_ |= op.has_casts;
  if (is_alike && !op.has_casts && (!op.has_spreads || length_ >= SHORTEST_CHAINED))
    op.chain = launch::chain_of(call.opcode, kernel.out);
  op.is_slow = !op.chain && kind(kernel.out) == DKind::floating;
  is_interruptible_ &= call.interruptible;
  write(op, each, is_of_rows(each));
}

void TileGroup::add_copy(const Instruction& each) {
  DType to = each.operands[0].dtype, from = each.fill ? to : each.operands[1].dtype;
  TileOp op{TileWork::convert};
  op.cast_out = cast_kernel(from, to);
  if (each.fill)
    op.in[0] = number_stream(*each.fill, to);
  else
    read(&op, 0, each.operands[1], each);
  write(op, each, is_of_rows(each));
}

void TileGroup::add_reduction(const Instruction& each) {
  const Place& x = each.operands[1];
  int64_t shape[] = {rows_, length_}, strides[] = {length_, 1};
  launch::ReduceTask task{each.reduce->op, x.dtype, 2,       shape, strides,
                          nullptr,         0b10,    nullptr, true};
  reductions_.push_back(std::make_unique<launch::ReducePlan>(task));
  launch::ReducePlan& plan = *reductions_.back();
  plan.spans = launch::tiled_spans(length_);
  TileOp op{TileWork::reduce};
  op.reduction = &plan;
  read(&op, 0, x, each);
  widest_ = std::max({widest_, itemsize(plan.compute), int64_t{sizeof(int64_t)}});
  needs_spares_ = true;
  is_interruptible_ &= each.reduce->interruptible;
  write(op, each, true);
}

void TileGroup::write(TileOp op, const Instruction& each, bool is_of_rows) {
  const Place& out = each.operands[0];
  op.is_of_rows = is_of_rows;
  op.out = stream_of(out, out.layout.sizes(), is_of_rows);
  ops_.push_back(op);
}

// Input i of an operation: what has a value for each row is spread where it meets whole rows.
void TileGroup::read(TileOp* op, int i, const Place& place, const Instruction& reader) {
  if (!reader.reduce && is_of_rows(reader)) {
    op->in[i] = stream_of(place, reader.operands[0].layout.sizes(), true);
    return;
  }
  Key values{place.slot, place.dtype, place.layout.offset, true, {}};
  for (const TileOp& other : ops_) {
    if (keys_[static_cast<size_t>(other.out)] != values) continue;
    op->in[i] = other.out;
    op->is_spread[i] = op->has_spreads = needs_spares_ = true;
    return;
  }
  op->in[i] = stream_of(place, shape_, false);
}

int TileGroup::stream_of(const Place& place, Shape shape, bool is_of_rows) {
  Layout spread = place.layout.broadcast_to(shape);
  bool is_contiguous = spread.is_contiguous();
  Key key{place.slot, place.dtype, place.layout.offset, is_of_rows, {}};
  if (!is_contiguous) key.strides.assign(spread.strides, spread.strides + spread.ndim);
  for (size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return static_cast<int>(i);
  Buffer* source = buffers_[static_cast<size_t>(place.slot)];
  launch::Stream stream{source ? StreamKind::memory : StreamKind::tile, is_of_rows,
                        itemsize(place.dtype)};
  if (source && !is_contiguous && spread.size()) {
    const int64_t* strides[] = {spread.strides};
    stream.kind = StreamKind::strided;
    stream.runs = &runs_.emplace_back(spread.ndim, spread.shape, strides);
    stream.is_repeated = !is_of_rows && is_repeated(spread);
  }
  return new_stream(std::move(key), stream, source);
}

// Whether all rows see the same elements, so that tiles of whole rows do.
bool TileGroup::is_repeated(const Layout& spread) const {
  if (rows_ == 1 || length_ > launch::LONGEST_ROW) return false;
  int64_t rows = 1;
  for (int axis = 0; rows < rows_; ++axis) {
    if (spread.shape[axis] != 1 && spread.strides[axis] != 0) return false;
    rows *= spread.shape[axis];
  }
  return true;
}

int TileGroup::number_stream(const Scalar& number, DType dtype) {
  int64_t bytes = itemsize(dtype), count = std::min(capacity_, std::max(rows_, rows_ * length_));
  constants_.push_back(std::make_unique<char[]>(static_cast<size_t>(count * bytes)));
  launch::fill_tile(number.bytes, bytes, count, constants_.back().get());
  return new_stream({-1 - static_cast<int>(keys_.size()), dtype, 0, false, {}},  // like no other
                    {StreamKind::constant, false, bytes, constants_.back().get()}, nullptr);
}

int TileGroup::new_stream(Key key, launch::Stream stream, Buffer* source) {
  widest_ = std::max(widest_, stream.itemsize);
  offsets_.push_back(key.offset * stream.itemsize);
  keys_.push_back(std::move(key));
  sources_.push_back(source);
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

// Gives each stream that needs one a tile, and the tile of one that is done with to the next.
void TileGroup::assign_tiles() {
  std::vector<size_t> last(streams_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    last[static_cast<size_t>(ops_[i].out)] = i;
    ops_[i].each_input([&](int in) { last[static_cast<size_t>(in)] = i; });
  }
  // What is strided is gathered before the first operation.
  for (launch::Stream& stream : streams_)
    if (stream.kind == StreamKind::strided) stream.tile = tiles_++;
  share_tiles(last);
  find_streamed(last);
  find_fetched();
}

// What is large and only written may be written past the caches: by way of one tile.
void TileGroup::find_streamed(const std::vector<size_t>& last) {
  std::vector<bool> is_read(streams_.size());
  for (const TileOp& op : ops_)
    op.each_input([&](int in) { is_read[static_cast<size_t>(in)] = true; });
  for (size_t i = 0; i < ops_.size(); ++i) {
    auto at = static_cast<size_t>(ops_[i].out);
    launch::Stream& out = streams_[at];
    bool is_large = rows_ * length_ * out.itemsize >= STREAMED_BYTES;
    bool is_alone = !is_read[at] && last[at] == i && !out.is_of_rows;
    if (out.kind != StreamKind::memory || !is_large || !is_alone) continue;
    out.tile = streamed_.empty() ? tiles_++ : streams_[streamed_[0]].tile;
    streamed_.push_back(at);
  }
}

// What no cache holds is asked for while something is computed: by the first operation that may
// take long enough. Those of chains do not, nor do comparisons and those of integers.
void TileGroup::find_fetched() {
  auto found = std::find_if(ops_.begin(), ops_.end(), [](const TileOp& op) {
    return op.work == TileWork::compute && op.is_slow && !op.has_spreads && !op.is_of_rows;
  });
  if (found == ops_.end()) return;
  for (const TileOp& op : ops_)
    op.each_input([&](int in) {
      launch::Stream& stream = streams_[static_cast<size_t>(in)];
      bool is_large = rows_ * length_ * stream.itemsize >= STREAMED_BYTES;
      bool is_read_whole = stream.kind == StreamKind::memory && !stream.is_of_rows;
      if (is_large && is_read_whole) stream.is_fetched = found->is_fetching = true;
    });
}

void TileGroup::share_tiles(const std::vector<size_t>& last) {
  std::vector<int> free;
  std::vector<bool> is_given(streams_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    const TileOp& op = ops_[i];
    launch::Stream& out = streams_[static_cast<size_t>(op.out)];
    auto give_ended = [&](bool only_alike) {
      op.each_input([&](int in) {
        auto at = static_cast<size_t>(in);
        bool is_alike = streams_[at].itemsize == out.itemsize;
        if (streams_[at].is_repeated) return;  // it is there for the next tile too
        if (in == op.out || last[at] != i || is_given[at] || streams_[at].tile < 0) return;
        if (only_alike && !is_alike) return;
        is_given[at] = true;
        free.push_back(streams_[at].tile);
      });
    };
    // A result may lie where an operand lay that ends here: elements are read before written.
    if (op.work == TileWork::compute && !op.has_spreads) give_ended(true);
    if (out.kind == StreamKind::tile && out.tile < 0) {
      if (free.empty()) free.push_back(tiles_++);
      out.tile = free.back();
      free.pop_back();
    }
    give_ended(false);
  }
}

launch::TiledTask TileGroup::task() const {
  int64_t bytes = (capacity_ * widest_ + 63) / 64 * 64;
  return {
      rows_,        length_, streams_, ops_, tiles_, bytes, !reductions_.empty(), is_interruptible_,
      num_threads()};
}

size_t TileGroup::scratch_bytes() const {
  return round_up(static_cast<size_t>(launch::tiled_scratch_bytes(task())));
}

void TileGroup::aim() {
  for (size_t i = 0; i < streams_.size(); ++i)
    if (sources_[i]) streams_[i].data = sources_[i]->host_ptr() + offsets_[i];
  // Where an operand lies, the lines are in the cache.
  for (size_t at : streamed_) {
    int found = 0;
    for (const launch::Stream& other : streams_) found += other.data == streams_[at].data;
    streams_[at].is_streamed = found == 1;
  }
}

void TileGroup::run_after(const Instruction& product, Tensor* const* operands,
                          bool writes_outside) {
  aim();
  launch::TiledTask task = this->task();
  Scratch scratch(static_cast<size_t>(launch::tiled_scratch_bytes(task)));
  std::pair context{&task, scratch.data()};
  auto run = [](void* given, int64_t first, int64_t count, int worker) {
    auto [work, tiles] = *static_cast<decltype(context)*>(given);
    launch::tiled_run(*work, tiles, first, count, worker);
  };
  launch::MatmulTail tail{run, &context, writes_outside};
  product.product(operands, &tail);
}

void TileGroup::run() {
  aim();
  launch::TiledTask task = this->task();
  Scratch scratch(static_cast<size_t>(launch::tiled_scratch_bytes(task)));
  LongWork work(rows_ * length_ * task.operations(), {});
  launch::tiled(task, scratch.data());
}

}  // namespace tessella
