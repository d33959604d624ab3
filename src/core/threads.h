// The thread pool: cuts one operation into chunks that threads claim dynamically.
// It knows nothing of tensors or Python. Chunk borders are the caller's and depend on shapes alone,
// so that results have the same bits at any thread count.
#pragma once

#include <stdint.h>

#include <type_traits>

#include "cpus.h"

namespace tessella {

// Runs one chunk. `worker` is in [0, workers) and unique among the threads that work on the job at
// one time: it selects per-worker scratch. The calling thread is worker 0. Must not throw.
using ChunkFn = void (*)(void* context, int64_t chunk, int worker);

// Thrown by parallel_for on the calling thread when the interrupt poll says stop (Ctrl-C).
struct Interrupted {};

// Calls fn for each chunk in [0, chunks), on the caller and, when chunks * ns_each is worth it, on
// the pool. Returns when all have ended. If `interruptible`, polls about every 50 ms between
// chunks and throws Interrupted after the chunks under way have ended.
// `workers` caps who takes part; 0 means num_threads(). A caller that sizes scratch by
// num_threads() passes the count it used, since another thread may change the setting in between.
// `next_ns` is the work of the call that follows at once: helpers that it is worth waking for are
// woken now.
// Called inside a chunk of several, parallel_for stays on its thread and is never interrupted.
void parallel_for(int64_t chunks, int64_t ns_each, bool interruptible, ChunkFn fn, void* context,
                  int workers = 0, int64_t next_ns = 0);

// While it is set, parallel_for calls nothing in this thread: only what surrounds kernels runs.
extern thread_local bool skips_chunks __attribute__((tls_model("initial-exec")));

template <class F>
void parallel(int64_t chunks, int64_t ns_each, bool interruptible, F&& body, int workers = 0,
              int64_t next_ns = 0) {
  auto call = [](void* context, int64_t chunk, int worker) {
    (*static_cast<std::remove_reference_t<F>*>(context))(chunk, worker);
  };
  parallel_for(chunks, ns_each, interruptible, call, &body, workers, next_ns);
}

int num_threads();               // what this thread's operations may use
int default_num_threads();       // from affinity, the cgroup's quota and TESSELLA_NUM_THREADS
void set_num_threads(int n);     // for the process; 1 <= n <= max_threads, checked by the caller
int thread_local_num_threads();  // 0 when not overridden on this thread
void set_thread_local_num_threads(int n);  // 0 removes the override

// The poll is called on the thread that called parallel_for; true means stop. It must not throw.
void set_interrupt_poll(bool (*poll)());

}  // namespace tessella
