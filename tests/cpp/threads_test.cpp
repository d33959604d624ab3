// Stress test of the thread pool: every chunk runs exactly once, whatever happens around it.
// Built with ThreadSanitizer by `make sanitize`; it measures nothing.
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using namespace tessella;
using std::chrono::steady_clock;

constexpr int64_t large_ns = 1'000'000;  // an estimate that makes any job worth sharing

// Neither ThreadSanitizer nor qemu's emulation of a process can follow threads that start in a
// forked child.
bool can_fork() {
#if defined(__SANITIZE_THREAD__)
  return false;
#else
  return !getenv("TESSELLA_EMULATED");
#endif
}

void busy_for(std::chrono::microseconds time) {
  auto end = steady_clock::now() + time;
  while (steady_clock::now() < end) {
  }
}

// Runs a job and checks that each chunk ran once, and that no worker id was used twice at a time.
void run_checked(int64_t chunks, int64_t ns_each, std::chrono::microseconds work = {}) {
  int workers = num_threads();
  std::vector<int> runs(static_cast<size_t>(chunks));  // plain: a second run would be a data race
  std::vector<std::atomic<int>> active(static_cast<size_t>(workers));
  auto body = [&](int64_t chunk, int worker) {
    CHECK(chunk >= 0 && chunk < chunks && worker >= 0 && worker < workers);
    CHECK(active[static_cast<size_t>(worker)].fetch_add(1) == 0);
    ++runs[static_cast<size_t>(chunk)];
    if (work.count() > 0) busy_for(work);
    active[static_cast<size_t>(worker)].fetch_sub(1);
  };
  parallel(chunks, ns_each, true, body, workers);
  for (int count : runs) CHECK(count == 1);
}

void test_all_sizes() {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (int64_t chunks : {0, 1, 2, 3, 5, 16, 17, 100, 1000, 4099}) {
      for (int64_t ns_each :
           {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{700}, large_ns, INT64_MAX}) {
        run_checked(chunks, ns_each);
      }
    }
  }
}

void test_helpers_take_part() {
  set_num_threads(4);
  std::atomic<int> arrived{0};
  // No chunk ends before another has begun elsewhere: this needs two threads. A job may be refused
  // helpers after an earlier one has lost time to them, so a lonely first chunk gives up.
  for (int attempt = 0; arrived.load() < 2; ++attempt) {
    CHECK(attempt < 1000);
    arrived.store(0);
    parallel(2, large_ns, false, [&](int64_t, int) {
      arrived.fetch_add(1);
      auto end = steady_clock::now() + std::chrono::milliseconds(20);
      while (arrived.load() < 2 && steady_clock::now() < end) std::this_thread::yield();
    });
    if (arrived.load() == 2) break;
  }
}

void test_caller_is_worker_zero() {
  set_num_threads(4);
  auto caller = std::this_thread::get_id();
  parallel(200, large_ns, false, [&](int64_t, int worker) {
    CHECK((worker == 0) == (std::this_thread::get_id() == caller));
    busy_for(std::chrono::microseconds(5));
  });
}

void test_small_work_stays_on_the_caller() {
  set_num_threads(8);
  auto caller = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    parallel(10, 100, false, [&](int64_t, int) { CHECK(std::this_thread::get_id() == caller); });
  }
}

void test_nested() {
  set_num_threads(3);
  std::atomic<int64_t> count{0};
  parallel(40, large_ns, true, [&](int64_t, int) {
    auto outer = std::this_thread::get_id();
    parallel(30, large_ns, true, [&](int64_t, int worker) {
      CHECK(worker == 0 && std::this_thread::get_id() == outer);
      count.fetch_add(1);
    });
  });
  CHECK(count.load() == 40 * 30);
}

