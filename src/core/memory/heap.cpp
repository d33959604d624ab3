// The general allocators: aligned blocks from the C library. Small ones have free lists, so that
// small eager tensors cost no call into it; larger ones are kept up to a total, because the system
// clears every page that it hands out, which takes longer than most operations on it.
#include "../system/system.h"
#include "account.h"
#include "allocators.h"

namespace tessella {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool KEEPS = false;  // so that a use of freed memory is seen
#else
constexpr bool KEEPS = true;
#endif

constexpr size_t SMALL_BYTES = 16384;
constexpr int CLASSES = SMALL_BYTES / ALIGNMENT;
constexpr int KEPT = 64;                // blocks kept for each small size, at most,
constexpr size_t KEPT_BYTES = 1 << 16;  // and not more than this

// From here on, large pages save time: the first touch of a page costs as much as copying it.
constexpr size_t HUGE_BYTES = 1 << 22;
constexpr size_t MOST_KEPT_BYTES = KEEPS ? 768 << 20 : 0;  // of larger blocks kept, together,
constexpr int64_t KEPT_SHARE = 16;                         // and at most this part of the limit

// Freed blocks that are not small. A loop asks for the same sizes again and again, so only blocks
// of exactly the size are taken, the newest first; the oldest of any size go when there are too
// many. What is known of a block stands at its beginning.
class KeptBlocks {
 public:
  void* take(size_t bytes) {
    for (Kept* block = *chain_of(bytes); block; block = block->next)
      if (block->bytes == bytes) return remove(block);
    return nullptr;
  }

  bool keep(void* memory, size_t bytes) {
    size_t share = static_cast<size_t>(account.limit / KEPT_SHARE);
    size_t most = share < MOST_KEPT_BYTES ? share : MOST_KEPT_BYTES;
    if (bytes > most) return false;
    while (static_cast<size_t>(account.kept) + bytes > most) drop_oldest();
    auto* block = static_cast<Kept*>(memory);
    Kept** chain = chain_of(bytes);
    *block = {bytes, newest_, nullptr, *chain, chain};
    if (*chain) (*chain)->link = &block->next;
    *chain = block;
    (newest_ ? newest_->newer : oldest_) = block;
    newest_ = block;
    account.kept += static_cast<int64_t>(bytes);
    return true;
  }

  void drop_oldest() { system::free_aligned(remove(oldest_)); }
  bool is_empty() const { return !oldest_; }

 private:
  static constexpr int CHAINS_LOG2 = 8;
  struct Kept {
    size_t bytes;
    Kept *older, *newer;
    Kept* next;   // in its chain, which has the blocks of some sizes,
    Kept** link;  // and what points to this one there
  };

  Kept** chain_of(size_t bytes) {  // Fibonacci hashing of the size
    uint64_t mixed = bytes / ALIGNMENT * 0x9E3779B97F4A7C15u;
    return &chains_[mixed >> (64 - CHAINS_LOG2)];
  }

  void* remove(Kept* block) {
    *block->link = block->next;
    if (block->next) block->next->link = block->link;
    (block->older ? block->older->newer : oldest_) = block->newer;
    (block->newer ? block->newer->older : newest_) = block->older;
    account.kept -= static_cast<int64_t>(block->bytes);
    return block;
  }

  Kept* chains_[1 << CHAINS_LOG2] = {};
  Kept *oldest_ = nullptr, *newest_ = nullptr;
};

// What every heap takes its blocks from.
class Blocks {
 public:
  void* allocate(size_t bytes) {
    size_t rounded = round_up(bytes);
    if (rounded <= SMALL_BYTES) {
      List& list = lists_[rounded / ALIGNMENT - 1];
      return list.count ? list.blocks[--list.count] : system::allocate_aligned(ALIGNMENT, rounded);
    }
    if (void* kept = larger_.take(rounded)) return kept;
    void* block = system::allocate_aligned(ALIGNMENT, rounded);
    if (block && rounded >= HUGE_BYTES) system::ask_for_huge_pages(block, rounded);
    return block;
  }

  void free(void* block, size_t bytes) {
    size_t rounded = round_up(bytes);
    if (KEEPS && rounded <= SMALL_BYTES) {
      List& list = lists_[rounded / ALIGNMENT - 1];
      if (list.count < KEPT && static_cast<size_t>(list.count) * rounded < KEPT_BYTES) {
        list.blocks[list.count++] = block;
        return;
      }
    }
    if (rounded > SMALL_BYTES && larger_.keep(block, rounded)) return;
    system::free_aligned(block);
  }

  int64_t trim() {
    int64_t before = kept();
    while (!larger_.is_empty()) larger_.drop_oldest();
    for (List& list : lists_)
      while (list.count) system::free_aligned(list.blocks[--list.count]);
    system::trim();
    return before;
  }

  int64_t kept() const {
    int64_t bytes = account.kept;
    for (int i = 0; i < CLASSES; ++i) bytes += lists_[i].count * (i + 1) * int64_t{ALIGNMENT};
    return bytes;
  }

 private:
  struct List {
    int count = 0;
    void* blocks[KEPT];
  };
  List lists_[CLASSES];
  KeptBlocks larger_;
};

Blocks& blocks() {
  static auto* instance = new Blocks;  // never destroyed: tensors may outlive static destructors
  return *instance;
}

class Heap final : public Allocator {
 public:
  Heap(std::string name, bool is_first)
      : Allocator("Heap", std::move(name), false), blocks_(blocks()), is_first_(is_first) {}

  void* allocate(size_t bytes) override { return blocks_.allocate(bytes); }
  void free(void* block, size_t bytes) override { blocks_.free(block, bytes); }
  int64_t trim() override { return is_first_ ? blocks_.trim() : 0; }
  // What is kept is shared by all heaps, and is the first one's here.
  Room room() const override {
    int64_t kept = is_first_ ? blocks_.kept() : 0;
    return {.capacity = counts.live + kept, .free = kept, .largest = kept};
  }

 private:
  Blocks& blocks_;
  bool is_first_;
};

}  // namespace

Allocator& heap() {
  static Allocator* instance = [] {
    auto* made = new Heap("heap", true);
    made->retain_handle();  // never destroyed
    enlist(*made);
    return made;
  }();
  return *instance;
}

Allocator* make_heap(std::string name) { return new Heap(std::move(name), false); }

}  // namespace tessella
