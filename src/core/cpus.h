// How many CPUs this process may use: affinity, cgroup quotas and the user's wish.
// It only reads; the thread pool decides what to do with the number.
#pragma once

namespace tessella {

constexpr int max_threads = 256;

// min(affinity, cgroup quota), in 1..max_threads.
int usable_cpus();

// TESSELLA_NUM_THREADS if it is an integer in 1..max_threads, else 0.
int wished_threads();

// The CPUs that the quotas of a process's cgroup and its ancestors allow (v1 and v2), rounded up;
// 0 without a readable quota. `membership` is a file like /proc/self/cgroup, `mount` a directory
// like /sys/fs/cgroup.
int cgroup_cpus(const char* membership, const char* mount);

}  // namespace tessella
