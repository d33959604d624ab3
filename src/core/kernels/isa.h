// The instruction sets that kernels are compiled for, and which one this process uses.
// Each family of kernels is one struct of function pointers, with one constant instance in the
// namespace of each instruction set: TS_KERNELS declares them, TS_CHOSEN picks one.
#pragma once

#include <stdint.h>

namespace tessella {

enum class Isa : uint8_t { baseline, avx2, avx512 };

extern Isa isa;  // chosen once, at import

const char* name_of(Isa isa);
bool is_supported(Isa isa);  // compiled in, and this processor can run it
// The best supported one, or the one TESSELLA_ISA names; throws Error if that cannot run here.
Isa choose_isa();

#if defined(__x86_64__)
#define TS_KERNELS(Type, name) \
  namespace baseline {         \
  extern const Type name;      \
  }                            \
  namespace avx2 {             \
  extern const Type name;      \
  }                            \
  namespace avx512 {           \
  extern const Type name;      \
  }
#define TS_CHOSEN(name)                                      \
  (::tessella::isa == ::tessella::Isa::avx512 ? avx512::name \
   : ::tessella::isa == ::tessella::Isa::avx2 ? avx2::name   \
                                              : baseline::name)
#else
#define TS_KERNELS(Type, name) \
  namespace baseline {         \
  extern const Type name;      \
  }
#define TS_CHOSEN(name) (baseline::name)
#endif

}  // namespace tessella
