// The thread pool: one job at a time, shared by the caller and helper threads.
// What is unclaimed of a job is one atomic word; who claims a unit holds the job open until it
// reports the unit done. So a helper that wakes late finds nothing, and nobody waits for it.
// The pool is static, owns no memory and is never torn down: helpers are detached and touch only
// it, which makes process exit safe; a forked child resets it in place.
#include "threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "integers.h"
#include "system/system.h"

namespace tessella {
namespace {

// The cost model. Waking a parked helper costs the caller about 10 us (a system call and, in a
// virtual machine, an exit), and the helper arrives about 50 us later; one that spins joins within
// 1 us.
constexpr int64_t worth_sharing_ns = 15'000;  // a job below this stays on the caller
constexpr int64_t worth_waking_ns = 150'000;  // a run of them below this takes helpers that spin
constexpr int64_t helper_share_ns = 7'500;    // one helper for each such piece of work
constexpr int64_t unit_ns = 5'000;            // chunks are claimed in units of about this,
constexpr int64_t units_each = 8;             // but so that each thread can have this many units
constexpr int64_t spin_ns = 100'000;
constexpr int64_t poll_ns = 50'000'000;
constexpr int most_rest_log2 = 5;  // a debt is followed by up to 32 times it without helpers
constexpr int64_t most_credit_ns = 4'000'000;
constexpr int max_helpers = max_threads - 1;
constexpr int wake_fanout = 4;              // the woken wake others
constexpr uint32_t PARKED = 1, WAKING = 2;  // states of a seat; 0 while its helper works or spins

std::atomic<int> process_threads{0};   // 0: the default
std::atomic<int> measured_threads{0};  // what default_num_threads found; 0: not asked yet
std::atomic<bool (*)()> interrupt_poll{nullptr};
std::atomic<unsigned> fork_count{0};
thread_local int local_threads = 0;
thread_local bool inside_chunk = false;

int64_t now_ns() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True as soon as done() is, false after `ns`. Looks at least once.
template <class F>
bool spin_until(int64_t ns, F done) {
  if (done()) return true;
  if (ns == 0) return false;
  int64_t end = now_ns() + ns;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause_cpu();
    }
  } while (now_ns() < end);
  return false;
}

struct Job {
  ChunkFn fn;
  void* context;
  int64_t chunks;
  int64_t batch;  // chunks in a unit; the last unit may have fewer
  uint32_t units;
  int helpers;       // who may take part
  int64_t total_ns;  // estimate for the whole job on one thread
  bool interruptible;
};

void run_unit(const Job& job, uint32_t unit, int worker) {
  int64_t begin = unit * job.batch;
  int64_t end = begin + std::min(job.batch, job.chunks - begin);
  for (int64_t chunk = begin; chunk < end; ++chunk) job.fn(job.context, chunk, worker);
}

// Marks the thread while it runs chunks, and signal handlers in the poll: what they call runs
// inline.
class InsideChunk {
 public:
  InsideChunk() : before_(inside_chunk) { inside_chunk = true; }
  ~InsideChunk() { inside_chunk = before_; }
  InsideChunk(const InsideChunk&) = delete;
  InsideChunk& operator=(const InsideChunk&) = delete;

 private:
  bool before_;
};

// When this thread asks the poll next. It outlives jobs, so that an operation which is a chain of
// short jobs (the passes of a sort) can be interrupted too.
thread_local int64_t poll_due_ns = 0;

// Asks the poll when it is due.
class InterruptCheck {
 public:
  explicit InterruptCheck(bool enabled)
      : poll_(enabled ? interrupt_poll.load(std::memory_order_acquire) : nullptr) {}

  bool operator()() {
    if (!poll_) return false;
    int64_t now = now_ns();
    if (poll_due_ns == 0) poll_due_ns = now + poll_ns;
    if (now < poll_due_ns) return false;
    // The poll may run a signal handler that forks: the child has lost the helpers' chunks.
    unsigned forks = fork_count.load(std::memory_order_relaxed);
    bool stop = poll_() || forks != fork_count.load(std::memory_order_relaxed);
    poll_due_ns = now_ns() + poll_ns;
    return stop;
  }

