// The buddy allocator: a power of two of bytes, halved until a block fits; freed halves join again.
// A block of order n has 2**n times the least bytes. Free blocks hold their own links.
#include <bit>
#include <new>
#include <vector>

#include "account.h"
#include "allocators.h"
#include "poison.h"

namespace tessella {

namespace {

struct Free {
  Free *next, *previous;
};

class Buddy final : public Allocator {
 public:
  Buddy(std::string name, size_t bytes, size_t least_bytes)
      : Allocator("Buddy", std::move(name), true),
        bytes_(bytes),
        least_bytes_(least_bytes),
        orders_(std::countr_zero(bytes) - std::countr_zero(least_bytes) + 1) {}

  // Also after it was vacated.
  bool take() {
    data_ = static_cast<char*>(take_reserve(bytes_));
    if (!data_) return false;
    try {
      free_order_.assign(bytes_ / least_bytes_, USED);
      lists_.assign(static_cast<size_t>(orders_), nullptr);
    } catch (const std::bad_alloc&) {
      give_reserve(data_, bytes_);
      return data_ = nullptr, false;
    }
    put(data_, orders_ - 1);
    return true;
  }

  void* allocate(size_t bytes) override {
    int wanted = order_of(bytes);
    if (wanted >= orders_ || (!data_ && !take())) return nullptr;
    int order = wanted;
    while (order < orders_ && !lists_[static_cast<size_t>(order)]) ++order;
    if (order == orders_) return nullptr;
    char* block = reinterpret_cast<char*>(lists_[static_cast<size_t>(order)]);
    remove(block, order);
    give_upper_halves(block, order, wanted);
    show(block, wanted, bytes);
    return block;
  }

  void free(void* block, size_t bytes) override {
    join(static_cast<char*>(block), order_of(bytes));
  }

  bool resize(void* block, size_t from, size_t to) override {
    auto* start = static_cast<char*>(block);
    int now = order_of(from), wanted = order_of(to);
    if (wanted <= now) {
      give_upper_halves(start, now, wanted);
      return show(start, wanted, to), true;
    }
    if (wanted >= orders_) return false;
    for (int order = now; order < wanted; ++order)
      if (!is_lower(start, order) || !is_free(buddy_of(start, order), order)) return false;
    for (int order = now; order < wanted; ++order) remove(buddy_of(start, order), order);
    return show(start, wanted, to), true;
  }

  Room room() const override {
    Room room{.capacity = data_ ? static_cast<int64_t>(bytes_) : 0};
    for (size_t order = 0; order < lists_.size(); ++order)
      for (const Free* block = lists_[order]; block; block = block->next) {
        room.largest = static_cast<int64_t>(least_bytes_ << order);
        room.free += room.largest;
      }
    return room;
  }
  int64_t largest_block() const override { return static_cast<int64_t>(bytes_); }

  int64_t trim() override {
    int64_t given = counts.count() ? 0 : room().capacity;
    if (given) vacate();
    return given;
  }

  void vacate() override {
    if (!data_) return;
    unpoison(data_, bytes_);
    give_reserve(data_, bytes_);
    data_ = nullptr;
    lists_.clear();
  }

 private:
  static constexpr int8_t USED = -1;

  int order_of(size_t bytes) const {
    size_t whole = bytes > least_bytes_ ? std::bit_ceil(bytes) : least_bytes_;
    return std::countr_zero(whole) - std::countr_zero(least_bytes_);
  }
  size_t bytes_of(int order) const { return least_bytes_ << order; }
  size_t offset(const char* block) const { return static_cast<size_t>(block - data_); }
  int8_t& free_order(const char* block) { return free_order_[offset(block) / least_bytes_]; }
  bool is_free(const char* block, int order) { return free_order(block) == order; }
  bool is_lower(const char* block, int order) const { return !(offset(block) & bytes_of(order)); }
  char* buddy_of(const char* block, int order) const {
    return data_ + (offset(block) ^ bytes_of(order));
  }

  // Of a block only the bytes that were asked for may be used.
  void show(char* block, int order, size_t bytes) const {
    poison(block, bytes_of(order));
    unpoison(block, bytes);
  }

  // Of a block of one order only the first `wanted` part is kept.
  void give_upper_halves(char* block, int order, int wanted) {
    while (order > wanted) {
      --order;
      put(block + bytes_of(order), order);
    }
  }

  void join(char* block, int order) {
    while (order + 1 < orders_ && is_free(buddy_of(block, order), order)) {
      char* buddy = buddy_of(block, order);
      remove(buddy, order);
      if (buddy < block) block = buddy;
      ++order;
    }
    put(block, order);
  }

  void put(char* block, int order) {
    auto*& list = lists_[static_cast<size_t>(order)];
    poison(block, bytes_of(order));
    unpoison(block, sizeof(Free));
    auto* made = new (block) Free{list, nullptr};
    if (list) list->previous = made;
    list = made;
    free_order(block) = static_cast<int8_t>(order);
  }

  void remove(char* block, int order) {
    auto* old = reinterpret_cast<Free*>(block);
    (old->previous ? old->previous->next : lists_[static_cast<size_t>(order)]) = old->next;
    if (old->next) old->next->previous = old->previous;
    free_order(block) = USED;
  }

  const size_t bytes_, least_bytes_;
  const int orders_;
  char* data_ = nullptr;
  std::vector<int8_t> free_order_;  // of the least block where a free one begins, else USED
  std::vector<Free*> lists_;        // by order
};

}  // namespace

Allocator* make_buddy(std::string name, size_t bytes, size_t least_bytes) {
  auto* buddy = new Buddy(std::move(name), bytes, least_bytes);
  if (buddy->take()) return buddy;
  delete buddy;
  return nullptr;
}

}  // namespace tessella
