// A buffer: one counted block of memory that tensors share, with the version that in-place writes
// advance. On the heap its header and its data are one block, so that a small tensor costs one
// allocation; elsewhere the header is on the heap, as it outlives the data that an arena takes
// back. Reference counts are changed with the interpreter's lock held.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "memory/account.h"
#include "memory/ghosts.h"

namespace tessella {

// none: a virtual buffer, shape without memory; freed: an arena took the memory back.
enum class Device : uint8_t { cpu, none, freed };

struct Buffer {
  int64_t refs;
  uint32_t version;
  Device device;
  bool is_readonly;
  Kind kind;
  bool is_watched : 1;   // where it was made is known: see tensor/lines.h
  bool has_writes : 1;   // where it was written since it was saved is known
  bool is_ghost : 1;     // it has an address and no memory: see memory/ghosts.h
  bool is_numbered : 1;  // see number_of
  size_t bytes;
  char* data;
  Allocator* allocator;  // whose memory it is; nullptr for foreign and virtual buffers
  union {
    struct {
      void (*release)(void* owner);  // foreign memory: called when the last tensor goes
      void* owner;
    };
    struct {
      Buffer *newer, *older;  // of one arena
    };
    Ghosts* others;  // of one rehearsal
  };
  int32_t pins;   // who uses the memory beside tensors: others that it was shared with, operations
  int32_t saves;  // recorded operations that keep it for backward

  // The one way for host code to reach the data; a virtual buffer has none.
  char* host_ptr() const { return data; }
  bool has_memory() const { return device == Device::cpu; }
};

// One reference; throws MemoryEnds. In this thread's allocator, or the given one.
Buffer* make_buffer(size_t bytes);
Buffer* make_buffer_in(Allocator& allocator, size_t bytes, Kind kind);
Buffer* make_virtual_buffer(size_t bytes);
Buffer* make_ghost_buffer(Allocator& allocator, size_t bytes);  // that nobody is told of
void make_virtual(Buffer* ghost);
Buffer* wrap_foreign(void* data, size_t bytes, bool is_readonly);  // who wraps sets the owner
void destroy_buffer(Buffer* buffer);

// The same data, as far as they fit, in `bytes`: where they lie, or moved if nobody else refers to
// the buffer. nullptr: it is as it was, and a new one must be made.
Buffer* resize_buffer(Buffer* buffer, size_t bytes);

// A number that no other buffer has had or will have, unlike its address.
uint64_t number_of(Buffer* buffer);

// Its memory is no longer there; it says so to whoever uses it.
void bury(Buffer* buffer);

// What its memory is for from now on.
void change_kind(Buffer* buffer, Kind kind);

// Called for each new buffer and each one that goes, while lines are recorded.
struct BufferWatch {
  void (*made)(Buffer* buffer);
  void (*gone)(Buffer* buffer);
};
void watch_buffers(const BufferWatch* watch);  // nullptr: new ones are not watched

// Called for each new buffer and each one that goes, while a function is recorded (tensor/tape.h).
void record_buffers(const BufferWatch* recorder);

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