 private:
  bool (*poll_)();
};

class Pool {
 public:
  bool try_lock() { return !busy_.exchange(true, std::memory_order_acquire); }
  void unlock() { busy_.store(false, std::memory_order_release); }
  bool run(const Job& job);  // false when interrupted; only for the holder of the lock
  void help(int id);         // what the helper thread `id` does, for ever
  void reset_after_fork();

 private:
  struct alignas(64) Seat {
    std::atomic<uint32_t> parked{0};
    // The helper's own, or of who has found it parked and made that waking.
    bool is_sent = false;  // away from the caller's core
    system::Helper helper{};
  };

  void open(const Job& job, int64_t now);
  bool claim(int worker, uint32_t& unit_from_end);
  uint32_t work_as_caller(bool& stop);
  void wait_until_done();
  void judge(uint32_t own_units, int64_t work, int64_t wait);
  void start_helpers(int wanted);
  void send_away(Seat& seat, int caller_cpu);
  bool wake_from(int worker);
  void await_work(int id, int64_t spin);

  alignas(64) std::atomic<uint64_t> open_{0};     // helpers that may claim << 32 | units unclaimed
  alignas(64) std::atomic<uint32_t> pending_{0};  // units not yet done
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<int> caller_cpu_{0};

  // Written by the holder of the lock while pending_ is 0, read by who has claimed a unit.
  Job job_{};
  int64_t spin_ = 0;
  bool wakes_ = false;  // parked helpers are woken

  // Only for the holder of the lock.
  int started_ = 0;
  int cpus_ = 0;
  int64_t rest_until_ = 0;
  int64_t account_ns_ = 0;  // what helpers have saved, less what they have cost
  int rest_log2_ = 0;       // they rest for a debt 2 ** this times as long
  int64_t run_ns_ = 0;      // work since the last wake-up, in jobs with less than spin_ns between
  int64_t last_end_ = 0;    // when the last job ended

  Seat seats_[max_helpers];
};

constinit Pool pool;  // all zeros: it takes no place in the file

bool may_claim(uint64_t open, int worker) {
  return static_cast<uint32_t>(open) != 0 && static_cast<uint64_t>(worker) <= open >> 32;
}

