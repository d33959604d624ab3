// The formulas of optimizers' updates, each for one vector of elements, and the loop around them.
// They are PyTorch's, with divisions by what all elements share made products. What they have in
// common is done before a formula is asked: the sign of the gradient and the decay of weights.
#include "updates.h"

#include "lanes.h"

namespace tessella::TS_ISA {

namespace {

using Double = VecN<double, 1>;

double power(double x, double y) { return simd::pow(Double{x}, Double{y})[0]; }
// Of two numbers at once, which takes no longer.
VecN<double, 2> powers(double x0, double x1, double y) {
  return simd::pow(VecN<double, 2>{x0, x1}, VecN<double, 2>{y, y});
}
double root(double x) { return sqrt(Double{x})[0]; }

// The places of factors: those of the loop, of most formulas, of single ones.
enum { DECAY, SHRINK, EPSILON, A, B, C, D, E, F, G };

void set_decay(double weight_decay, bool is_decoupled, double rate, UpdateFactors* f) {
  f->decays = weight_decay != 0 && !is_decoupled;
  f->shrinks = weight_decay != 0 && is_decoupled;
  f->values[DECAY] = weight_decay;
  f->values[SHRINK] = 1 - rate * weight_decay;
}

// How many steps there are with this one.
double advance(double* counters) { return counters[0] += 1; }

// What a formula works on: the parameter and its states change where they stand.
template <class V>
struct Elements {
  V p, g;
  V s[UPDATE_STATES];
  bool has[UPDATE_STATES];
  const V* f;
  bool is_variant;

  // A running mean: s[i] = s[i] * f[keep] + x * f[take]
  TS_MEMBER V blend(int i, int keep, V x, int take) { return s[i] = s[i] * f[keep] + x * f[take]; }
};

// momentum_buffer | step | lr, momentum | dampening, weight_decay, nesterov, maximize
struct sgd {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double rate = s.numbers[0], momentum = s.numbers[1];
    bool is_first = advance(counters) == 1;  // the buffer begins as the first gradient
    set_decay(s.constants[1], false, rate, f);
    f->is_variant = s.constants[2] != 0;
    f->negates = s.constants[3] != 0;
    f->values[A] = rate;
    f->values[B] = is_first ? 0 : momentum;
    f->values[C] = is_first ? 1 : 1 - s.constants[0];
    f->values[D] = momentum;
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V way = e.g;
    if (e.has[0]) {
      V buffer = e.blend(0, B, e.g, C);
      way = e.is_variant ? e.g + e.f[D] * buffer : buffer;
    }
    e.p -= e.f[A] * way;
  }
};

// exp_avg, exp_avg_sq, max_exp_avg_sq | step | lr, beta1, beta2
// | eps, weight_decay, maximize, decoupled_weight_decay
struct adam {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double rate = s.numbers[0], beta1 = s.numbers[1], beta2 = s.numbers[2];
    double step = advance(counters);
    set_decay(s.constants[1], s.constants[3] != 0, rate, f);
    f->negates = s.constants[2] != 0;
    f->values[A] = beta1;
    f->values[B] = 1 - beta1;
    f->values[C] = beta2;
    f->values[D] = 1 - beta2;
    VecN<double, 2> decayed = powers(beta1, beta2, step);
    f->values[E] = 1 / root(1 - decayed[1]);
    f->values[F] = rate / (1 - decayed[0]);
    f->values[EPSILON] = s.constants[0];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V mean = e.blend(0, A, e.g, B);
    V square = e.s[1] = e.s[1] * e.f[C] + e.f[D] * e.g * e.g;
    if (e.has[2]) square = e.s[2] = max(e.s[2], square);
    e.p -= e.f[F] * mean / (sqrt(square) * e.f[E] + e.f[EPSILON]);
  }
};

