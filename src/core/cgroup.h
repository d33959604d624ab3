// Limits that cgroups set: where a process's groups and those above them lie (v1 and v2). In which
// file of a folder a limit stands, and what it means, is known to who asks.
#pragma once

#include <stdint.h>

#include <string>
#include <string_view>

namespace tessella {

constexpr const char* CGROUP_MEMBERSHIP = "/proc/self/cgroup";
constexpr const char* CGROUP_MOUNT = "/sys/fs/cgroup";
constexpr int64_t NO_LIMIT = INT64_MAX;

// Reads the limit that one folder sets, NO_LIMIT where it sets none.
using FolderLimit = int64_t (*)(const std::string& folder, bool is_v2);

// The tightest limit of a controller, "cpu" say, on the way from a process's cgroup to the root.
// `membership` is a file like CGROUP_MEMBERSHIP, `mount` a folder like CGROUP_MOUNT.
int64_t cgroup_limit(const char* membership, const char* mount, std::string_view controller,
                     FolderLimit read);

}  // namespace tessella
