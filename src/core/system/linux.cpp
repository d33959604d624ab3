// Linux. See system.h.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sched.h>
#include <string.h>

#include "posix.h"

namespace tessella::system {

void ask_for_huge_pages(void* block, size_t bytes) {
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(block) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(block) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

void trim() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

int64_t machine_bytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

int allowed_cpus() {
  // The kernel refuses a mask smaller than its own: grow until it fits.
  for (int cpus = CPU_SETSIZE; cpus <= 64 * CPU_SETSIZE; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) return 0;
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return 0;
}

int current_cpu() { return sched_getcpu(); }

bool Helper::keep_off(int cpu) {
  static_assert(sizeof(cpu_set_t) == sizeof allowed_);
  auto thread = static_cast<pthread_t>(thread_);
  cpu_set_t others;
  if (pthread_getaffinity_np(thread, sizeof others, &others) != 0) return false;
  memcpy(allowed_, &others, sizeof others);
  CPU_CLR(static_cast<size_t>(cpu), &others);
  return CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0;
}

void Helper::let_back() {
  cpu_set_t all;
  memcpy(&all, allowed_, sizeof all);
  pthread_setaffinity_np(static_cast<pthread_t>(thread_), sizeof all, &all);
}

}  // namespace tessella::system