// square_avg, momentum_buffer, grad_avg | step | lr, momentum | alpha, eps, weight_decay, maximize
struct rmsprop {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    advance(counters);
    set_decay(s.constants[2], false, s.numbers[0], f);
    f->negates = s.constants[3] != 0;
    f->values[A] = s.constants[0];
    f->values[B] = 1 - s.constants[0];
    f->values[C] = s.numbers[0];
    f->values[D] = s.numbers[1];
    f->values[EPSILON] = s.constants[1];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V square = e.s[0] = e.s[0] * e.f[A] + e.f[B] * e.g * e.g;
    if (e.has[2]) {
      V mean = e.blend(2, A, e.g, B);
      square = max(square - mean * mean, V{});  // rounding may have made it negative
    }
    V below = sqrt(square) + e.f[EPSILON];
    if (e.has[1]) {
      e.s[1] = e.s[1] * e.f[D] + e.g / below;
      e.p -= e.f[C] * e.s[1];
    } else {
      e.p -= e.f[C] * e.g / below;
    }
  }
};

// sum | step | lr | lr_decay, weight_decay, eps, maximize
struct adagrad {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double step = advance(counters);
    set_decay(s.constants[1], false, s.numbers[0], f);
    f->negates = s.constants[3] != 0;
    f->values[A] = s.numbers[0] / (1 + (step - 1) * s.constants[0]);
    f->values[EPSILON] = s.constants[2];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    e.s[0] += e.g * e.g;
    e.p -= e.f[A] * e.g / (sqrt(e.s[0]) + e.f[EPSILON]);
  }
};

// square_avg, acc_delta | step | lr | rho, eps, weight_decay, maximize
struct adadelta {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    advance(counters);
    set_decay(s.constants[2], false, s.numbers[0], f);
    f->negates = s.constants[3] != 0;
    f->values[A] = s.constants[0];
    f->values[B] = 1 - s.constants[0];
    f->values[C] = s.numbers[0];
    f->values[EPSILON] = s.constants[1];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V square = e.s[0] = e.s[0] * e.f[A] + e.f[B] * e.g * e.g;
    V way = sqrt(e.s[1] + e.f[EPSILON]) / sqrt(square + e.f[EPSILON]) * e.g;
    e.s[1] = e.s[1] * e.f[A] + e.f[B] * way * way;
    e.p -= e.f[C] * way;
  }
};

// exp_avg, exp_inf | step | lr, beta1, beta2 | eps, weight_decay, maximize
struct adamax {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double beta1 = s.numbers[1], step = advance(counters);
    set_decay(s.constants[1], false, s.numbers[0], f);
    f->negates = s.constants[2] != 0;
    f->values[A] = beta1;
    f->values[B] = 1 - beta1;
    f->values[C] = s.numbers[2];
    f->values[D] = s.numbers[0] / (1 - power(beta1, step));
    f->values[EPSILON] = s.constants[0];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V mean = e.blend(0, A, e.g, B);
    V most = e.s[1] = max(e.s[1] * e.f[C], abs(e.g) + e.f[EPSILON]);
    e.p -= e.f[D] * mean / most;
  }
};

// exp_avg, exp_avg_sq | step, mu_product | lr, beta1, beta2
// | eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize
struct nadam {
  static double momentum_at(double step, double beta1, double decay) {
    return beta1 * (1 - 0.5 * power(0.96, step * decay));
  }
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double rate = s.numbers[0], beta1 = s.numbers[1], beta2 = s.numbers[2];
    double step = advance(counters);
    double now = momentum_at(step, beta1, s.constants[2]);
    double next = momentum_at(step + 1, beta1, s.constants[2]);
    double product = counters[1] *= now;
    set_decay(s.constants[1], s.constants[3] != 0, rate, f);
    f->negates = s.constants[4] != 0;
    f->values[A] = beta1;
    f->values[B] = 1 - beta1;
    f->values[C] = beta2;
    f->values[D] = 1 - beta2;
    f->values[E] = 1 / root(1 - power(beta2, step));
    f->values[F] = rate * (1 - now) / (1 - product);
    f->values[G] = rate * next / (1 - product * next);
    f->values[EPSILON] = s.constants[0];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V mean = e.blend(0, A, e.g, B);
    V square = e.s[1] = e.s[1] * e.f[C] + e.f[D] * e.g * e.g;
    V below = sqrt(square) * e.f[E] + e.f[EPSILON];
    e.p -= (e.f[F] * e.g + e.f[G] * mean) / below;
  }
};

