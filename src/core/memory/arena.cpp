// The arena: a block is the next bytes of a chunk, and nothing is given back but all that came
// after a place. Buffers that still live then are told so. Places are counted through all chunks.
#include <algorithm>
#include <vector>

#include "../buffer.h"
#include "allocators.h"
#include "poison.h"

namespace tessella {

namespace {

struct Chunk {
  char* data;
  size_t bytes;
  int64_t start;  // the place where it begins
};

struct Mark {
  int64_t number;
  int64_t place;
};

class ChunkArena final : public Arena {
 public:
  ChunkArena(std::string name, size_t bytes, bool is_growable)
      : Arena("Arena", std::move(name), true, true),
        first_bytes_(bytes),
        is_growable_(is_growable) {}

  bool add_chunk(size_t bytes) {
    chunks_.reserve(chunks_.size() + 1);  // nothing fails once the memory is there
    auto* data = static_cast<char*>(take_reserve(bytes));
    if (!data) return false;
    int64_t start = chunks_.empty() ? 0 : end_of(chunks_.back());
    chunks_.push_back({data, bytes, start});
    poison(data, bytes);
    return true;
  }

  void* allocate(size_t bytes) override {
    size_t rounded = round_up(bytes);
    if (!fits(rounded) && !advance(rounded)) return nullptr;
    char* block = chunks_[at_].data + used_in_;
    used_in_ += rounded;
    unpoison(block, bytes);
    return block;
  }

  void free(void* block, size_t bytes) override { poison(block, round_up(bytes)); }

  // The last block grows and shrinks, unless a mark stands behind it.
  bool resize(void* block, size_t from, size_t to) override {
    if (round_up(from) == round_up(to)) return unpoison(block, to), true;
    if (chunks_.empty() || place_of(block) < last_mark()) return false;
    char* end = static_cast<char*>(block) + round_up(from);
    const Chunk& chunk = chunks_[at_];
    if (end != chunk.data + used_in_) return false;
    size_t rest = static_cast<size_t>(chunk.data + chunk.bytes - static_cast<char*>(block));
    if (round_up(to) > rest) return false;
    used_in_ += round_up(to) - round_up(from);
    poison(block, rest);
    unpoison(block, to);
    return true;
  }

  Room room() const override {
    Room room;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      room.capacity += static_cast<int64_t>(chunks_[i].bytes);
      if (i < at_) continue;
      int64_t left = static_cast<int64_t>(chunks_[i].bytes - (i == at_ ? used_in_ : 0));
      room.free += left;
      room.largest = std::max(room.largest, left);
    }
    return room;
  }

  int64_t largest_block() const override {
    return is_growable_ ? INT64_MAX : static_cast<int64_t>(first_bytes_);
  }

  bool grows() const override { return is_growable_; }

  int64_t trim() override {
    int64_t given = 0;
    size_t needed = used() ? at_ + 1 : 0;
    while (chunks_.size() > needed) given += drop_last();
    return given;
  }

  void vacate() override {
    at_ = used_in_ = 0;
    marks_.clear();
    while (!chunks_.empty()) drop_last();
  }

  int64_t mark() override {
    if (marks_.empty() || marks_.back().place != used()) marks_.push_back({++marked_, used()});
    return marks_.back().number;
  }

  bool is_valid(int64_t number) const override { return number == START || find(number); }

  bool can_release(int64_t number, Buffer** pinned) const override {
    int64_t place = place_of_mark(number);
    for (Buffer* buffer = newest_; buffer && is_after(buffer, place); buffer = buffer->older)
      if (buffer->pins) return *pinned = buffer, false;
    return true;
  }

  void release_to(int64_t number) override {
    int64_t place = place_of_mark(number);
    Buffer* buffer = newest_;
    for (; buffer && is_after(buffer, place); buffer = buffer->older) bury(buffer);
    newest_ = buffer;
    if (newest_) newest_->newer = nullptr;
    while (!marks_.empty() && marks_.back().number > number) marks_.pop_back();
    go_back(place);
    vacate_if_unused();
  }

