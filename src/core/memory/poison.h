// Tells the address sanitizer which bytes of an allocator's memory are nobody's.
#pragma once

#include <stddef.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tessella {

inline void poison(const void* start, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(start, bytes);
#else
  (void)start, (void)bytes;
#endif
}

inline void unpoison(const void* start, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(start, bytes);
#else
  (void)start, (void)bytes;
#endif
}

}  // namespace tessella
