// Counts usable CPUs. Files that are missing or garbled mean "no limit", never an error.
#include "cpus.h"

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

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
int directory_cpus(const std::string& directory, bool is_v2) {
  std::string text = first_line(directory + (is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us"));
  if (!is_v2) text.append(" ").append(first_line(directory + "/cpu.cfs_period_us"));
  std::string_view rest = text;
  int64_t quota = take_integer(rest);
  int64_t period = take_integer(rest);
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, max_threads));
}

// The tightest quota on the way from the cgroup to the root. In a container the upper part of the
// path is often not mounted: those directories are missing and do not count.
int path_cpus(const std::string& mount, std::string_view path, bool is_v2) {
  int limit = 0;
  for (;;) {
    limit = lower(limit, directory_cpus(mount + std::string(path), is_v2));
    if (path.empty()) return limit;
    size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

int cgroup_cpus(const char* membership, const char* mount) {
  std::ifstream file(membership);
  std::string line;
  int limit = 0;
  // "number:controllers:/path" on each line; the line of version 2 names no controllers.
  while (std::getline(file, line)) {
    std::string_view text = line;
    size_t first = text.find(':');
    if (first == std::string_view::npos) continue;
    size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = text.substr(first + 1, second - first - 1);
    bool is_v2 = controllers.empty();
    if (!is_v2 && !lists_cpu(controllers)) continue;
    std::string root(mount);
    if (!is_v2) root.append("/cpu");
    limit = lower(limit, path_cpus(root, text.substr(second + 1), is_v2));
  }
  return limit;
}

int wished_threads() {
  const char* text = getenv("TESSELLA_NUM_THREADS");
  if (!text) return 0;
  std::string_view rest = text;
  int64_t n = take_integer(rest);
  return rest.empty() && n >= 1 && n <= max_threads ? static_cast<int>(n) : 0;
}

int usable_cpus() {
  int limit = lower(system::allowed_cpus(), cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"));
  return std::clamp(limit, 1, max_threads);
}

}  // namespace tessella