  int64_t used() const override {
    return chunks_.empty() ? 0 : chunks_[at_].start + static_cast<int64_t>(used_in_);
  }

  void adopt(Buffer* buffer) override {
    buffer->newer = nullptr;
    buffer->older = newest_;
    if (newest_) newest_->newer = buffer;
    newest_ = buffer;
  }

  void disown(Buffer* buffer) override {
    if (buffer->older) buffer->older->newer = buffer->newer;
    (buffer->newer ? buffer->newer->older : newest_) = buffer->older;
  }

 private:
  static int64_t end_of(const Chunk& chunk) {
    return chunk.start + static_cast<int64_t>(chunk.bytes);
  }

  bool fits(size_t rounded) const {
    return !chunks_.empty() && rounded <= chunks_[at_].bytes - used_in_;
  }

  // Goes on to the next chunk that is large enough. New ones double what there is.
  bool advance(size_t rounded) {
    for (size_t next = at_ + 1; next < chunks_.size(); ++next)
      if (rounded <= chunks_[next].bytes) return at_ = next, used_in_ = 0, true;
    // One that was vacated begins again as it was made.
    if (!is_growable_ && (!chunks_.empty() || rounded > first_bytes_)) return false;
    size_t so_far = chunks_.empty() ? first_bytes_ : static_cast<size_t>(end_of(chunks_.back()));
    if (!add_chunk(std::max(rounded, so_far)) && !add_chunk(rounded)) return false;
    at_ = chunks_.size() - 1;
    used_in_ = 0;
    return true;
  }

  void go_back(int64_t place) {
    if (chunks_.empty()) return;
    at_ = 0;
    while (place > end_of(chunks_[at_])) ++at_;
    used_in_ = static_cast<size_t>(place - chunks_[at_].start);
    for (size_t i = at_; i < chunks_.size(); ++i) {
      size_t from = i == at_ ? used_in_ : 0;
      poison(chunks_[i].data + from, chunks_[i].bytes - from);
    }
  }

  int64_t drop_last() {
    Chunk chunk = chunks_.back();
    chunks_.pop_back();
    unpoison(chunk.data, chunk.bytes);
    give_reserve(chunk.data, chunk.bytes);
    return static_cast<int64_t>(chunk.bytes);
  }

  int64_t place_of(const void* block) const {
    const char* address = static_cast<const char*>(block);
    for (size_t i = at_;; --i) {
      const Chunk& chunk = chunks_[i];
      if (address >= chunk.data && address < chunk.data + chunk.bytes)
        return chunk.start + (address - chunk.data);
    }
  }

  bool is_after(const Buffer* buffer, int64_t place) const {
    return place == 0 || place_of(buffer->data) >= place;
  }

  const Mark* find(int64_t number) const {
    auto mark = std::lower_bound(marks_.begin(), marks_.end(), number,
                                 [](const Mark& m, int64_t wanted) { return m.number < wanted; });
    return mark != marks_.end() && mark->number == number ? &*mark : nullptr;
  }
  int64_t place_of_mark(int64_t number) const { return number == START ? 0 : find(number)->place; }
  int64_t last_mark() const { return marks_.empty() ? 0 : marks_.back().place; }

  const size_t first_bytes_;
  const bool is_growable_;
  std::vector<Chunk> chunks_;
  size_t at_ = 0;       // the chunk that is filled
  size_t used_in_ = 0;  // bytes of it
  std::vector<Mark> marks_;
  static inline int64_t marked_ = 0;  // of all arenas: a mark is of one of them only
  Buffer* newest_ = nullptr;          // of living buffers, in the order of their places
};

}  // namespace

Arena* make_arena(std::string name, size_t bytes, bool is_growable) {
  auto* arena = new ChunkArena(std::move(name), round_up(bytes), is_growable);
  if (arena->add_chunk(round_up(bytes))) return arena;
  delete arena;
  return nullptr;
}

}  // namespace tessella
