// Losses of pairs of numbers, cross entropy and the negative log likelihood with classes, and their
// gradients.
#include "../launch/pair_loss.h"

#include "../threads.h"
#include "fused.h"

namespace tessella {

namespace {

// --- pairs ---------------------------------------------------------------------------------------

bool read_pair_loss(PyObject* value, PairLoss* out) {
  if (!PyUnicode_Check(value)) return false;
  for (int i = 0; i < PAIR_LOSSES; ++i)
    if (PyUnicode_CompareWithASCIIString(value, PAIR_LOSS_NAMES[i]) == 0)
      return *out = static_cast<PairLoss>(i), true;
  return false;
}

// x, target, loss, parameter, reduction
struct PairValues {
  Tensor *x, *target;
  launch::PairLossTask task;

  bool read(Values values) {
    x = tensor_or_none(values[0]);
    target = tensor_or_none(values[1]);
    return x && kind(x->dtype) == DKind::floating && is_plain(x, x->dtype) &&
           is_plain(target, x->dtype) && has_shape_of(x, target) &&
           read_pair_loss(values[2], &task.loss) && read_real(values[3], &task.p) &&
           read_reduction(values[4], &task.reduction);
  }

  void begin(bool interruptible) {
    task.dtype = x->dtype;
    task.n = x->size;
    task.x = x->data();
    task.y = target->data();
    task.interruptible = interruptible;
  }
};

bool pair_outline(Values values, Outline* out) {
  PairValues of;
  if (!of.read(values)) return false;
  if (of.task.reduction == launch::Reduction::none) out->take(of.x);
  out->dtype = of.x->dtype;
  return true;
}

void pair_run(Values values, Tensor* out, bool interruptible) {
  PairValues of;
  of.read(values);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::pair_loss_scratch_bytes(of.task)));
  LongWork work(of.x->size, {of.x, of.target, out});
  launch::pair_loss(of.task, out->data(), scratch.data());
}

bool pair_back_outline(Values values, Outline* out) {
  PairValues of;
  Tensor* dout = tensor_or_none(values[0]);
  if (!of.read(values + 1) || !is_plain(dout, of.x->dtype)) return false;
  out->take(of.x);
  bool is_each = of.task.reduction == launch::Reduction::none;
  return is_each ? has_shape_of(dout, of.x) : dout->ndim == 0;
}

void pair_back_run(Values values, Tensor* out, bool interruptible) {
  PairValues of;
  of.read(values + 1);
  of.begin(interruptible);
  Tensor* dout = as_tensor(values[0]);
  LongWork work(of.x->size, {dout, of.x, of.target, out});
  launch::pair_loss_back(of.task, out->data(), dout->data());
}

// --- classes -------------------------------------------------------------------------------------

// x, target, weight, is_log, ignore_index, reduction, label_smoothing
struct ClassValues {
  Tensor *x, *target, *weight;
  launch::ClassLossTask task;

  bool read(Values values) {
    x = tensor_or_none(values[0]);
    target = tensor_or_none(values[1]);
    weight = tensor_or_none(values[2]);
    if (!x || x->ndim == 0 || kind(x->dtype) != DKind::floating) return false;
    if (!is_plain(target, DType::int64) || target->ndim != x->ndim - 1) return false;
    task.axis = x->ndim > 1 ? 1 : 0;
    for (int i = 0; i < target->ndim; ++i)
      if (target->shape()[i] != x->shape()[i < task.axis ? i : i + 1]) return false;
    return is_vector(values[2], x->dtype, x->shape()[task.axis]) &&
           read_truth(values[3], &task.is_log) && read_int(values[4], &task.ignore_index) &&
           read_reduction(values[5], &task.reduction) && read_real(values[6], &task.smoothing) &&
           task.smoothing >= 0 && task.smoothing <= 1 && !(task.is_log && task.smoothing != 0);
  }

  void begin(bool interruptible) {
    task.dtype = x->dtype;
    task.ndim = x->ndim;
    task.shape = x->shape();
    task.strides = x->strides();
    task.data = x->data();
    task.target = reinterpret_cast<const int64_t*>(target->data());
    task.weight = weight ? weight->data() : nullptr;
    task.interruptible = interruptible;
    task.workers = num_threads();
  }
};

constexpr int64_t PASSES = 4;  // a maximum, exponentials, their sum, and what is made of them

[[noreturn]] void fail_at(const ClassValues& of, int64_t at) {
  int64_t place[MAX_NDIM], rest = at;
  for (int i = of.target->ndim - 1; i >= 0; --i) {
    place[i] = rest % of.target->shape()[i];
    rest /= of.target->shape()[i];
  }
  fail_class(of.task.target[at], {place, of.target->ndim}, of.x->shape()[of.task.axis],
             of.task.ignore_index);
}

bool loss_outline(Values values, Outline* out) {
  ClassValues of;
  if (!of.read(values)) return false;
  if (of.task.reduction == launch::Reduction::none) out->take(of.target);
  out->dtype = of.x->dtype;
  return true;
}

void loss_run(Values values, Tensor* out, bool interruptible) {
  ClassValues of;
  of.read(values);
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::class_loss_scratch_bytes(of.task)));
  int64_t bad;
  {
    Tensor* weight[] = {of.weight};
    LongWork work(of.x->size * PASSES, {of.x, of.target, out}, {weight, of.weight ? 1u : 0u});
    bad = launch::class_loss(of.task, out->data(), scratch.data());
  }
  if (bad != launch::ALL_CLASSES_GOOD) fail_at(of, bad);
}

bool back_outline(Values values, Outline* out) {
  ClassValues of;
  if (!of.read(values + 1)) return false;
  Tensor* dout = tensor_or_none(values[0]);
  bool is_each = of.task.reduction == launch::Reduction::none;
  if (!is_plain(dout, of.x->dtype)) return false;
  out->take(of.x);
  return is_each ? has_shape_of(dout, of.target) : dout->ndim == 0;
}

void back_run(Values values, Tensor* out, bool interruptible) {
  ClassValues of;
  of.read(values + 1);
  of.begin(interruptible);
  Tensor* dout = tensor_or_none(values[0]);
  Scratch scratch(static_cast<size_t>(launch::class_loss_back_scratch_bytes(of.task)));
  Tensor* weight[] = {of.weight};
  LongWork work(of.x->size * PASSES, {dout, of.x, of.target, out}, {weight, of.weight ? 1u : 0u});
  launch::class_loss_back(of.task, out->data(), dout->data(), scratch.data());
}

}  // namespace

const FusedOp PAIR_LOSS = {"pair_loss", 2, 3, pair_outline, pair_run};
const FusedOp PAIR_LOSS_BACK = {"pair_loss_back", 3, 3, pair_back_outline, pair_back_run};
const FusedOp CLASS_LOSS = {"class_loss", 3, 4, loss_outline, loss_run};
const FusedOp CLASS_LOSS_BACK = {"class_loss_back", 4, 4, back_outline, back_run};

}  // namespace tessella
