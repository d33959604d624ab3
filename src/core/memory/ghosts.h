// Ghosts: memory that is only an address. While a call is rehearsed (tensor/rehearsal.h), what is
// made in its thread is a ghost: it lies nowhere else, reads as zeros, takes nothing until it is
// written, and is not counted. Who rehearses does not write.
#pragma once

#include <stddef.h>

#include <unordered_set>

namespace tessella {

struct Buffer;

// The buffers of one rehearsal that live and are ghosts.
using Ghosts = std::unordered_set<Buffer*>;

// Of this thread's rehearsal; nullptr: there is none.
extern thread_local Ghosts* ghosts __attribute__((tls_model("initial-exec")));
inline bool is_rehearsing() { return __builtin_expect(ghosts != nullptr, false); }

void* map_ghost(size_t bytes);  // nullptr: there are no addresses left
void unmap_ghost(void* address, size_t bytes);

}  // namespace tessella
