// The loops of elementwise kernels and how a table of them is filled for one element type.
// A file of one ISA and one group of dtypes includes this and calls fill<T>(table, dtype).
#pragma once

#include "elementwise.h"
#include "lane.h"

namespace tessella::TS_ISA {

// Element type in memory of a vector of lanes.
template <class V>
struct ElementOf {
  using type = Lane<V>;
};
template <class V>
struct ElementOf<Complex<V>> {
  using type = ComplexElement<Lane<V>>;
};
template <int N>
struct ElementOf<Bool<N>> {
  using type = Boolean;
};

// Lanes<T> for a result V: bool results keep the operands' number of lanes.
template <class V>
struct ResultLanes : Lanes<typename ElementOf<V>::type> {};
template <int N>
struct ResultLanes<Bool<N>> : BoolLanes<N> {};

template <class Op, class T>
void unary_loop(int64_t n, void* out, const void* x, const void*, const void*) {
  using In = Lanes<T>;
  using R = decltype(Op::value(In::read(nullptr)));
  using Out = ResultLanes<R>;
  auto* to = static_cast<typename ElementOf<R>::type*>(out);
  auto* from = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + In::width <= n; i += In::width) Out::write(to + i, Op::value(In::read(from + i)));
  if (int rest = static_cast<int>(n - i))
    Out::write(to + i, Op::value(In::read(from + i, rest)), rest);
}

template <class Op, class T>
void binary_loop(int64_t n, void* out, const void* x, const void* y, const void*) {
  using In = Lanes<T>;
  using R = decltype(Op::value(In::read(nullptr), In::read(nullptr)));
  using Out = ResultLanes<R>;
  auto* to = static_cast<typename ElementOf<R>::type*>(out);
  auto *a = static_cast<const T*>(x), *b = static_cast<const T*>(y);
  int64_t i = 0;
  for (; i + In::width <= n; i += In::width)
    Out::write(to + i, Op::value(In::read(a + i), In::read(b + i)));
  if (int rest = static_cast<int>(n - i))
    Out::write(to + i, Op::value(In::read(a + i, rest), In::read(b + i, rest)), rest);
}

// X is the element type of the first operand: T, or Boolean for where.
template <class Op, class T, class First>
void ternary_loop(int64_t n, void* out, const void* x, const void* y, const void* z) {
  using In = Lanes<T>;
  auto* to = static_cast<T*>(out);
  auto* a = static_cast<const typename First::Element*>(x);
  auto *b = static_cast<const T*>(y), *c = static_cast<const T*>(z);
  int64_t i = 0;
  for (; i + In::width <= n; i += In::width)
    In::write(to + i, Op::value(First::read(a + i), In::read(b + i), In::read(c + i)));
  if (int rest = static_cast<int>(n - i))
    In::write(to + i,
              Op::value(First::read(a + i, rest), In::read(b + i, rest), In::read(c + i, rest)),
              rest);
}
template <class T>
struct SameLanes : Lanes<T> {
  using Element = T;
};
template <class T>
struct ChoiceLanes : BoolLanes<Lanes<T>::width> {
  using Element = Boolean;
};

namespace op {
#define UNARY(name, types, expression) \
  struct name {                        \
    template <class V>                 \
    static TS_MEMBER auto value(V x) { \
      return expression;               \
    }                                  \
  };
#define TEST(name, types, expression)  \
  struct name {                        \
    template <class V>                 \
    static TS_MEMBER auto value(V x) { \
      return truth(expression);        \
    }                                  \
  };
#define BINARY(name, types, expression)  \
  struct name {                          \
    template <class V>                   \
    static TS_MEMBER V value(V x, V y) { \
      return expression;                 \
    }                                    \
  };
#define COMPARE(name, types, expression)    \
  struct name {                             \
    template <class V>                      \
    static TS_MEMBER auto value(V x, V y) { \
      return truth(expression);             \
    }                                       \
  };
#define TERNARY(name, types, expression)      \
  struct name {                               \
    template <class X, class V>               \
    static TS_MEMBER V value(X x, V y, V z) { \
      return expression;                      \
    }                                         \
  };
#define HALF(name, dtype, expression)    \
  struct name##_##dtype {                \
    template <class V>                   \
    static TS_MEMBER V value(V x, V y) { \
      return expression;                 \
    }                                    \
  };
#include "elementwise.def"
}  // namespace op

template <class T, class Op, int types>
void fill_unary(ElementwiseKernel& kernel) {
  if constexpr (types & Lanes<T>::type) {
    using R = decltype(Op::value(Lanes<T>::read(nullptr)));
    kernel = {unary_loop<Op, T>, dtype_of<typename ElementOf<R>::type>};
  }
}

template <class T, class Op, int types>
void fill_binary(ElementwiseKernel& kernel) {
  if constexpr (types & Lanes<T>::type) {
    using R = decltype(Op::value(Lanes<T>::read(nullptr), Lanes<T>::read(nullptr)));
    kernel = {binary_loop<Op, T>, dtype_of<typename ElementOf<R>::type>};
  }
}

template <class T, class Op, int types>
void fill_ternary(ElementwiseKernel& kernel) {
  // The one operation for every dtype is where: it chooses by bool.
  if constexpr (types == ANY)
    kernel = {ternary_loop<Op, T, ChoiceLanes<T>>, dtype_of<T>};
  else if constexpr (types & Lanes<T>::type)
    kernel = {ternary_loop<Op, T, SameLanes<T>>, dtype_of<T>};
}

template <class T>
void fill(ElementwiseTable& table) {
  constexpr int column = static_cast<int>(dtype_of<T>);
#define UNARY(name, types, _) fill_unary<T, op::name, types>(table.at(Opcode::name, column));
#define TEST(name, types, _) fill_unary<T, op::name, types>(table.at(Opcode::name, column));
#define BINARY(name, types, _) fill_binary<T, op::name, types>(table.at(Opcode::name, column));
#define COMPARE(name, types, _) fill_binary<T, op::name, types>(table.at(Opcode::name, column));
#define TERNARY(name, types, _) fill_ternary<T, op::name, types>(table.at(Opcode::name, column));
#include "elementwise.def"
}

}  // namespace tessella::TS_ISA
