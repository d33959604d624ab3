// Chooses the instruction set at import and builds the tables that depend on it.
#include "isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "../error.h"
#include "block_products.h"
#include "convolve.h"
#include "elementwise.h"
#include "matmul.h"

namespace tessella {

Isa isa = Isa::baseline;
Dots dots = Dots::plain;

namespace {

constexpr const char* NAMES[] = {"baseline", "avx2", "avx512"};
constexpr const char* DOTS_NAMES[] = {"plain", "avxvnni", "avx512vnni"};

#if defined(__x86_64__)
// What not every compiler's builtin can be asked for: bits of CPUID's leaves.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 29);
}

bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
}
#endif

// The best ones that go with the chosen instruction set.
Dots supported_dots() {
#if defined(__x86_64__)
  if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vnni")) return Dots::avx512vnni;
  if (isa == Isa::avx2 && has_avxvnni()) return Dots::avxvnni;
#endif
  return Dots::plain;
}

}  // namespace

const char* name_of(Isa which) { return NAMES[static_cast<int>(which)]; }

bool is_supported(Isa which) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && has_f16c();
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
  return which == Isa::baseline || (which == Isa::avx2 && avx2) || (which == Isa::avx512 && avx512);
#else
  return which == Isa::baseline;
#endif
}

Isa choose_isa() {
  const char* wanted = getenv("TESSELLA_ISA");
  if (wanted && *wanted) {
    for (Isa which : {Isa::baseline, Isa::avx2, Isa::avx512})
      if (!strcmp(wanted, name_of(which)) && is_supported(which)) return which;
    fail_isa(wanted);
  }
  for (Isa which : {Isa::avx512, Isa::avx2})
    if (is_supported(which)) return which;
  return Isa::baseline;
}

const char* name_of(Dots which) { return DOTS_NAMES[static_cast<int>(which)]; }

Dots choose_dots() {
  const char* wanted = getenv("TESSELLA_VNNI");
  bool is_set = wanted && *wanted;
  if (is_set && !strcmp(wanted, "0")) return Dots::plain;
  Dots found = supported_dots();
  if (!is_set) return found == Dots::avxvnni ? Dots::plain : found;
  if (strcmp(wanted, "1") || found == Dots::plain) fail_vnni(wanted);
  return found;
}

const BlockProductKernels& block_product_kernels() {
#if defined(__x86_64__)
  if (dots == Dots::avxvnni) return avxvnni::block_product_kernels;
  if (dots == Dots::avx512vnni) return avx512vnni::block_product_kernels;
#endif
  return TS_CHOSEN(block_product_kernels);
}

const ElementwiseTable& elementwise_table() {
  static const ElementwiseTable table = [] {
    ElementwiseTable filled{};
    TS_CHOSEN(fill_floats)(filled);
    TS_CHOSEN(fill_integers)(filled);
    TS_CHOSEN(fill_complexes)(filled);
    return filled;
  }();
  return table;
}

const MatmulKernels& matmul_kernels() { return TS_CHOSEN(matmul_kernels); }

const ConvolveDtype& convolve_kernel(DType dtype) {
  const ConvolveKernels& kernels = TS_CHOSEN(convolve_kernels);
  switch (dtype) {
    case DType::float16:
      return kernels.float16;
    case DType::bfloat16:
      return kernels.bfloat16;
    case DType::float32:
      return kernels.float32;
    default:
      return kernels.float64;
  }
}

}  // namespace tessella
