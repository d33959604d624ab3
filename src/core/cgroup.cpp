// See cgroup.h. Files that are missing or garbled mean "no limit", never an error.
#include "cgroup.h"

#include <algorithm>
#include <fstream>

namespace tessella {
namespace {

// In a container the upper part of the path is often not mounted: those folders are missing and do
// not count.
int64_t path_limit(const std::string& mount, std::string_view path, bool is_v2, FolderLimit read) {
  int64_t limit = NO_LIMIT;
  for (;;) {
    limit = std::min(limit, read(mount + std::string(path), is_v2));
    if (path.empty()) return limit;
    size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool lists(std::string_view controllers, std::string_view controller) {
  while (!controllers.empty()) {
    size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == controller) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

int64_t cgroup_limit(const char* membership, const char* mount, std::string_view controller,
                     FolderLimit read) {
  std::ifstream file(membership);
  std::string line;
  int64_t limit = NO_LIMIT;
  // "number:controllers:/path" on each line; the line of version 2 names no controllers.
  while (std::getline(file, line)) {
    std::string_view text = line;
    size_t first = text.find(':');
    if (first == std::string_view::npos) continue;
    size_t second = text.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = text.substr(first + 1, second - first - 1);
    bool is_v2 = controllers.empty();
    if (!is_v2 && !lists(controllers, controller)) continue;
    std::string root(mount);
    if (!is_v2) root.append("/").append(controller);
    limit = std::min(limit, path_limit(root, text.substr(second + 1), is_v2, read));
  }
  return limit;
}

}  // namespace tessella
