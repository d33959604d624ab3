// What this machine can do: loops that only read, only copy, only multiply and add, or take a value
// through a few operations without leaving its register.
// They are the yardsticks of the kernel rows, compiled for the machine at hand when the benchmark
// runs. They are no part of the library, and nothing else is measured here: Python times the calls.
//
// Each function splits its work evenly over `threads`, and repeats it `times` inside one call, so
// that waking threads and entering C cost nothing that shows. The threads live as long as the
// process, each on a processor of its own: new ones may begin on the caller's.

#include <sched.h>
#include <stdint.h>
#include <string.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

typedef float Vector __attribute__((vector_size(kVectorBytes)));
typedef int32_t Bits __attribute__((vector_size(kVectorBytes)));
constexpr int64_t kLanes = kVectorBytes / sizeof(float);

// Two FMA units with a latency of 4 need 8 accumulators; 12 and two operands fit in 16 registers.
constexpr int kAccumulators = 12;

void stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  sched_setaffinity(0, sizeof only, &only);
}

// The caller and a thread for every further processor that the process may use. They sleep between
// calls, and are never joined: the process ends with them.
class Team {
 public:
  using Body = std::function<void(int)>;

  Team() {
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed_)) processors_.push_back(i);
    }
    for (size_t part = 1; part < processors_.size(); ++part) {
      std::thread([this, part] { work(int(part)); }).detach();
    }
  }

  // The caller is on the first processor meanwhile; one thread alone goes where the system has it.
  void run(int threads, const Body& body) {
    if (threads == 1) return body(0);
    {
      std::lock_guard lock(mutex_);
      body_ = &body;
      threads_ = threads;
      missing_ = threads - 1;
      ++turn_;
    }
    begin_.notify_all();
    stay_on(processors_[0]);
    body(0);
    sched_setaffinity(0, sizeof allowed_, &allowed_);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [this] { return missing_ == 0; });
  }

 private:
  void work(int part) {
    stay_on(processors_[part]);
    int64_t done = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      begin_.wait(lock, [&] { return turn_ != done; });
      done = turn_;
      if (part >= threads_) continue;
      const Body& body = *body_;
      lock.unlock();
      body(part);
      lock.lock();
      if (--missing_ == 0) end_.notify_one();
    }
  }

  cpu_set_t allowed_;
  std::vector<int> processors_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const Body* body_ = nullptr;
  int threads_ = 0, missing_ = 0;
  int64_t turn_ = 0;
};

void on_threads(int threads, const Team::Body& body) {
  static Team* const team = new Team;
  team->run(threads, body);
}

Vector load(const float* from) {
  Vector value;
  memcpy(&value, from, sizeof value);
  return value;
}

float sum_lanes(Vector value) {
  float total = 0;
  for (int64_t i = 0; i < kLanes; ++i) total += value[i];
  return total;
}

float sum_range(const float* x, int64_t count) {
  constexpr int64_t step = 8 * kLanes;
  Vector sums[8] = {};
  int64_t i = 0;
  for (; i + step <= count; i += step) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) sums[j] += load(x + i + j * kLanes);
  }
  Vector all = {};
  for (int j = 0; j < 8; ++j) all += sums[j];
  float total = sum_lanes(all);
  for (; i < count; ++i) total += x[i];
  return total;
}

// The accumulators begin apart from each other and from 2, which x / 2 + 1 leaves as it is: GCC
// would fold equal ones into one, and a constant one into nothing.
float multiply_add(int64_t iterations) {
  Vector sums[kAccumulators];
  for (int j = 0; j < kAccumulators; ++j) sums[j] = Vector{} + (float(j) + 0.25f);
  const Vector x = Vector{} + 0.5f, y = Vector{} + 1.0f;
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) sums[j] = sums[j] * x + y;
  }
  Vector all = {};
  for (int j = 0; j < kAccumulators; ++j) all += sums[j];
  return sum_lanes(all);
}

// Rounds of three operations, none of which contracts with its neighbour, on a value in a register.
template <int rounds>
void chain_range(float* y, const float* x, int64_t count) {
  const Bits all_but_sign = Bits{} + 0x7fffffff;
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    const Vector given = load(x + i);
    Vector value = given;
#pragma GCC unroll 8
    for (int j = 0; j < rounds; ++j) {
      value *= given;
      value = (Vector)((Bits)value & all_but_sign);
      value -= given;
    }
    memcpy(y + i, &value, sizeof value);
  }
}

