// An operation is joined to the one that reads its value, and so moved to where that one is. So its
// operands must still be there: nothing that is written in between may be one of them. Values that
// lie in tiles have one place each; memory may be seen in several ways, so that any write to it is
// taken for one to an operand in memory.
#include "chaining.h"

namespace tessella::launch {

namespace {

// What an operation is given beside the value.
enum class Form : uint8_t {
  memory,
  number,
  start,
  memory_first,
  number_first,
  start_first,
  itself
};

ChainCode code_of(Opcode opcode, Form form) {
  switch (opcode) {
#define UNARY(name)         \
  case Opcode::name: {      \
    return ChainCode::name; \
  }
#define BINARY(name)                                                                   \
  case Opcode::name: {                                                                 \
    constexpr ChainCode codes[] = {ChainCode::name##_memory, ChainCode::name##_number, \
                                   ChainCode::name##_start,  ChainCode::name##_memory, \
                                   ChainCode::name##_number, ChainCode::name##_start,  \
                                   ChainCode::name##_itself};                          \
    return codes[static_cast<int>(form)];                                              \
  }
#define TURNS(name)                                                                                \
  case Opcode::name: {                                                                             \
    constexpr ChainCode codes[] = {ChainCode::name##_memory,       ChainCode::name##_number,       \
                                   ChainCode::name##_start,        ChainCode::name##_memory_first, \
                                   ChainCode::name##_number_first, ChainCode::name##_start_first,  \
                                   ChainCode::name##_itself};                                      \
    return codes[static_cast<int>(form)];                                                          \
  }
#include "../kernels/chain.def"
    default:
      return ChainCode::none;
  }
}

class Joining {
 public:
  Joining(std::vector<TileOp>& ops, const std::vector<Stream>& streams)
      : ops_(ops),
        streams_(streams),
        reads_(streams.size()),
        writers_(streams.size(), -1),
        begins_(ops.size(), -1),
        has_gone_(ops.size()) {}

  void run() {
    for (const TileOp& op : ops_)
      op.each_input([&](int stream) { ++reads_[static_cast<size_t>(stream)]; });
    for (size_t at = 0; at < ops_.size(); ++at) {
      join(at);
      int& writer = writers_[static_cast<size_t>(ops_[at].out)];
      writer = writer == -1 ? static_cast<int>(at) : -2;  // -2: several
    }
    size_t kept = 0;
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (has_gone_[at]) continue;
      if (ops_[at].links.size() == 1) end_single(at);
      if (kept != at) ops_[kept] = std::move(ops_[at]);
      ++kept;
    }
    ops_.resize(kept);
  }

 private:
  const Stream& stream(int number) const { return streams_[static_cast<size_t>(number)]; }

  // What operation `op` does to its operand number `which`, in a chain that begins with a stream.
  TileLink link_of(const TileOp& op, int which, int begin) const {
    int other = op.in[1 - which];
    if (other < 0 || other == op.in[which]) return {code_of(op.opcode, Form::itself), -1, false};
    Form form = which == 1 ? Form::memory_first : Form::memory;
    bool is_spread = op.is_spread[1 - which];
    if (is_spread || stream(other).kind == StreamKind::constant)
      form = which == 1 ? Form::number_first : Form::number;
    else if (other == begin)
      form = which == 1 ? Form::start_first : Form::start;
    return {code_of(op.opcode, form), other, is_spread};
  }

  // One operation: its own kernel does as well, unless values would have to be spread for it.
  void end_single(size_t at) {
    TileOp& op = ops_[at];
    if (!op.has_spreads) return op.links.clear();
    op.in[0] = begins_[at];
    op.in[1] = -1;
  }

  // Whether elements of an operand are all one number, in a tile or in a row.
  bool is_number(const TileOp& op, int i) const {
    return op.is_spread[i] || stream(op.in[i]).kind == StreamKind::constant;
  }

  void join(size_t at) {
    TileOp& op = ops_[at];
    int from = -1, which = op.chain && op.in[1] >= 0 && is_number(op, 0) ? 1 : 0;
    if (op.is_spread[which]) op.chain = nullptr;  // there is nothing else to begin with
    if (!op.chain) return;
    for (int i = 0; i < 2; ++i) {
      int writer = joined_writer(at, i);
      if (writer > from) from = writer, which = i;
    }
    begins_[at] = from < 0 ? op.in[which] : begins_[static_cast<size_t>(from)];
    TileLink link = link_of(op, which, begins_[at]);
    op.links = {link};
    if (from < 0) return;
    auto before = static_cast<size_t>(from);
    op.links = std::move(ops_[before].links);
    op.links.push_back(link);
    op.in[0] = begins_[at];
    op.in[1] = -1;
    op.has_spreads |= ops_[before].has_spreads;
    has_gone_[before] = true;
  }

  // The operation whose value is operand i of one, if the two can be joined; else -1.
  int joined_writer(size_t at, int i) const {
    const TileOp& op = ops_[at];
    int in = op.in[i];
    if (in < 0 || stream(in).kind != StreamKind::tile) return -1;
    int writer = writers_[static_cast<size_t>(in)];
    int own_reads = (op.in[0] == in) + (op.in[1] == in);
    if (writer < 0 || reads_[static_cast<size_t>(in)] != own_reads) return -1;
    const TileOp& before = ops_[static_cast<size_t>(writer)];
    bool is_alike = before.chain == op.chain && before.is_of_rows == op.is_of_rows;
    bool is_short = before.links.size() < static_cast<size_t>(MOST_LINKS);
    return is_alike && is_short && can_move(static_cast<size_t>(writer), at) ? writer : -1;
  }

  bool can_move(size_t from, size_t to) const {
    bool can = true;
    ops_[from].each_input([&](int in) {
      for (size_t at = from + 1; at < to; ++at) {
        int out = ops_[at].out;
        bool is_memory = stream(out).kind != StreamKind::tile;
        bool reads_memory = stream(in).kind == StreamKind::memory;
        if (out == in || (is_memory && reads_memory)) can = false;
      }
    });
    return can;
  }

  std::vector<TileOp>& ops_;
  const std::vector<Stream>& streams_;
  std::vector<int> reads_;    // of each stream
  std::vector<int> writers_;  // the operation that writes a stream; -1: none so far
  std::vector<int> begins_;   // the stream that the chain of an operation begins with
  std::vector<bool> has_gone_;
};

}  // namespace

ChainFn chain_of(Opcode opcode, DType dtype) {
  if (code_of(opcode, Form::memory) == ChainCode::none) return nullptr;
  const ChainKernels& kernels = TS_CHOSEN(chain_kernels);
  if (dtype == DType::float32) return kernels.f32;
  return dtype == DType::float64 ? kernels.f64 : nullptr;
}

void join_chains(std::vector<TileOp>* ops, const std::vector<Stream>& streams) {
  Joining(*ops, streams).run();
}

}  // namespace tessella::launch
