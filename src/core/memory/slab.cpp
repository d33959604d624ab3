// The slab allocator: blocks of a few sizes, each from slabs that are taken when the last one is
// full.
#include <algorithm>
#include <vector>

#include "account.h"
#include "allocators.h"
#include "poison.h"

namespace tessella {

namespace {

// The blocks of one size.
class Class {
 public:
  Class(size_t block_bytes, size_t slab_bytes)
      : block_bytes(block_bytes), per_slab_(std::max<size_t>(1, slab_bytes / block_bytes)) {}

  void* allocate(size_t bytes) {
    if (free_.empty() && !add_slab()) return nullptr;
    char* block = free_.back();
    free_.pop_back();
    unpoison(block, bytes);
    return block;
  }

  void free(void* block) {
    poison(block, block_bytes);
    free_.push_back(static_cast<char*>(block));
  }

  // Gives back the slabs of which nothing is in use.
  int64_t trim() {
    std::vector<size_t> unused(slabs_.size());
    for (char* block : free_) ++unused[slab_of(block)];
    auto is_idle = [&](size_t i) { return unused[i] == per_slab_; };
    std::erase_if(free_, [&](char* block) { return is_idle(slab_of(block)); });
    std::vector<char*> left;
    int64_t given = 0;
    for (size_t i = 0; i < slabs_.size(); ++i) {
      if (!is_idle(i)) {
        left.push_back(slabs_[i]);
        continue;
      }
      give_back(slabs_[i]);
      given += static_cast<int64_t>(slab_bytes());
    }
    slabs_ = std::move(left);
    return given;
  }

  // Where nothing is in use. Allocates nothing.
  void give_all() {
    for (char* slab : slabs_) give_back(slab);
    slabs_.clear();
    free_.clear();
  }

  int64_t capacity() const { return static_cast<int64_t>(slabs_.size() * slab_bytes()); }
  int64_t free_bytes() const { return static_cast<int64_t>(free_.size() * block_bytes); }

  const size_t block_bytes;

 private:
  size_t slab_bytes() const { return per_slab_ * block_bytes; }

  void give_back(char* slab) {
    unpoison(slab, slab_bytes());
    give_reserve(slab, slab_bytes());
  }

  bool add_slab() {
    // Nothing fails once the memory is there, and freeing never allocates.
    free_.reserve((slabs_.size() + 1) * per_slab_);
    slabs_.reserve(slabs_.size() + 1);
    auto* data = static_cast<char*>(take_reserve(slab_bytes()));
    if (!data) return false;
    poison(data, slab_bytes());
    slabs_.insert(std::upper_bound(slabs_.begin(), slabs_.end(), data), data);
    for (size_t i = per_slab_; i-- > 0;) free_.push_back(data + i * block_bytes);
    return true;
  }

  size_t slab_of(const char* block) const {
    auto after = std::upper_bound(slabs_.begin(), slabs_.end(), block);
    return static_cast<size_t>(after - slabs_.begin()) - 1;
  }

  const size_t per_slab_;
  std::vector<char*> slabs_;  // by address
  std::vector<char*> free_;   // the last one is the next
};

class Slab final : public Allocator {
 public:
  Slab(std::string name, std::span<const size_t> classes, size_t slab_bytes)
      : Allocator("Slab", std::move(name), true) {
    for (size_t bytes : classes) classes_.emplace_back(bytes, slab_bytes);
  }

  void* allocate(size_t bytes) override {
    Class* found = class_of(bytes);
    return found ? found->allocate(bytes) : nullptr;
  }

  void free(void* block, size_t bytes) override { class_of(bytes)->free(block); }

  bool resize(void* block, size_t from, size_t to) override {
    Class* now = class_of(from);
    if (class_of(to) != now) return false;
    poison(block, now->block_bytes);
    unpoison(block, to);
    return true;
  }

  Room room() const override {
    Room room;
    for (const Class& each : classes_) {
      room.capacity += each.capacity();
      room.free += each.free_bytes();
      if (each.free_bytes()) room.largest = static_cast<int64_t>(each.block_bytes);
    }
    return room;
  }
  int64_t largest_block() const override {
    return static_cast<int64_t>(classes_.back().block_bytes);
  }

  bool grows() const override { return true; }

  int64_t trim() override {
    int64_t given = 0;
    for (Class& each : classes_) given += each.trim();
    return given;
  }
  void vacate() override {
    for (Class& each : classes_) each.give_all();
  }

 private:
  Class* class_of(size_t bytes) {
    auto found = std::lower_bound(classes_.begin(), classes_.end(), bytes,
                                  [](const Class& c, size_t b) { return c.block_bytes < b; });
    return found == classes_.end() ? nullptr : &*found;
  }

  std::vector<Class> classes_;  // by size
};

}  // namespace

Allocator* make_slab(std::string name, std::span<const size_t> classes, size_t slab_bytes) {
  std::vector<size_t> sizes;
  for (size_t bytes : classes) sizes.push_back(round_up(bytes));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return new Slab(std::move(name), sizes, slab_bytes);
}

}  // namespace tessella