Vector size_of(Vector value) { return (Vector)((Bits)value & (Bits{} + 0x7fffffff)); }

Vector sqrt_of(Vector value) {
  Vector root = value;
  for (int64_t i = 0; i < kLanes; ++i) root[i] = __builtin_sqrtf(value[i]);
  return root;
}

// 2^n times the series of e^r to its sixth power, where |r| <= log(2) / 2: off by 1e-7 at most. For
// arguments whose result is a normal number.
Vector exp_of(Vector value) {
  const float log2e = 1.44269504088896341f, round = 0x1.8p23f;
  const float log2_high = 0x1.62ep-1f, log2_low = 0x1.0bfbe8p-15f;  // log(2) in two parts
  const Vector shifted = value * log2e + round;  // the nearest integer is in the last bits
  const Vector n = shifted - round;
  const Vector r = (value - n * log2_high) - n * log2_low;
  Vector sum = Vector{} + 1.0f / 720;
  for (float factor : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) sum = sum * r + factor;
  return (Vector)((Bits)sum + ((Bits)shifted << 23));
}

Vector halved_sum(Vector x, Vector y) { return size_of((x + y) * 0.5f) - y; }

Vector larger_root(Vector x, Vector y) {
  const Vector root = sqrt_of(size_of(x) / y);
  return root > x ? root : x;
}

Vector exp_difference(Vector x, Vector y) { return size_of(exp_of(x * 0.5f) - y); }

template <Vector (*mix)(Vector, Vector)>
void mix_range(float* out, const float* x, const float* y, int64_t count) {
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    const Vector value = mix(load(x + i), load(y + i));
    memcpy(out + i, &value, sizeof value);
  }
}

int64_t border(int64_t count, int part, int parts) { return count / parts * part; }

int64_t part_size(int64_t count, int part, int parts) {
  return part + 1 == parts ? count - border(count, part, parts) : count / parts;
}

}  // namespace

extern "C" {

float peak_read(const float* x, int64_t count, int64_t times, int threads) {
  std::vector<float> totals(threads);
  on_threads(threads, [&](int part) {
    const float* from = x + border(count, part, threads);
    float total = 0;
    for (int64_t i = 0; i < times; ++i) {
      total += sum_range(from, part_size(count, part, threads));
      __asm__ volatile("" : : : "memory");  // each repetition reads again
    }
    totals[part] = total;
  });
  float total = 0;
  for (float part : totals) total += part;
  return total;
}

void peak_copy(float* y, const float* x, int64_t count, int64_t times, int threads) {
  on_threads(threads, [=](int part) {
    const int64_t from = border(count, part, threads);
    for (int64_t i = 0; i < times; ++i) {
      memcpy(y + from, x + from, part_size(count, part, threads) * sizeof(float));
      __asm__ volatile("" : : : "memory");
    }
  });
}

// 3, 6 or 12 operations over vectors, in one thread; a count is a multiple of 16.
void peak_chain(float* y, const float* x, int64_t count, int64_t operations, int64_t times) {
  for (int64_t i = 0; i < times; ++i) {
    if (operations == 3) chain_range<1>(y, x, count);
    if (operations == 6) chain_range<2>(y, x, count);
    if (operations == 12) chain_range<4>(y, x, count);
    __asm__ volatile("" : : : "memory");
  }
}

// The mixed operations of the row `chain`, by their place there.
void peak_mixed(float* out, const float* x, const float* y, int64_t count, int64_t which,
                int64_t times) {
  for (int64_t i = 0; i < times; ++i) {
    if (which == 0) mix_range<halved_sum>(out, x, y, count);
    if (which == 1) mix_range<larger_root>(out, x, y, count);
    if (which == 2) mix_range<exp_difference>(out, x, y, count);
    __asm__ volatile("" : : : "memory");
  }
}

float peak_fma(int64_t iterations, int threads) {
  std::vector<float> totals(threads);
  on_threads(threads, [&](int part) { totals[part] = multiply_add(iterations); });
  return totals[0];
}

// Multiplications and additions of one iteration in one thread.
int64_t peak_fma_flops(void) { return 2 * kLanes * kAccumulators; }
}
