// The allocators that users make, one file each; account.h counts what they give.
#pragma once

#include <span>

#include "allocator.h"

namespace tessella {

// nullptr: the first blocks would go over the limit, or the system has none.
Allocator* make_heap(std::string name);
Allocator* make_pool(std::string name, size_t block_bytes, size_t count);
Allocator* make_slab(std::string name, std::span<const size_t> classes, size_t slab_bytes);
Allocator* make_buddy(std::string name, size_t bytes, size_t least_bytes);

// Blocks one after the other, which all die together: at a reset, or back to a mark.
class Arena : public Allocator {
 public:
  // Whether nothing that is in use stands in the way of freeing what came after a mark; the first
  // buffer that does is left in `pinned`.
  virtual bool can_release(int64_t mark, Buffer** pinned) const = 0;
  // The memory of all buffers that came after the mark is taken from them.
  virtual void release_to(int64_t mark) = 0;
  // A number for the place where it stands; valid until what is before it is released.
  virtual int64_t mark() = 0;
  virtual bool is_valid(int64_t mark) const = 0;
  virtual int64_t used() const = 0;  // bytes up to the place where it stands

  static constexpr int64_t START = 0;  // the mark before everything

 protected:
  using Allocator::Allocator;
};

Arena* make_arena(std::string name, size_t bytes, bool is_growable);

}  // namespace tessella
