// Finding the products in a shared library, and calling them. See blas.h.
#include "blas.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "../system/system.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

// CBLAS's constants.
constexpr int ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112;
constexpr double LEAST_PRODUCTS = 64.0 * 64 * 64;  // below, a call costs more than it gains

// cblas_sgemm and cblas_dgemm, with integers of Int.
template <class T, class Int>
using Gemm = void (*)(int order, int a_form, int b_form, Int m, Int n, Int k, T alpha, const T* a,
                      Int a_step, const T* b, Int b_step, T beta, T* c, Int c_step);

// A library once loaded stays: a product may be running in it.
struct Library {
  void *sgemm, *dgemm;
  bool has_long_integers;
  std::string path;
};

std::mutex choosing;
std::atomic<const Library*> chosen{nullptr};

// Names under which builds of OpenBLAS, MKL and others offer them; those with 64 have 64-bit
// integers.
struct Naming {
  const char *sgemm, *dgemm;
  bool has_long_integers;
};
constexpr Naming NAMINGS[] = {
    {"scipy_cblas_sgemm64_", "scipy_cblas_dgemm64_", true},
    {"cblas_sgemm64_", "cblas_dgemm64_", true},
    {"cblas_sgemm_64", "cblas_dgemm_64", true},
    {"scipy_cblas_sgemm", "scipy_cblas_dgemm", false},
    {"cblas_sgemm", "cblas_dgemm", false},
};

// A matrix as CBLAS wants it: rows of adjacent elements, or the transpose of such.
struct Form {
  int form;
  int64_t step;
  bool is_possible;
};

Form form_of(const MatmulOperand& x, int64_t rows, int64_t cols) {
  bool by_rows = (x.col_stride == 1 || cols == 1) && (x.row_stride >= cols || rows == 1);
  bool by_cols = (x.row_stride == 1 || rows == 1) && (x.col_stride >= rows || cols == 1);
  if (by_rows) return {AS_IS, std::max(rows == 1 ? cols : x.row_stride, cols), true};
  return {TRANSPOSED, std::max(cols == 1 ? rows : x.col_stride, rows), by_cols};
}

template <class T, class Int>
void run(void* function, const MatmulTask& task, Form a, Form b, Form c, const int64_t (&at)[3]) {
  reinterpret_cast<Gemm<T, Int>>(function)(
      ROW_MAJOR, a.form, b.form, Int(task.m), Int(task.n), Int(task.k), T(1),
      static_cast<const T*>(task.a.data) + at[0], Int(a.step),
      static_cast<const T*>(task.b.data) + at[1], Int(b.step), T(task.accumulate),
      static_cast<T*>(task.c.data) + at[2], Int(c.step));
}

template <class T>
void run_batch(const Library& library, void* function, const MatmulTask& task, Form a, Form b,
               Form c) {
  int64_t count = 1;
  for (int axis = 0; axis < task.batch_ndim; axis++) count *= task.batch_shape[axis];
  for (int64_t t = 0; t < count; t++) {
    int64_t at[3] = {}, rest = t;
    for (int axis = task.batch_ndim - 1; axis >= 0; axis--) {
      int64_t i = rest % task.batch_shape[axis];
      rest /= task.batch_shape[axis];
      at[0] += i * task.a.batch_strides[axis];
      at[1] += i * task.b.batch_strides[axis];
      at[2] += i * task.c.batch_strides[axis];
    }
    if (library.has_long_integers)
      run<T, int64_t>(function, task, a, b, c, at);
    else
      run<T, int>(function, task, a, b, c, at);
  }
}

}  // namespace

std::string use_blas(const std::string& path) {
  std::lock_guard<std::mutex> lock(choosing);
  if (path.empty()) return chosen.store(nullptr), "";
  std::string why;
  void* handle = system::open_library(path.c_str(), why);
  if (!handle) return why;
  for (const Naming& naming : NAMINGS) {
    void* sgemm = system::find_symbol(handle, naming.sgemm);
    void* dgemm = system::find_symbol(handle, naming.dgemm);
    if (!sgemm || !dgemm) continue;
    chosen.store(new Library{sgemm, dgemm, naming.has_long_integers, path});
    return "";
  }
  system::close_library(handle);
  return "it has no cblas_sgemm and cblas_dgemm";
}

std::string blas_path() {
  const Library* library = chosen.load();
  return library ? library->path : "";
}

bool blas_matmul(const MatmulTask& task) {
  const Library* library = chosen.load(std::memory_order_acquire);
  bool is_float = task.dtype == DType::float32 || task.dtype == DType::float64;
  if (!library || !is_float) return false;
  double products = double(task.m) * double(task.n) * double(task.k);
  if (products < LEAST_PRODUCTS) return false;
  Form a = form_of(task.a, task.m, task.k), b = form_of(task.b, task.k, task.n);
  Form c = form_of(task.c, task.m, task.n);
  if (!a.is_possible || !b.is_possible || c.form != AS_IS) return false;
  int64_t largest = std::max({task.m, task.n, task.k, a.step, b.step, c.step});
  if (!library->has_long_integers && largest > INT32_MAX) return false;
  if (skips_chunks) return true;
  if (task.dtype == DType::float32)
    run_batch<float>(*library, library->sgemm, task, a, b, c);
  else
    run_batch<double>(*library, library->dgemm, task, a, b, c);
  return true;
}

}  // namespace tessella::launch