void test_concurrent_callers_while_the_setting_changes() {
  std::atomic<bool> stop{false};
  std::thread setter([&] {
    for (int n = 1; !stop.load(); n = n % 9 + 1) {
      set_num_threads(n);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  std::vector<std::thread> callers;
  for (int id = 0; id < 4; ++id) {
    callers.emplace_back([id] {
      for (int i = 0; i < 1500; ++i) {
        run_checked((id * 37 + i) % 200, large_ns, std::chrono::microseconds(i % 3));
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 7 * 30));
      }
    });
  }
  for (auto& caller : callers) caller.join();
  stop.store(true);
  setter.join();
}

void test_local_override() {
  set_num_threads(5);
  set_thread_local_num_threads(2);
  CHECK(num_threads() == 2 && thread_local_num_threads() == 2);
  std::thread([] { CHECK(num_threads() == 5 && thread_local_num_threads() == 0); }).join();
  set_num_threads(7);
  CHECK(num_threads() == 2);
  run_checked(500, large_ns);
  set_thread_local_num_threads(1);
  auto caller = std::this_thread::get_id();
  parallel(50, large_ns, false, [&](int64_t, int) { CHECK(std::this_thread::get_id() == caller); });
  set_thread_local_num_threads(0);
  CHECK(num_threads() == 7);
}

std::atomic<int> polls{0};
std::thread::id poll_thread;

bool poll_and_stop() {
  CHECK(std::this_thread::get_id() == poll_thread);
  return polls.fetch_add(1) == 1;  // the second poll says stop
}

void check_interrupt(int threads) {
  set_num_threads(threads);
  polls.store(0);
  std::atomic<int> active{0}, count{0};
  bool thrown = false;
  auto begin = steady_clock::now();
  try {
    parallel(100'000, large_ns, true, [&](int64_t, int) {
      active.fetch_add(1);
      busy_for(std::chrono::milliseconds(1));
      count.fetch_add(1);
      active.fetch_sub(1);
    });
  } catch (const Interrupted&) {
    thrown = true;
  }
  CHECK(thrown && active.load() == 0 && polls.load() == 2);
  CHECK(steady_clock::now() - begin < std::chrono::seconds(5));
  int at_throw = count.load();
  busy_for(std::chrono::milliseconds(5));
  CHECK(count.load() == at_throw);
}

void test_interrupt() {
  poll_thread = std::this_thread::get_id();
  set_interrupt_poll(poll_and_stop);
  for (int threads : {1, 2, 4}) {
    check_interrupt(threads);
    polls.store(2);
    run_checked(1000, large_ns);
  }
  polls.store(0);
  auto work = [](int64_t, int) { busy_for(std::chrono::milliseconds(1)); };
  parallel(150, large_ns, false, work);  // not interruptible: never polled
  CHECK(polls.load() == 0);
  set_interrupt_poll(nullptr);
}

void check_child(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

[[noreturn]] void work_as_child() {
  alarm(60);
  set_num_threads(3);
  for (int i = 0; i < 50; ++i) run_checked(300, large_ns);
  pid_t grandchild = fork();
  if (grandchild == 0) {
    run_checked(300, large_ns);
    _exit(0);
  }
  check_child(grandchild);
  _exit(0);
}

void test_fork_while_a_job_runs() {
  set_num_threads(3);
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop.load()) run_checked(100, large_ns, std::chrono::microseconds(20));
  });
  for (int i = 0; i < 20; ++i) {
    busy_for(std::chrono::microseconds(i * 37));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) work_as_child();
    check_child(child);
  }
  stop.store(true);
  caller.join();
  run_checked(300, large_ns);
}

// The forked side loses the chunks that helpers had claimed: it must stop, not hang.
bool fork_in_poll() {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child > 0) {
    set_interrupt_poll(nullptr);
    check_child(child);
  }
  return false;
}

void test_fork_in_the_poll() {
  set_num_threads(3);
  set_interrupt_poll(fork_in_poll);
  pid_t parent = getpid();
  auto work = [](int64_t, int) { busy_for(std::chrono::milliseconds(1)); };
  try {
    parallel(200, large_ns, true, work);
    CHECK(getpid() == parent);
  } catch (const Interrupted&) {
    if (getpid() != parent) _exit(0);
    CHECK(false);
  }
  set_interrupt_poll(nullptr);
}

void test_wished_threads() {
  CHECK(usable_cpus() >= 1 && usable_cpus() <= max_threads);
  for (const char* bad : {"", "0", "257", "-1", "2x", "two", "99999999999999999999"}) {
    setenv("TESSELLA_NUM_THREADS", bad, 1);
    CHECK(wished_threads() == 0);
  }
  setenv("TESSELLA_NUM_THREADS", "256", 1);
  CHECK(wished_threads() == 256);
  setenv("TESSELLA_NUM_THREADS", "3", 1);
  CHECK(wished_threads() == 3 && default_num_threads() == 3 && num_threads() == 3);
  unsetenv("TESSELLA_NUM_THREADS");
}

}  // namespace

int main() {
  test_wished_threads();
  test_all_sizes();
  test_helpers_take_part();
  test_caller_is_worker_zero();
  test_small_work_stays_on_the_caller();
  test_nested();
  test_local_override();
  test_concurrent_callers_while_the_setting_changes();
  test_interrupt();
  if (can_fork()) {
    test_fork_while_a_job_runs();
    test_fork_in_the_poll();
  }
  puts("ok");
}
