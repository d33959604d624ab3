// The interface of allocators, and the account that stands above all of them: a limit, and exact
// counts of live bytes. Called with the interpreter's lock held.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tessella {

constexpr size_t ALIGNMENT = 64;

class Allocator {
 public:
  virtual ~Allocator() = default;
  // A block of at least `bytes`, aligned to ALIGNMENT, or nullptr.
  virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* block, size_t bytes) = 0;
  // Gives back what it keeps for later.
  virtual void trim() {}
};

Allocator& heap();

struct Account {
  int64_t live = 0;
  int64_t peak = 0;
  int64_t allocations = 0;
  int64_t limit = 0;
  int64_t kept = 0;  // freed blocks that the heap keeps for later; counted neither live nor as peak
};
Account& account();

// Allocates through `allocator` within the limit; throws the out-of-memory Error.
void* allocate_within_limit(Allocator& allocator, size_t bytes);
void free_counted(Allocator& allocator, void* block, size_t bytes);

// Kernel scratch, counted like tensors and freed at the end of the scope.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace tessella
