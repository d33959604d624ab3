// The lock of the calls of a compiled function: one thread is inside at a time, also where a fork
// has left it behind. Python's own reads the clock, which shows in the smallest programs.
#pragma once

#include <atomic>
#include <chrono>
#include <semaphore>

#include "../system/system.h"
#include "bind.h"

namespace tessella {

// How many forks made this process, and the thread that has lived on from the last.
inline int forks;
inline unsigned long survivor;
[[maybe_unused]] inline const bool counts_forks =
    (system::call_after_fork([] { ++forks, survivor = PyThread_get_thread_ident(); }), true);

class CallLock {
 public:
  bool try_enter() {
    if (!try_lock()) return false;
    owner_.store(PyThread_get_thread_ident(), std::memory_order_relaxed);
    return true;
  }
  // False: this thread is inside already. Ctrl-C ends that it waits for another.
  bool enter() {
    // A thread of a child may have the identity of one that is not there any more.
    unsigned long here = PyThread_get_thread_ident(), owner = owner_.load();
    if (owner == here && (is_busy_.load() == forks + 1 || here == survivor)) return false;
    while (!try_enter() && !wait())
      if (PyErr_CheckSignals() < 0) throw PythonError{};
    owner_.store(here, std::memory_order_relaxed);
    return true;
  }
  void leave() {
    owner_.store(0, std::memory_order_relaxed);
    is_busy_.store(0, std::memory_order_release);
    // One is enough, and those that waited may be gone since a fork.
    if (waiting_.load(std::memory_order_relaxed)) (void)left_.try_acquire(), left_.release();
  }

 private:
  // One that a thread has taken before a fork and that is not here any more is free.
  bool try_lock() {
    int now = 0, ours = forks + 1;
    if (is_busy_.compare_exchange_strong(now, ours, std::memory_order_acquire)) return true;
    return now != ours && owner_.load(std::memory_order_relaxed) != survivor &&
           is_busy_.compare_exchange_strong(now, ours, std::memory_order_acquire);
  }
  // Takes it, or gives false when it is time to look for signals.
  bool wait() {
    nb::gil_scoped_release free;
    ++waiting_;
    bool is_ours = try_lock() || (left_.try_acquire_for(std::chrono::milliseconds(50)), try_lock());
    --waiting_;
    return is_ours;
  }

  std::atomic<int> is_busy_{0};  // or 1 and how many forks there had been
  std::atomic<unsigned long> owner_{0};
  std::atomic<int> waiting_{0};
  std::counting_semaphore<> left_{0};
};

}  // namespace tessella
