// Instructions of a tape that run as one, tile by tile (launch/tiled.h): elementwise ones, copies,
// and reductions along rows.
#pragma once

#include <deque>

#include "../launch/tiled.h"
#include "tape.h"

namespace tessella {

// How an instruction can be part of a group.
enum class Form : uint8_t {
  alone,
  elementwise,
  reduce,   // of the last axes
  product,  // of matrices: the first of a group, whose others are elementwise
};
constexpr const char* FORM_NAMES[] = {"", "elementwise", "reduce", "product"};

struct Tiling {
  Form form;
  const char* why_alone = "";
};

class TileGroup {
 public:
  // `buffers` are those that stand for the slots; nullptr: an intermediate that lies in tiles.
  // The caller has checked that instructions can run so. All write contiguous memory. Those of the
  // shape of the first one's elements see what another one writes in no other layout; those with an
  // element for each row see such memory row by row; and the former may read the latter's, each
  // element over its row.
  TileGroup(const Tape& tape, std::span<const int> instructions, std::span<Buffer* const> buffers);

  static Tiling tiling_of(const Instruction& instruction);

  void run();
  // Does a product of matrices, whose elements the group takes as they are done. A group that
  // writes outside of the program is not interrupted.
  void run_after(const Instruction& product, Tensor* const* operands, bool writes_outside);
  size_t scratch_bytes() const;

 private:
  // What a stream is told from others by; a number has no slot. No strides: contiguous.
  struct Key {
    int slot;
    DType dtype;
    int64_t offset;
    bool is_of_rows;
    std::vector<int64_t> strides;
    bool operator==(const Key&) const = default;
  };

  void set_rows(const Tape& tape, std::span<const int> instructions);
  void add_elementwise(const Instruction& each);
  void add_copy(const Instruction& each);
  void add_reduction(const Instruction& each);
  bool is_of_rows(const Instruction& each) const;
  int stream_of(const Place& place, Shape shape, bool is_of_rows);
  void read(launch::TileOp* op, int i, const Place& place, const Instruction& reader);
  bool is_repeated(const Layout& spread) const;
  int number_stream(const Scalar& number, DType dtype);
  int new_stream(Key key, launch::Stream stream, Buffer* source);
  void write(launch::TileOp op, const Instruction& each, bool is_of_rows);
  void assign_tiles();
  void share_tiles(const std::vector<size_t>& last);
  void find_streamed(const std::vector<size_t>& last);
  void find_fetched();
  launch::TiledTask task() const;
  void aim();

  std::span<Buffer* const> buffers_;  // only while it is made
  std::vector<int64_t> shape_;
  int64_t rows_ = 1, length_ = 0;
  int64_t capacity_ = launch::TILE;  // elements of a tile
  int64_t widest_ = 1;               // bytes of an element
  bool is_interruptible_ = true;
  bool needs_spares_ = false;
  std::vector<Key> keys_;
  std::vector<Buffer*> sources_;  // of each stream, or nullptr
  std::vector<int64_t> offsets_;  // bytes
  std::vector<launch::Stream> streams_;
  std::vector<launch::TileOp> ops_;
  std::deque<launch::Runs<1>> runs_;  // of strided streams
  std::vector<std::unique_ptr<char[]>> constants_;
  std::vector<std::unique_ptr<launch::ReducePlan>> reductions_;
  std::vector<size_t> streamed_;  // streams that may be written past the caches
  int tiles_ = 0;
};

}  // namespace tessella
