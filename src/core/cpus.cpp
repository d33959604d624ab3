// Counts usable CPUs. Files that are missing or garbled mean "no limit", never an error.
#include "cpus.h"

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "cgroup.h"
#include "system/system.h"

namespace tessella {
namespace {

// The leading decimal integer of the text, which is cut off with the blanks around it; 0 if none.
int64_t take_integer(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t n = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(rest - text.data());
  return error == std::errc{} ? n : 0;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// A limit of 0 is no limit.
int lower(int limit, int other) {
  if (limit == 0 || other == 0) return limit + other;
  return std::min(limit, other);
}

// Version 2 has "quota period" in one file, or "max period"; version 1 has two files and -1.
int64_t folder_cpus(const std::string& folder, bool is_v2) {
  std::string text = first_line(folder + (is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us"));
  if (!is_v2) text.append(" ").append(first_line(folder + "/cpu.cfs_period_us"));
  std::string_view rest = text;
  int64_t quota = take_integer(rest);
  int64_t period = take_integer(rest);
  if (quota <= 0 || period <= 0) return NO_LIMIT;
  return std::min<int64_t>((quota - 1) / period + 1, max_threads);
}

}  // namespace

int cgroup_cpus(const char* membership, const char* mount) {
  int64_t limit = cgroup_limit(membership, mount, "cpu", folder_cpus);
  return limit == NO_LIMIT ? 0 : static_cast<int>(limit);
}

int wished_threads() {
  const char* text = getenv("TESSELLA_NUM_THREADS");
  if (!text) return 0;
  std::string_view rest = text;
  int64_t n = take_integer(rest);
  return rest.empty() && n >= 1 && n <= max_threads ? static_cast<int>(n) : 0;
}

int usable_cpus() {
  int limit = lower(system::allowed_cpus(), cgroup_cpus(CGROUP_MEMBERSHIP, CGROUP_MOUNT));
  return std::clamp(limit, 1, max_threads);
}

}  // namespace tessella