// Claims the next unit. The value found may be of a later job than the caller of this has last
// seen: that is harmless, as nothing of a job is read before the claim has succeeded.
bool Pool::claim(int worker, uint32_t& unit_from_end) {
  uint64_t open = open_.load(std::memory_order_relaxed);
  do {
    if (!may_claim(open, worker)) return false;
    unit_from_end = static_cast<uint32_t>(open);
  } while (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return true;
}

// The kernel likes to wake a thread on the core of who wakes it, where a helper would wait for the
// caller to end while its own core is idle: it is woken on any other.
void Pool::send_away(Seat& seat, int caller_cpu) {
  if (caller_cpu >= 0) seat.is_sent = seat.helper.keep_off(caller_cpu);
}

// Wakes this worker's share of the parked helpers; false if there was none.
bool Pool::wake_from(int worker) {
  bool woke = false;
  int caller_cpu = caller_cpu_.load(std::memory_order_relaxed);
  int first = worker * wake_fanout + 1;
  int last = std::min(first + wake_fanout - 1, job_.helpers);
  for (int id = first; id <= last; ++id) {
    Seat& seat = seats_[id - 1];
    uint32_t state = PARKED;
    if (seat.parked.load() != PARKED || !seat.parked.compare_exchange_strong(state, WAKING))
      continue;
    send_away(seat, caller_cpu);
    seat.parked.store(0);
    seat.parked.notify_one();
    woke = true;
  }
  return woke;
}

void Pool::await_work(int id, int64_t spin) {
  // On the caller's core, a helper that spins keeps the caller from its work.
  int cpu = system::current_cpu();
  if (cpu >= 0 && cpu == caller_cpu_.load(std::memory_order_relaxed)) spin = 0;
  auto has_work = [&] { return may_claim(open_.load(), id); };
  if (spin_until(spin, has_work)) return;
  // Announce, then look again: either this thread sees the job, or the job's caller sees that
  // this thread has parked. Both sides use sequentially consistent accesses for it.
  Seat& seat = seats_[id - 1];
  seat.parked.store(PARKED);
  uint32_t state = PARKED;
  if (has_work() && seat.parked.compare_exchange_strong(state, 0)) return;
  while ((state = seat.parked.load()) != 0) seat.parked.wait(state);
  if (!seat.is_sent) return;
  seat.helper.let_back();
  seat.is_sent = false;
}

void Pool::help(int id) {
  InsideChunk inside;
  int64_t spin = spin_ns;
  for (;;) {
    uint32_t unit_from_end;
    bool is_first = true;
    while (claim(id, unit_from_end)) {
      if (is_first && wakes_) wake_from(id);
      is_first = false;
      spin = spin_;
      run_unit(job_, job_.units - unit_from_end, id);
      if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
    await_work(id, spin);
  }
}

void Pool::open(const Job& job, int64_t now) {
  if (now - last_end_ > spin_ns) run_ns_ = 0;  // helpers woken by such jobs would park in between
  run_ns_ = std::min(run_ns_, worth_waking_ns) + std::min(job.total_ns, worth_waking_ns);
  wakes_ = run_ns_ >= worth_waking_ns;
  if (wakes_) start_helpers(job.helpers);
  job_ = job;
  job_.helpers = now < rest_until_ ? 0 : std::min(job.helpers, started_);
  caller_cpu_.store(system::current_cpu(), std::memory_order_relaxed);
  spin_ = job_.helpers < cpus_ ? spin_ns : 0;  // else spinning would take a core from a worker
  pending_.store(job.units, std::memory_order_relaxed);
  open_.store(static_cast<uint64_t>(job_.helpers) << 32 | job.units);
  if (wakes_ && wake_from(0)) run_ns_ = 0;  // the next wake-up has to be earned again
}

uint32_t Pool::work_as_caller(bool& stop) {
  InsideChunk inside;
  InterruptCheck interrupted(job_.interruptible);
  uint32_t unit_from_end, count = 0;
  while (!stop && claim(0, unit_from_end)) {
    run_unit(job_, job_.units - unit_from_end, 0);
    pending_.fetch_sub(1, std::memory_order_acq_rel);
    ++count;
    stop = interrupted();
  }
  return count;
}

void Pool::wait_until_done() {
  if (spin_until(spin_, [&] { return pending_.load(std::memory_order_acquire) == 0; })) return;
  while (uint32_t left = pending_.load(std::memory_order_acquire)) pending_.wait(left);
}

// Helpers hurt when another process takes their core in the middle of a unit: the caller then
// waits for a time slice of the scheduler, milliseconds. Keeps account of what helpers have saved
// (half their units' time: in work bound by memory, the other half is not real) and of what was
// lost (waiting beyond one unit). Once the account is overdrawn, helpers rest for a multiple of the
// debt: for as long after a first debt, which may have been an accident, twice as long after each
// further one, so that the losses to a core that is taken for good stay within 1 / 32 of the
// time. Full credit, which is bounded so that such a core is noticed soon, ends the doubling.
void Pool::judge(uint32_t own_units, int64_t work, int64_t wait) {
  if (own_units == 0) return;
  int64_t unit = work / own_units;
  int64_t saved = unit * (job_.units - own_units) / 2;
  int64_t lost = std::max<int64_t>(wait - unit, 0);
  account_ns_ = std::min(account_ns_ + saved - lost, most_credit_ns);
  if (account_ns_ == most_credit_ns) rest_log2_ = 0;
  if (account_ns_ >= 0) return;
  rest_until_ = last_end_ - account_ns_ * (int64_t{1} << rest_log2_);
  rest_log2_ = std::min(rest_log2_ + 1, most_rest_log2);
  account_ns_ = 0;
}

bool Pool::run(const Job& job) {
  open(job, now_ns());
  int64_t opened = now_ns();
  bool stop = false;
  uint32_t own_units = work_as_caller(stop);
  if (stop) {
    uint64_t rest = open_.exchange(0, std::memory_order_acq_rel);
    pending_.fetch_sub(static_cast<uint32_t>(rest), std::memory_order_acq_rel);
  }
  int64_t worked = now_ns();
  wait_until_done();
  last_end_ = now_ns();
  if (!stop && job_.helpers > 0) {
    judge(own_units, worked - opened, last_end_ - worked);
  }
  return !stop;
}

void help_pool(int id) { pool.help(id); }

// A thread that cannot be started is done without.
void Pool::start_helpers(int wanted) {
  if (started_ == 0) cpus_ = usable_cpus();
  while (started_ < wanted && seats_[started_].helper.start(help_pool, started_ + 1)) ++started_;
}

// In the child only the forking thread lives on, and it is not inside a job, or it is in a poll.
void Pool::reset_after_fork() {
  open_.store(0);
  pending_.store(0);
  busy_.store(false);
  started_ = 0;
  rest_until_ = 0;
  for (Seat& seat : seats_) seat.parked.store(0);
}

void child_after_fork() {
  pool.reset_after_fork();
  measured_threads.store(0);
  fork_count.fetch_add(1);
}

// Registered at load time: a lazy registration could be under way when another thread forks.
[[maybe_unused]] const bool has_fork_handler = (system::call_after_fork(child_after_fork), true);

bool run_alone(const Job& job) {
  InsideChunk inside;
  InterruptCheck interrupted(job.interruptible);
  for (uint32_t unit = 0; unit < job.units; ++unit) {
    run_unit(job, unit, 0);
    if (unit + 1 < job.units && interrupted()) return false;
  }
  return true;
}

Job plan_job(int64_t chunks, int64_t ns_each, int workers, int64_t next_ns) {
  int64_t total = 0;
  if (__builtin_mul_overflow(chunks, ns_each, &total)) total = INT64_MAX;
  if (__builtin_add_overflow(total, next_ns, &total)) total = INT64_MAX;
  int64_t batch = std::min(unit_ns / ns_each, chunks / (workers * units_each));
  batch = std::max({batch, int64_t{1}, ceil_div(chunks, UINT32_MAX)});
  int64_t units = ceil_div(chunks, batch);
  int64_t helpers = 0;
  if (!inside_chunk && total >= worth_sharing_ns) {
    helpers = std::min<int64_t>({workers - 1, units - 1, max_helpers, total / helper_share_ns});
  }
  Job job{};
  job.chunks = chunks;
  job.batch = batch;
  job.units = static_cast<uint32_t>(units);
  job.helpers = static_cast<int>(helpers);
  job.total_ns = total;
  return job;
}

}  // namespace

thread_local bool skips_chunks;

void parallel_for(int64_t chunks, int64_t ns_each, bool interruptible, ChunkFn fn, void* context,
                  int workers, int64_t next_ns) {
  if (chunks <= 0 || skips_chunks) return;
  if (chunks == 1) return fn(context, 0, 0);
  if (workers <= 0) workers = num_threads();
  Job job = plan_job(chunks, std::max<int64_t>(ns_each, 1), workers, next_ns);
  job.fn = fn;
  job.context = context;
  job.interruptible = interruptible && !inside_chunk;
  bool completed;
  if (job.helpers > 0 && pool.try_lock()) {
    completed = pool.run(job);
    pool.unlock();
  } else {
    completed = run_alone(job);
  }
  if (!completed) throw Interrupted{};
}

int num_threads() {
  if (local_threads > 0) return local_threads;
  int n = process_threads.load(std::memory_order_relaxed);
  return n > 0 ? n : default_num_threads();
}

int default_num_threads() {
  int n = measured_threads.load(std::memory_order_relaxed);
  if (n > 0) return n;
  n = wished_threads();
  if (n == 0) n = usable_cpus();
  measured_threads.store(n, std::memory_order_relaxed);
  return n;
}

void set_num_threads(int n) { process_threads.store(n, std::memory_order_relaxed); }
int thread_local_num_threads() { return local_threads; }
void set_thread_local_num_threads(int n) { local_threads = n; }
void set_interrupt_poll(bool (*poll)()) { interrupt_poll.store(poll, std::memory_order_release); }

}  // namespace tessella
