// Eight vectors at a time stay in registers through all steps; what is left over goes one by one.
#include "chain.h"

#include "elementwise_loops.h"

namespace tessella::TS_ISA {

namespace {

// Named registers: an array that is indexed in a loop would live in memory.
#define TS_EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
constexpr int EACH = 8;

template <class T>
struct Eight {
  using In = Lanes<T>;
  using V = typename In::V;
#define DO(k) V v##k;
  TS_EACH(DO)
#undef DO
  // What the values began as: kept where there are 32 registers, else read again.
#if defined(__AVX512F__) || defined(__aarch64__)
#define TS_STARTED(k) s##k
#define DO(k) V s##k;
  TS_EACH(DO)
#undef DO
#else
#define TS_STARTED(k) In::read(start + k * In::width)
  const T* start;
#endif

  TS_MEMBER void read(const T* p) {
#define DO(k) v##k = In::read(p + k * In::width);
    TS_EACH(DO)
#undef DO
#if defined(__AVX512F__) || defined(__aarch64__)
#define DO(k) s##k = v##k;
    TS_EACH(DO)
#undef DO
#else
    start = p;
#endif
  }
  TS_MEMBER void write(T* p) const {
#define DO(k) In::write(p + k * In::width, v##k);
    TS_EACH(DO)
#undef DO
  }
  template <class F>
  TS_MEMBER void map(F f) {
#define DO(k) v##k = f(v##k);
    TS_EACH(DO)
#undef DO
  }
  template <class F>
  TS_MEMBER void join(const T* p, F f) {
#define DO(k) v##k = f(v##k, In::read(p + k * In::width));
    TS_EACH(DO)
#undef DO
  }
  template <class F>
  TS_MEMBER void join_start(F f) {
#define DO(k) v##k = f(v##k, TS_STARTED(k));
    TS_EACH(DO)
#undef DO
  }
};

// One vector, or the first `rest` lanes of it.
template <class T>
struct Single {
  using In = Lanes<T>;
  using V = typename In::V;
  V v, start;
  int rest;

  TS_MEMBER void read(const T* p) { v = start = get(p); }
  TS_MEMBER void write(T* p) const { rest == In::width ? In::write(p, v) : In::write(p, v, rest); }
  template <class F>
  TS_MEMBER void map(F f) {
    v = f(v);
  }
  template <class F>
  TS_MEMBER void join(const T* p, F f) {
    v = f(v, get(p));
  }
  template <class F>
  TS_MEMBER void join_start(F f) {
    v = f(v, start);
  }
  TS_MEMBER V get(const T* p) const { return rest == In::width ? In::read(p) : In::read(p, rest); }
};

template <class T, class Values>
TS_INLINE void take_steps(Values& values, int64_t at, const ChainStep* steps, int count) {
  using V = typename Values::V;
  int i = 0;
  do {  // not a loop that may be passed by: the registers of both ways would have to be joined
    auto* operand = static_cast<const T*>(steps[i].operand);
    switch (steps[i].code) {
#define TS_IN_MEMORY(name) \
  values.join(operand + at, [](V x, V y) { return op::name::value(x, y); });
#define TS_NUMBER(name) values.map([y = splat<V>(*operand)](V x) { return op::name::value(x, y); });
#define TS_TURNED(name) values.join(operand + at, [](V y, V x) { return op::name::value(x, y); });
#define TS_TURNED_NUMBER(name) \
  values.map([x = splat<V>(*operand)](V y) { return op::name::value(x, y); });
#define TS_START(name) values.join_start([](V x, V y) { return op::name::value(x, y); });
#define TS_TURNED_START(name) values.join_start([](V y, V x) { return op::name::value(x, y); });
#define TS_ITSELF(name) values.map([](V x) { return op::name::value(x, x); });
#define TS_CASE(code, body) \
  case ChainCode::code:     \
    body break;
#define UNARY(name) TS_CASE(name, values.map([](V x) { return op::name::value(x); });)
#define BINARY(name)                         \
  TS_CASE(name##_memory, TS_IN_MEMORY(name)) \
  TS_CASE(name##_number, TS_NUMBER(name))    \
  TS_CASE(name##_start, TS_START(name))      \
  TS_CASE(name##_itself, TS_ITSELF(name))
#define TURNS(name)                                    \
  TS_CASE(name##_memory, TS_IN_MEMORY(name))           \
  TS_CASE(name##_number, TS_NUMBER(name))              \
  TS_CASE(name##_start, TS_START(name))                \
  TS_CASE(name##_memory_first, TS_TURNED(name))        \
  TS_CASE(name##_number_first, TS_TURNED_NUMBER(name)) \
  TS_CASE(name##_start_first, TS_TURNED_START(name))   \
  TS_CASE(name##_itself, TS_ITSELF(name))
#include "chain.def"
      case ChainCode::none:
        break;
    }
  } while (++i < count);
}

template <class T>
void chain(int64_t n, void* out, const void* x, const ChainStep* steps, int count) {
  constexpr int64_t width = Lanes<T>::width;
  auto* to = static_cast<T*>(out);
  auto* from = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + EACH * width <= n; i += EACH * width) {
    Eight<T> values;
    values.read(from + i);
    take_steps<T>(values, i, steps, count);
    values.write(to + i);
  }
  for (; i < n; i += width) {
    Single<T> value;
    value.rest = static_cast<int>(n - i < width ? n - i : width);
    value.read(from + i);
    take_steps<T>(value, i, steps, count);
    value.write(to + i);
  }
}

}  // namespace

extern constexpr ChainKernels chain_kernels = {chain<float>, chain<double>};

}  // namespace tessella::TS_ISA
