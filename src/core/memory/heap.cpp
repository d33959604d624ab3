// The general allocator: aligned blocks from the C library. Small ones have free lists, so that
// small eager tensors cost no call into it; of large ones the last few are kept, because the system
// clears every page that it hands out, which takes longer than most operations on it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif
#include <unistd.h>

#include "../error.h"
#include "allocator.h"

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

constexpr size_t HUGE_BYTES = 1 << 22;                      // from here on, large pages save time
constexpr size_t MOST_LARGE_BYTES = KEEPS ? 128 << 20 : 0;  // of large blocks kept, together,
constexpr int64_t LARGE_SHARE = 16;                         // and at most this part of the limit

// The first touch of a page costs as much as copying it: large pages have fewer of these. Advice
// only: where it is not taken, nothing changes.
void ask_for_huge_pages(void* block, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(block) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(block) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

// Freed large blocks, the oldest first. A loop asks for the same sizes again and again, so only
// blocks of exactly the size are taken.
class LargeBlocks {
 public:
  void* take(size_t bytes) {
    for (int i = count_; i-- > 0;)
      if (blocks_[i].bytes == bytes) return remove(i);
    return nullptr;
  }

  bool keep(void* block, size_t bytes) {
    size_t share = static_cast<size_t>(account().limit / LARGE_SHARE);
    size_t most = share < MOST_LARGE_BYTES ? share : MOST_LARGE_BYTES;
    if (bytes > most) return false;
    while (count_ == MOST || static_cast<size_t>(account().kept) + bytes > most) drop_oldest();
    blocks_[count_++] = {block, bytes};
    account().kept += static_cast<int64_t>(bytes);
    return true;
  }

  void drop_oldest() { ::free(remove(0)); }
  bool is_empty() const { return count_ == 0; }

 private:
  static constexpr int MOST = 16;
  struct Kept {
    void* block;
    size_t bytes;
  };

  void* remove(int i) {
    Kept found = blocks_[i];
    memmove(blocks_ + i, blocks_ + i + 1, sizeof(Kept) * static_cast<size_t>(--count_ - i));
    account().kept -= static_cast<int64_t>(found.bytes);
    return found.block;
  }

  Kept blocks_[MOST];
  int count_ = 0;
};

class Heap final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    size_t rounded = round_up(bytes);
    if (rounded <= SMALL_BYTES) {
      List& list = lists_[rounded / ALIGNMENT - 1];
      if (list.count) return list.blocks[--list.count];
    }
    if (rounded < HUGE_BYTES) return aligned_alloc(ALIGNMENT, rounded);
    if (void* kept = large_.take(rounded)) return kept;
    void* block = aligned_alloc(ALIGNMENT, rounded);
    if (block) ask_for_huge_pages(block, rounded);
    return block;
  }

  void free(void* block, size_t bytes) override {
    size_t rounded = round_up(bytes);
    if (KEEPS && rounded <= SMALL_BYTES) {
      List& list = lists_[rounded / ALIGNMENT - 1];
      if (list.count < KEPT && static_cast<size_t>(list.count) * rounded < KEPT_BYTES) {
        list.blocks[list.count++] = block;
        return;
      }
    }
    if (rounded >= HUGE_BYTES && large_.keep(block, rounded)) return;
    ::free(block);
  }

  void trim() override {
    while (!large_.is_empty()) large_.drop_oldest();
  }

 private:
  static size_t round_up(size_t bytes) {
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
  }
  struct List {
    int count = 0;
    void* blocks[KEPT];
  };
  List lists_[CLASSES];
  LargeBlocks large_;
};

int64_t read_number(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) return INT64_MAX;
  long long value = 0;
  int read = fscanf(file, "%lld", &value);
  fclose(file);
  return read == 1 && value > 0 ? value : INT64_MAX;
}

// The smaller of the machine's memory and the cgroup's, less a tenth of headroom.
int64_t default_limit() {
  int64_t limit = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t cgroup = read_number(path);
    if (cgroup < limit) limit = cgroup;
  }
  return limit / 10 * 9;
}

}  // namespace

Allocator& heap() {
  static Heap* instance = new Heap;  // never destroyed: tensors may outlive static destructors
  return *instance;
}

Account& account() {
  static Account instance{.limit = default_limit()};
  return instance;
}

void* allocate_within_limit(Allocator& allocator, size_t bytes) {
  Account& counts = account();
  int64_t wanted = static_cast<int64_t>(bytes);
  if (wanted > counts.limit - counts.live) fail_out_of_memory(wanted, counts.limit, counts.live);
  if (wanted > counts.limit - counts.live - counts.kept) heap().trim();
  void* block = allocator.allocate(bytes);
  if (!block) {
    heap().trim();
    block = allocator.allocate(bytes);
  }
  if (!block) fail_out_of_memory(wanted, counts.limit, counts.live);
  counts.live += wanted;
  counts.allocations += 1;
  if (counts.live > counts.peak) counts.peak = counts.live;
  return block;
}

void free_counted(Allocator& allocator, void* block, size_t bytes) {
  account().live -= static_cast<int64_t>(bytes);
  allocator.free(block, bytes);
}

Scratch::Scratch(size_t bytes)
    : bytes_(bytes), data_(bytes ? allocate_within_limit(heap(), bytes) : nullptr) {}

Scratch::~Scratch() {
  if (data_) free_counted(heap(), data_, bytes_);
}

}  // namespace tessella
