// Elementwise instructions of a tape that run as one, tile by tile (launch/tiled.h).
#pragma once

#include "../launch/tiled.h"
#include "tape.h"

namespace tessella {

class TileGroup {
 public:
  // `buffers` are those that stand for the slots; nullptr: an intermediate that lies in tiles.
  // The caller has checked that instructions can run so: all write contiguous memory of one shape,
  // and what one writes another sees in no other layout.
  TileGroup(const Tape& tape, std::span<const int> instructions, std::span<Buffer* const> buffers);

  // Why an instruction cannot be part of a group; nullptr: it can.
  static const char* why_alone(const Instruction& instruction);

  void run();
  size_t scratch_bytes() const;

 private:
  // What a stream is told from others by; a number has no slot.
  struct Key {
    int slot;
    DType dtype;
    int64_t offset;
    std::vector<int64_t> strides;
    bool operator==(const Key&) const = default;
  };

  int stream_of(const Place& place, std::span<Buffer* const> buffers);
  int stream_of(const Scalar& number, DType dtype);
  void assign_tiles();

  std::vector<int64_t> shape_;
  int64_t size_ = 0;
  bool is_interruptible_ = true;
  std::vector<Key> keys_;
  std::vector<Buffer*> sources_;  // of each stream, or nullptr
  std::vector<int64_t> offsets_;  // bytes
  std::vector<launch::Stream> streams_;
  std::vector<launch::TileOp> ops_;
  std::vector<std::unique_ptr<launch::Space>> spaces_;
  std::vector<std::unique_ptr<char[]>> constants_;
  int tiles_ = 0;
};

}  // namespace tessella
