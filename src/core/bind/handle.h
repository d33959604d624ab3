// What Python holds of an allocator.
#pragma once

#include "../memory/allocator.h"

namespace tessella {

// While it lives, the allocator can be asked for memory.
class Handle {
 public:
  explicit Handle(Allocator* allocator) : allocator_(allocator) { allocator->retain_handle(); }
  Handle(const Handle& other) : Handle(other.allocator_) {}
  Handle& operator=(const Handle&) = delete;
  ~Handle() { allocator_->release_handle(); }
  Allocator* operator->() const { return allocator_; }
  Allocator* get() const { return allocator_; }

 private:
  Allocator* allocator_;
};

}  // namespace tessella
