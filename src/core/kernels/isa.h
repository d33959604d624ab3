// The instruction sets that kernels are compiled for, and which one this process uses.
// Products with blocks of bytes are compiled for some more (Dots), which give the same numbers.
// Each family of kernels is one struct of function pointers, with one constant instance in the
// namespace of each instruction set: TS_KERNELS or TS_NARROW_KERNELS declares them, TS_CHOSEN picks
// one.
#pragma once

#include <stdint.h>

namespace tessella {

enum class Isa : uint8_t { baseline, avx2, avx512 };

extern Isa isa;  // chosen once, at import

const char* name_of(Isa isa);
bool is_supported(Isa isa);  // compiled in, and this processor can run it
// The best supported one, or the one TESSELLA_ISA names; throws Error if that cannot run here.
Isa choose_isa();

// Instructions for sums of products of bytes, beside those of the instruction set.
enum class Dots : uint8_t { plain, avxvnni, avx512vnni };

extern Dots dots;  // chosen once, after the instruction set

const char* name_of(Dots dots);
// Those of AVX-512 where the instruction set is that and the processor has them. TESSELLA_VNNI=0
// leaves them out; TESSELLA_VNNI=1 asks for them, and for those beside AVX2, which are chosen in no
// other way; throws Error if there are none.
Dots choose_dots();

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
// Where wider vectors are not worth it, AVX-512 has those of AVX2: CMakeLists.txt names them.
#define TS_NARROW_KERNELS(Type, name) \
  namespace baseline {                \
  extern const Type name;             \
  }                                   \
  namespace avx2 {                    \
  extern const Type name;             \
  }                                   \
  namespace avx512 {                  \
  using avx2::name;                   \
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
#define TS_NARROW_KERNELS TS_KERNELS
#define TS_CHOSEN(name) (baseline::name)
#endif

}  // namespace tessella
