// Sums of values that are computed as they are read, in the order of reduce.h: the bits are those
// of `sum` over a tensor that holds the values. And loops over a run, its tail included.
// What is computed is a function of(i, lanes) of the place and of what reads and writes there: a
// whole vector of elements from i on, or as many as are left.
#pragma once

#include "reduce_fold.h"

namespace tessella::TS_ISA {

template <class T>
struct Whole {
  __attribute__((always_inline)) Vec<T> read(const T* p) const { return load<Vec<T>>(p); }
  __attribute__((always_inline)) void write(T* p, Vec<T> v) const { store(p, v); }
  __attribute__((always_inline)) void send(T* p, Vec<T> v) const { store(p, v); }
};

// Results are sent past the caches.
template <class T>
struct Streamed : Whole<T> {
  __attribute__((always_inline)) void send(T* p, Vec<T> v) const { stream(p, v); }
};

template <class T>
struct Part {
  int n;
  __attribute__((always_inline)) Vec<T> read(const T* p) const {
    return load_partial<Vec<T>>(p, n);
  }
  __attribute__((always_inline)) void write(T* p, Vec<T> v) const { store_partial(p, v, n); }
  __attribute__((always_inline)) void send(T* p, Vec<T> v) const { store_partial(p, v, n); }
};

template <class T, class F>
struct Computed {
  F of;
  __attribute__((always_inline)) Vec<T> at(int64_t i) const { return of(i, Whole<T>{}); }
  __attribute__((always_inline)) Vec<T> at(int64_t i, int n) const { return of(i, Part<T>{n}); }
};

// Asks for memory that is read soon: the next row, while this one is computed. It may lie beyond
// the end, and is then not fetched.
template <class T>
TS_INLINE void fetch_early(const T* p) {
  __builtin_prefetch(p);
}

// The sum of of(i, lanes) over a run of n > 0 elements.
template <class T, class F>
TS_INLINE T sum_of(int64_t n, F of) {
  return fold_row<Sum, T>(Computed<T, F>{of}, n);
}

// Whether rows of n elements from p on can be streamed: each begins where a vector may.
template <class T>
TS_INLINE bool can_stream(const T* p, int64_t n) {
  return (uintptr_t)p % sizeof(Vec<T>) == 0 && n % vector_width<T> == 0;
}

// Calls of(i, lanes) over a run of n elements; what is sent goes past the caches if it is streamed.
template <class T, bool IsStreamed = false, class F>
TS_INLINE void each_of(int64_t n, F of) {
  constexpr int W = vector_width<T>;
  int64_t i = 0;
  if constexpr (IsStreamed)
    for (; i + W <= n; i += W) of(i, Streamed<T>{});
  else
    for (; i + W <= n; i += W) of(i, Whole<T>{});
  if (i < n) of(i, Part<T>{(int)(n - i)});
}

}  // namespace tessella::TS_ISA