// exp_avg, exp_avg_sq | step | lr, beta1, beta2
// | eps, weight_decay, decoupled_weight_decay, maximize
struct radam {
  static void prepare(const UpdateSettings& s, double* counters, UpdateFactors* f) {
    double rate = s.numbers[0], beta1 = s.numbers[1], beta2 = s.numbers[2];
    double step = advance(counters);
    double decayed = power(beta2, step), rest = 1 - decayed;
    double most = 2 / (1 - beta2) - 1;  // the length of the average, at last and now
    double length = most - 2 * step * decayed / rest;
    double shorter = (length - 4) * (length - 2) * most, longer = (most - 4) * (most - 2) * length;
    set_decay(s.constants[1], s.constants[2] != 0, rate, f);
    f->negates = s.constants[3] != 0;
    f->is_variant = length > 5;  // long enough for the variance to be known
    f->values[A] = beta1;
    f->values[B] = 1 - beta1;
    f->values[C] = beta2;
    f->values[D] = 1 - beta2;
    f->values[E] = rate / (1 - power(beta1, step));
    if (f->is_variant) f->values[E] *= root(shorter / longer) * root(rest);
    f->values[EPSILON] = s.constants[0];
  }
  template <class V>
  static TS_MEMBER void move(Elements<V>& e) {
    V mean = e.blend(0, A, e.g, B);
    V square = e.s[1] = e.s[1] * e.f[C] + e.f[D] * e.g * e.g;
    e.p -= e.is_variant ? e.f[E] * mean / (sqrt(square) + e.f[EPSILON]) : e.f[E] * mean;
  }
};

// One vector of a run: `read` and `write` are given the place of each operand.
template <class Formula, int States, class V, class T, class... Rest>
TS_INLINE void step(Elements<V> e, T* const* at, int64_t i, const UpdateFactors& factors,
                    Rest... rest) {
  using L = Lanes<T>;
  e.p = L::read(at[0] + i, rest...);
  e.g = L::read(at[1] + i, rest...);
  for (int k = 0; k < States; ++k)
    if (e.has[k]) e.s[k] = L::read(at[2 + k] + i, rest...);
  if (factors.negates) e.g = -e.g;
  if (factors.decays) e.g += e.f[DECAY] * e.p;
  if (factors.shrinks) e.p *= e.f[SHRINK];
  Formula::move(e);
  for (int k = 0; k < States; ++k)
    if (e.has[k]) L::write(at[2 + k] + i, e.s[k], rest...);
  L::write(at[0] + i, e.p, rest...);
}

template <class Formula, int States, class T>
void run(int64_t n, void* const* operands, const UpdateFactors& given) {
  using V = Vec<T>;
  constexpr int W = lanes<V>;
  const UpdateFactors factors = given;  // nobody writes to it meanwhile, which the compiler sees
  V f[UPDATE_FACTORS];
  T* at[UPDATE_OPERANDS];
  Elements<V> e{};
  for (int i = 0; i < UPDATE_FACTORS; ++i) f[i] = splat<V>(static_cast<T>(factors.values[i]));
  for (int k = 0; k < 2 + States; ++k) at[k] = static_cast<T*>(operands[k]);
  for (int k = 0; k < States; ++k) e.has[k] = at[2 + k] != nullptr;
  e.f = f;
  e.is_variant = factors.is_variant;
  int64_t i = 0;
  for (; i + W <= n; i += W) step<Formula, States>(e, at, i, factors);
  if (int rest = static_cast<int>(n - i)) step<Formula, States>(e, at, i, factors, rest);
}

}  // namespace

extern constexpr UpdateKernels update_kernels = {{
#define UPDATE(name, states, counters, numbers, constants) \
  {name::prepare, run<name, states, float>, run<name, states, double>},
#include "updates.def"
}};

}  // namespace tessella::TS_ISA
