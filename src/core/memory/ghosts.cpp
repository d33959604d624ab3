// See ghosts.h.
#include "ghosts.h"

#include <sys/mman.h>

namespace tessella {

thread_local Ghosts* ghosts;

namespace {

size_t mapped_size(size_t bytes) { return bytes ? bytes : 1; }

}  // namespace

void* map_ghost(size_t bytes) {
  constexpr int FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* address = mmap(nullptr, mapped_size(bytes), PROT_READ | PROT_WRITE, FLAGS, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

void unmap_ghost(void* address, size_t bytes) { munmap(address, mapped_size(bytes)); }

}  // namespace tessella
