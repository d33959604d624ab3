// A buffer: one counted block of memory that tensors share, with the version that in-place writes
// advance. Its header and its data are one block, so that a small tensor costs one allocation.
// Reference counts are changed with the interpreter's lock held.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "memory/allocator.h"

namespace tessella {

enum class Device : uint8_t { cpu, none };  // none: a virtual buffer, shape without memory

struct Buffer {
  int64_t refs;
  uint32_t version;
  Device device;
  bool is_readonly;
  size_t bytes;
  char* data;
  Allocator* allocator;          // nullptr for foreign memory
  void (*release)(void* owner);  // foreign memory: called when the last tensor goes
  void* owner;

  // The one way for host code to reach the data; a virtual buffer has none.
  char* host_ptr() const { return data; }
};

Buffer* make_buffer(size_t bytes);  // one reference; throws out of memory
Buffer* make_virtual_buffer(size_t bytes);
Buffer* wrap_foreign(void* data, size_t bytes, bool is_readonly);  // who wraps sets the owner
void destroy_buffer(Buffer* buffer);

// Whether a write to one may reach the other: the same foreign memory may lie in several buffers.
inline bool may_overlap(const Buffer* a, const Buffer* b) {
  auto start = [](const Buffer* x) { return reinterpret_cast<uintptr_t>(x->host_ptr()); };
  return a == b || (start(a) < start(b) + b->bytes && start(b) < start(a) + a->bytes);
}

inline Buffer* retain(Buffer* buffer) {
  ++buffer->refs;
  return buffer;
}
inline void release(Buffer* buffer) {
  if (--buffer->refs == 0) destroy_buffer(buffer);
}

}  // namespace tessella
