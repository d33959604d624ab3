// Checks what cgroups allow against files as Linux lays them out: versions 1 and 2, groups that
// set no limit, folders that are missing, lines and numbers that are garbled.
#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "check.h"
#include "cpus.h"
#include "memory/account.h"

namespace {

using namespace tessella;
namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

int count_cpus(const fs::path& dir, const std::string& membership) {
  write(dir / "membership", membership);
  return cgroup_cpus((dir / "membership").c_str(), (dir / "mount").c_str());
}

int64_t count_bytes(const fs::path& dir, const std::string& membership) {
  write(dir / "membership", membership);
  return cgroup_bytes((dir / "membership").c_str(), (dir / "mount").c_str());
}

void test_cpus(const fs::path& dir) {
  fs::path mount = dir / "mount";
  CHECK(cgroup_cpus((dir / "missing").c_str(), mount.c_str()) == 0);
  CHECK(count_cpus(dir, "0::/a/b\n") == 0);
  write(mount / "a/b/cpu.max", "max 100000\n");
  CHECK(count_cpus(dir, "0::/a/b\n") == 0);
  write(mount / "a/cpu.max", "250000 100000\n");
  CHECK(count_cpus(dir, "0::/a/b\n") == 3);
  write(mount / "a/b/cpu.max", "1000 100000\n");
  CHECK(count_cpus(dir, "0::/a/b\n") == 1);
  CHECK(count_cpus(dir, "0::/a/x\n") == 3);
  CHECK(count_cpus(dir, "0::/\n") == 0);
  for (const char* garbled :
       {"", "x", "-5 100000", "100000", "100000 0", "99999999999999999999 1"}) {
    write(mount / "g/cpu.max", garbled);
    CHECK(count_cpus(dir, "0::/g\n") == 0);
  }
  write(mount / "g/cpu.max", "9223372036854775807 1");
  CHECK(count_cpus(dir, "0::/g\n") == max_threads);
  write(mount / "cpu/q/cpu.cfs_quota_us", "150000\n");
  CHECK(count_cpus(dir, "4:cpu,cpuacct:/q\n") == 0);
  write(mount / "cpu/q/cpu.cfs_period_us", "100000\n");
  CHECK(count_cpus(dir, "5:cpuset:/z\n4:cpu,cpuacct:/q\n0::/\n") == 2);
  CHECK(count_cpus(dir, "4:cpuacct:/q\n") == 0);
  write(mount / "cpu/q/cpu.cfs_quota_us", "-1\n");
  CHECK(count_cpus(dir, "4:cpu:/q\n") == 0);
  CHECK(count_cpus(dir, "no colon\n1:one\n:::\n\n") == 0);
}

void test_memory_of_version_2(const fs::path& dir) {
  fs::path mount = dir / "mount";
  CHECK(cgroup_bytes((dir / "missing").c_str(), mount.c_str()) == NO_LIMIT);
  CHECK(count_bytes(dir, "0::/a/b\n") == NO_LIMIT);
  write(mount / "a/b/memory.max", "max\n");
  CHECK(count_bytes(dir, "0::/a/b\n") == NO_LIMIT);
  write(mount / "a/memory.max", "3000000\n");
  CHECK(count_bytes(dir, "0::/a/b\n") == 3000000);
  write(mount / "a/b/memory.max", "2000000\n");
  CHECK(count_bytes(dir, "0::/a/b\n") == 2000000);
  CHECK(count_bytes(dir, "0::/a/x\n") == 3000000);
  CHECK(count_bytes(dir, "0::/\n") == NO_LIMIT);
  for (const char* garbled : {"", "x", "-5", "0"}) {
    write(mount / "g/memory.max", garbled);
    CHECK(count_bytes(dir, "0::/g\n") == NO_LIMIT);
  }
  CHECK(count_bytes(dir, "no colon\n1:one\n:::\n\n") == NO_LIMIT);
}

void test_memory_of_version_1(const fs::path& dir) {
  fs::path mount = dir / "mount";
  write(mount / "memory/q/memory.limit_in_bytes", "4000000\n");
  CHECK(count_bytes(dir, "4:memory:/q\n") == 4000000);
  CHECK(count_bytes(dir, "4:memory:/q/r\n") == 4000000);
  CHECK(count_bytes(dir, "4:cpu,memory:/q\n") == 4000000);  // a line may name several controllers
  CHECK(count_bytes(dir, "4:memory,hugetlb:/q\n") == 4000000);
  CHECK(count_bytes(dir, "5:cpuset:/z\n4:cpu,memory:/q\n0::/\n") == 4000000);
  CHECK(count_bytes(dir, "4:memory2,name=memory:/q\n") == NO_LIMIT);
  CHECK(count_bytes(dir, "4:cpu:/q\n") == NO_LIMIT);
}

// Each test has a folder of its own.
void run(void (*test)(const fs::path& dir)) {
  std::string name = (fs::temp_directory_path() / "tessella-cgroup-XXXXXX").string();
  CHECK(mkdtemp(name.data()) != nullptr);
  test(name);
  fs::remove_all(name);
}

}  // namespace

int main() {
  run(test_cpus);
  run(test_memory_of_version_2);
  run(test_memory_of_version_1);
  puts("ok");
}
