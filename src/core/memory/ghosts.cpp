// See ghosts.h.
#include "ghosts.h"

#include "../system/system.h"

namespace tessella {

thread_local Ghosts* ghosts;

void* map_ghost(size_t bytes) { return system::reserve_addresses(bytes); }

void unmap_ghost(void* address, size_t bytes) { system::release_addresses(address, bytes); }

}  // namespace tessella
