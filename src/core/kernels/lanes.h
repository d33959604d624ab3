// How the elements of a dtype are held in vector lanes, and how they move between memory and lanes.
// Lanes<T> has a vector type V, its width, and load/store for whole and partial vectors.
// A partial load repeats element 0, so that the padding raises no flag which the data would not.
#pragma once

#include <string.h>

#include "../simd/complex.h"
#include "../simd/maths.h"
#include "../simd/vector.h"
#include "elements.h"

namespace tessella::TS_ISA {

// For members, where TS_INLINE's `static` would mean something else.
#define TS_MEMBER inline __attribute__((always_inline))

// Bits of the `types` column of elementwise.def.
enum Types {
  BOOL = 1,
  INT = 2,
  FLOAT = 4,
  COMPLEX = 8,
  REAL = INT | FLOAT,
  NUMBER = REAL | COMPLEX,
  ANY = BOOL | NUMBER
};

// Lanes of truth: bytes that are 0 or 1.
template <int N>
struct Bool {
  VecN<uint8_t, N> bits;
  TS_MEMBER friend Bool operator&(Bool x, Bool y) { return {x.bits & y.bits}; }
  TS_MEMBER friend Bool operator|(Bool x, Bool y) { return {x.bits | y.bits}; }
  TS_MEMBER friend Bool operator^(Bool x, Bool y) { return {x.bits ^ y.bits}; }
  TS_MEMBER friend Bool operator~(Bool x) { return {x.bits ^ 1}; }
  TS_MEMBER friend Bool operator==(Bool x, Bool y) { return ~(x ^ y); }
  TS_MEMBER friend Bool operator!=(Bool x, Bool y) { return x ^ y; }
  TS_MEMBER friend Bool operator<(Bool x, Bool y) { return ~x & y; }
  TS_MEMBER friend Bool operator<=(Bool x, Bool y) { return ~x | y; }
  TS_MEMBER friend Bool operator>(Bool x, Bool y) { return x & ~y; }
  TS_MEMBER friend Bool operator>=(Bool x, Bool y) { return x | ~y; }
};

template <class T>
struct Lanes {
  using V = Vec<T>;
  static constexpr int width = VB / sizeof(T);
  static constexpr Types type = static_cast<T>(0.5) != 0 ? FLOAT : INT;
  static TS_MEMBER V read(const T* p) { return load<V>(p); }
  static TS_MEMBER V read(const T* p, int n) { return load_partial<V>(p, n); }
  static TS_MEMBER void write(T* p, V v) { store(p, v); }
  static TS_MEMBER void write(T* p, V v, int n) { store_partial(p, v, n); }
};

template <class T>
struct Lanes<ComplexElement<T>> {
  using V = Complex<Vec<T>>;
  static constexpr int width = VB / sizeof(T);
  static constexpr Types type = COMPLEX;
  static TS_MEMBER V read(const ComplexElement<T>* p) { return load_complex<Vec<T>>(&p->re); }
  static TS_MEMBER V read(const ComplexElement<T>* p, int n) {
    return load_complex_partial<Vec<T>>(&p->re, n);
  }
  static TS_MEMBER void write(ComplexElement<T>* p, V v) { store_complex(&p->re, v); }
  static TS_MEMBER void write(ComplexElement<T>* p, V v, int n) {
    store_complex_partial(&p->re, v, n);
  }
};

// N lanes of bool, to go with vectors of another dtype; N may be less than a whole vector.
template <int N>
struct BoolLanes {
  using V = Bool<N>;
  static constexpr int width = N;
  static constexpr Types type = BOOL;
  static TS_MEMBER V read(const Boolean* p) {
    V v;
    memcpy(&v.bits, p, N);
    return v;
  }
  static TS_MEMBER V read(const Boolean* p, int n) {
    V v{};
    for (int i = 0; i < n; ++i) v.bits[i] = static_cast<uint8_t>(p[i]);
    return v;
  }
  static TS_MEMBER void write(Boolean* p, V v) { memcpy(p, &v.bits, N); }
  static TS_MEMBER void write(Boolean* p, V v, int n) {
    for (int i = 0; i < n; ++i) p[i] = static_cast<Boolean>(v.bits[i]);
  }
};
template <>
struct Lanes<Boolean> : BoolLanes<VB> {};

// What a comparison of lanes gives, as Bool.
template <int N>
TS_INLINE Bool<N> truth(Bool<N> value) {
  return value;
}
template <class M>
  requires requires(M mask) { mask[0]; }
TS_INLINE auto truth(M mask) {
  return Bool<lanes<M>>{resize<VecN<uint8_t, lanes<M>>>(mask) & 1};
}

// where(): a mask for vectors of T out of Bool lanes.
template <class V, int N>
TS_INLINE V select(Bool<N> chosen, V yes, V no) {
  MaskOf<V> mask = resize<MaskOf<V>>(chosen.bits) != 0;
  return mask ? yes : no;
}
template <class V, int N>
TS_INLINE Complex<V> select(Bool<N> chosen, Complex<V> yes, Complex<V> no) {
  return {select(chosen, yes.re, no.re), select(chosen, yes.im, no.im)};
}
template <int N>
TS_INLINE Bool<N> select(Bool<N> chosen, Bool<N> yes, Bool<N> no) {
  return (chosen & yes) | (~chosen & no);
}

}  // namespace tessella::TS_ISA
