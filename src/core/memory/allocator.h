// The interface of allocators, and what each counts. Everything here is called with the
// interpreter's lock held.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>

namespace tessella {

constexpr size_t ALIGNMENT = 64;

// The bytes of a block that holds `bytes`: a multiple of the alignment, and never 0.
constexpr size_t round_up(size_t bytes) {
  return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

struct Buffer;

// Bytes as they were asked for, without rounding.
struct Usage {
  int64_t live = 0;
  int64_t peak = 0;
  int64_t allocations = 0;
  int64_t frees = 0;

  int64_t count() const { return allocations - frees; }  // live blocks
  void add(int64_t bytes) {
    live += bytes;
    allocations += 1;
    if (live > peak) peak = live;
  }
  void remove(int64_t bytes) {
    live -= bytes;
    frees += 1;
  }
};

// What an allocator has taken from the system, and how it lies.
struct Room {
  int64_t capacity = 0;  // bytes taken
  int64_t free = 0;      // of these, bytes that can still be given
  int64_t largest = 0;   // the largest block that can be given without taking more
};

class Allocator {
 public:
  Allocator(const char* type, std::string name, bool reserves, bool takes_back = false)
      : type(type), name(std::move(name)), reserves(reserves), takes_back(takes_back) {}
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // A block of at least `bytes`, aligned to ALIGNMENT, or nullptr.
  virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* block, size_t bytes) = 0;
  // Whether the block now has `to` bytes, where it lies.
  virtual bool resize(void*, size_t from, size_t to) { return round_up(to) == round_up(from); }
  // The block with `to` bytes, here or elsewhere, with what it held; nullptr: it is as it was.
  void* reallocate(void* block, size_t from, size_t to);
  virtual Room room() const = 0;
  // The largest block that it could ever give: larger ones are refused whatever is free.
  virtual int64_t largest_block() const { return INT64_MAX; }
  // Whether it takes more memory when it is full.
  virtual bool grows() const { return false; }
  // Gives back what it keeps for later; so much went to the system.
  virtual int64_t trim() { return 0; }
  // A buffer in its memory comes or goes, where it takes memory back from living buffers.
  virtual void adopt(Buffer*) {}
  virtual void disown(Buffer*) {}
  // Nobody can ask it for more, and nothing of it is in use: it gives back everything.
  virtual void vacate() {}

  const char* const type;  // the name of its class in Python
  const std::string name;
  const bool reserves;    // whether it takes memory before it is asked for it
  const bool takes_back;  // whether it takes memory back from living buffers
  Usage counts;

  // Who can ask it for memory (its object in Python, scopes), and who names it: buffers too.
  void retain_handle() { ++handles_, ++refs_; }
  void release_handle();
  void retain() { ++refs_; }
  void release();
  void vacate_if_unused() {
    if (handles_ == 0 && counts.count() == 0) vacate();
  }

 private:
  int64_t handles_ = 0;
  int64_t refs_ = 0;
};

// The general allocator, which is never destroyed.
Allocator& heap();

// What this thread's new tensors are made in; nullptr: the heap.
extern thread_local Allocator* current_allocator __attribute__((tls_model("initial-exec")));

// The others, for the statistics: calls visit(allocator, context) for each.
void visit_allocators(void (*visit)(Allocator&, void*), void* context);
void enlist(Allocator& allocator);
void strike_off(Allocator& allocator);

}  // namespace tessella
