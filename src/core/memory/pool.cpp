// The pool: a fixed number of blocks of one size, taken at once.
#include <new>
#include <vector>

#include "account.h"
#include "allocators.h"
#include "poison.h"

namespace tessella {

namespace {

class Pool final : public Allocator {
 public:
  Pool(std::string name, size_t block_bytes, size_t count)
      : Allocator("Pool", std::move(name), true), block_bytes_(block_bytes), count_(count) {}

  // Also after it was vacated: it is made anew when it is asked again.
  bool take() {
    data_ = static_cast<char*>(take_reserve(block_bytes_ * count_));
    if (!data_) return false;
    try {
      free_.reserve(count_);
    } catch (const std::bad_alloc&) {
      give_reserve(data_, block_bytes_ * count_);
      return data_ = nullptr, false;
    }
    poison(data_, block_bytes_ * count_);
    for (size_t i = count_; i-- > 0;) free_.push_back(data_ + i * block_bytes_);
    return true;
  }

  void* allocate(size_t bytes) override {
    if (bytes > block_bytes_ || (!data_ && !take()) || free_.empty()) return nullptr;
    char* block = free_.back();
    free_.pop_back();
    unpoison(block, bytes);
    return block;
  }

  void free(void* block, size_t) override {
    poison(block, block_bytes_);
    free_.push_back(static_cast<char*>(block));
  }

  bool resize(void* block, size_t, size_t to) override {
    if (to > block_bytes_) return false;
    poison(block, block_bytes_);
    unpoison(block, to);
    return true;
  }

  Room room() const override {
    return {.capacity = data_ ? static_cast<int64_t>(block_bytes_ * count_) : 0,
            .free = static_cast<int64_t>(block_bytes_ * free_.size()),
            .largest = free_.empty() ? 0 : largest_block()};
  }
  int64_t largest_block() const override { return static_cast<int64_t>(block_bytes_); }

  int64_t trim() override {
    int64_t given = counts.count() ? 0 : room().capacity;
    if (given) vacate();
    return given;
  }

  void vacate() override {
    if (!data_) return;
    unpoison(data_, block_bytes_ * count_);
    give_reserve(data_, block_bytes_ * count_);
    data_ = nullptr;
    free_.clear();
  }

 private:
  const size_t block_bytes_, count_;
  char* data_ = nullptr;
  std::vector<char*> free_;  // the last one is the next
};

}  // namespace

Allocator* make_pool(std::string name, size_t block_bytes, size_t count) {
  auto* pool = new Pool(std::move(name), round_up(block_bytes), count);
  if (pool->take()) return pool;
  delete pool;
  return nullptr;
}

}  // namespace tessella
