// Counts the allocations that Tessella's core makes between two marks.
//
// Preloaded into a process, it stands before the C library's malloc and its kin. A call counts when
// it comes from the core's shared object, or from libstdc++, whose operator new only the core uses;
// what CPython allocates for its own objects does not. Places are kept for a report.

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

struct Range {
  uintptr_t begin, end;
};

constexpr int most_ranges = 16, most_places = 16, most_frames = 12;
Range ranges[most_ranges];
int range_count = 0;
std::atomic<bool> is_counting{false};
std::atomic<long> count{0};
thread_local bool is_inside = false;  // backtrace() may allocate

struct Place {
  void* frames[most_frames];
  int depth;
} places[most_places];

// Notes the code of the core and of libstdc++.
int add_ranges(dl_phdr_info* info, size_t, void*) {
  if (!std::strstr(info->dlpi_name, "_core.") && !std::strstr(info->dlpi_name, "libstdc++"))
    return 0;
  for (int i = 0; i < info->dlpi_phnum && range_count < most_ranges; i++) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    ranges[range_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

void note(void* caller) {
  if (!is_counting.load(std::memory_order_relaxed) || is_inside) return;
  const auto at = reinterpret_cast<uintptr_t>(caller);
  bool is_ours = false;
  for (int i = 0; i < range_count; i++) is_ours |= ranges[i].begin <= at && at < ranges[i].end;
  if (!is_ours) return;
  const long number = count++;
  if (number >= most_places) return;
  is_inside = true;
  places[number].depth = backtrace(places[number].frames, most_frames);
  is_inside = false;
}

}  // namespace

#define NOTE note(__builtin_return_address(0))

extern "C" {

void* malloc(size_t size) {
  NOTE;
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  NOTE;
  return __libc_calloc(number, size);
}

void* realloc(void* block, size_t size) {
  NOTE;
  return __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) {
  NOTE;
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  NOTE;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  NOTE;
  void* block = __libc_memalign(alignment, size);
  if (block) *out = block;
  return block ? 0 : ENOMEM;
}

// The first mark.
void allocations_begin() {
  void* frames[most_frames];
  backtrace(frames, most_frames);  // loads what it needs
  range_count = 0;
  dl_iterate_phdr(add_ranges, nullptr);
  count = 0;
  is_counting = true;
}

// The second mark; gives the count, and writes the first places to the standard error.
long allocations_end() {
  is_counting = false;
  const long found = count;
  for (int i = 0; i < found && i < most_places; i++) {
    backtrace_symbols_fd(places[i].frames, places[i].depth, STDERR_FILENO);
    if (write(STDERR_FILENO, "\n", 1) < 0) break;
  }
  return found;
}
}
