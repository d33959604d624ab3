// macOS, where a thread cannot be told which processors to use. See system.h.
#include <malloc/malloc.h>
#include <sys/sysctl.h>

#include "posix.h"

namespace tessella::system {

void ask_for_huge_pages(void*, size_t) {}

void trim() { malloc_zone_pressure_relief(nullptr, 0); }

int64_t machine_bytes() {
  int64_t bytes = 0;
  size_t size = sizeof bytes;
  return sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 ? bytes : INT64_MAX;
}

int allowed_cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

int current_cpu() { return -1; }

bool Helper::keep_off(int) { return false; }

void Helper::let_back() {}

}  // namespace tessella::system
