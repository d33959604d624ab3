// Times the float32 matrix product beside the BLAS libraries it is given, interleaved, in GFLOP/s
// by medians, and the ratio to the best of them:
//   matmul_bench threads all|small|square|odd|transposed|thin|tall openblas.so libmkl_rt.so
// A program of its own; TESSELLA_ISA selects the kernels.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "kernels/matmul.h"
#include "launch/matmul_plan.h"
#include "threads.h"

namespace tessella {

static Isa isa_from_environment() {
  const char* name = std::getenv("TESSELLA_ISA");
  std::string text = name ? name : "avx512";
  return text == "avx512" ? Isa::avx512 : text == "avx2" ? Isa::avx2 : Isa::baseline;
}
Isa isa = isa_from_environment();
const MatmulKernels& matmul_kernels() { return TS_CHOSEN(matmul_kernels); }

}  // namespace tessella

using namespace tessella;

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

struct Shape {
  const char* group;
  int m, n, k;
  bool a_transposed, b_transposed;
};

static std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (int n : {4, 8, 16, 24, 32, 48, 64}) all.push_back({"small", n, n, n, false, false});
  all.push_back({"small", 32, 32, 32, false, true});
  all.push_back({"small", 32, 32, 32, true, false});
  for (int n : {96, 128, 192, 256, 384, 512, 768, 1024, 2048})
    all.push_back({"square", n, n, n, false, false});
  for (int n : {127, 333, 1023}) all.push_back({"odd", n, n, n, false, false});
  for (int n : {128, 512, 1024}) {
    all.push_back({"transposed", n, n, n, true, false});
    all.push_back({"transposed", n, n, n, false, true});
    all.push_back({"transposed", n, n, n, true, true});
  }
  for (int m : {1, 4, 16}) {
    all.push_back({"thin", m, 1024, 1024, false, false});
    all.push_back({"thin", m, 1024, 1024, false, true});
  }
  for (int n : {1, 8, 32}) all.push_back({"tall", 16384, n, 64, false, false});
  all.push_back({"tall", 64, 64, 16384, true, false});
  return all;
}

// On one thread the processor's time, which other processes disturb less; else the clock's.
static int timed_threads = 1;
static double seconds() {
  timespec t;
  clock_gettime(timed_threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + long(x.size() / 2), x.end());
  return x[x.size() / 2];
}

struct Operands {
  std::vector<float> a, b, c, scratch;
  Operands(const Shape& s)
      : a(size_t(s.m) * size_t(s.k)), b(size_t(s.k) * size_t(s.n)), c(size_t(s.m) * size_t(s.n)) {
    for (float& x : a) x = float(std::rand() % 17 - 8) / 8;
    for (float& x : b) x = float(std::rand() % 17 - 8) / 8;
  }
};

static void multiply(const Shape& s, Operands& x, int threads) {
  using launch::MatmulTask;
  MatmulTask task{};
  task.dtype = DType::float32;
  task.m = s.m, task.n = s.n, task.k = s.k;
  task.a = {x.a.data(), s.a_transposed ? 1 : s.k, s.a_transposed ? s.m : 1, nullptr};
  task.b = {x.b.data(), s.b_transposed ? 1 : s.n, s.b_transposed ? s.k : 1, nullptr};
  task.c = {x.c.data(), s.n, 1, nullptr};
  launch::MatmulPlan plan = launch::plan_matmul(task);
  size_t bytes = size_t(plan.scratch_bytes(threads));
  if (x.scratch.size() * 4 < bytes + 64) x.scratch.resize(bytes / 4 + 32);
  auto start = (reinterpret_cast<uintptr_t>(x.scratch.data()) + 63) / 64 * 64;
  launch::matmul(task, plan, reinterpret_cast<void*>(start), threads);
}

static void multiply(const Shape& s, Operands& x, Sgemm sgemm) {
  sgemm(101, s.a_transposed ? 112 : 111, s.b_transposed ? 112 : 111, s.m, s.n, s.k, 1, x.a.data(),
        s.a_transposed ? s.m : s.k, x.b.data(), s.b_transposed ? s.k : s.n, 0, x.c.data(), s.n);
}

// Medians of the times of one call of each, taken in turns for a fixed time.
static std::vector<double> times(const std::vector<std::function<void()>>& calls, double flops) {
  int inner = std::max(1, int(2e7 / flops));
  std::vector<std::vector<double>> all(calls.size());
  double begin = seconds();
  for (int round = 0; round < 7 || seconds() - begin < 0.35; round++)
    for (size_t w = 0; w < calls.size(); w++) {
      if (round == 0) calls[w]();
      double start = seconds();
      for (int i = 0; i < inner; i++) calls[w]();
      all[w].push_back((seconds() - start) / inner);
    }
  std::vector<double> medians;
  for (auto& list : all) medians.push_back(median(list));
  return medians;
}

static void set_threads(void* library, const char* name, int threads) {
  auto set = reinterpret_cast<void (*)(int)>(dlsym(library, name));
  if (set) set(threads);
}

int main(int count, char** arguments) {
  int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  std::string group = count > 2 ? arguments[2] : "all";
  timed_threads = threads;
  set_num_threads(threads);
  std::vector<Sgemm> peers;
  for (int i = 3; i < count; i++) {
    void* library = dlopen(arguments[i], RTLD_NOW);
    if (!library) return std::puts(dlerror()), 1;
    set_threads(library, "scipy_openblas_set_num_threads", threads);
    set_threads(library, "MKL_Set_Num_Threads", threads);
    void* f = dlsym(library, "scipy_cblas_sgemm");
    peers.push_back(reinterpret_cast<Sgemm>(f ? f : dlsym(library, "cblas_sgemm")));
  }
  double logs = 0;
  int rows = 0;
  for (const Shape& s : shapes()) {
    if (group != "all" && group != s.group) continue;
    Operands x(s);
    double flops = 2.0 * s.m * s.n * s.k;
    std::vector<std::function<void()>> calls{[&] { multiply(s, x, threads); }};
    for (Sgemm f : peers) calls.push_back([&, f] { multiply(s, x, f); });
    std::vector<double> t = times(calls, flops);
    std::printf("%-10s %5d x %4d x %5d %c%c  %8.2f us  GF", s.group, s.m, s.n, s.k,
                s.a_transposed ? 't' : 'n', s.b_transposed ? 't' : 'n', t[0] * 1e6);
    for (double one : t) std::printf(" %7.1f", flops / one / 1e9);
    double best = *std::min_element(t.begin() + (t.size() > 1), t.end());
    std::printf("   ratio %.2f\n", best / t[0]);
    logs += std::log(best / t[0]), rows++;
  }
  std::printf("geometric mean of %d: %.3f\n", rows, std::exp(logs / rows));
}
