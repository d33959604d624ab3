// Tensors to the driver of the matrix product. A vector on the left is a row, on the right a
// column, and the result has no axis for it.
#include "../launch/matmul_plan.h"
#include "../threads.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

// How many axes of x are its matrix; the others are the batch.
struct Axes {
  bool has_rows, has_cols;
  int count() const { return has_rows + has_cols; }
};

// A matrix without its memory, which `aim` gives it.
launch::MatmulOperand matrix_of(const Tensor* x, Axes axes, const int64_t* batch_strides) {
  const int64_t* steps = x->strides() + x->ndim - axes.count();
  // The stride of an axis that is not there is never used; 1 is as good as any.
  int64_t row = axes.has_rows ? *steps++ : 1;
  int64_t col = axes.has_cols ? *steps : 1;
  return {nullptr, row, col, batch_strides};
}

void aim(launch::MatmulTask* task, const Tensor* a, const Tensor* b, const Tensor* out) {
  task->a.data = a->data(), task->b.data = b->data(), task->c.data = out->data();
}

// Strides of x's batch axes over those of out, 0 where they broadcast.
void spread_batch(const Tensor* x, Axes axes, const int64_t* shape, int ndim, int64_t* strides) {
  int added = ndim - (x->ndim - axes.count());
  for (int i = 0; i < ndim; ++i) {
    bool repeats = i < added || (x->shape()[i - added] == 1 && shape[i] != 1);
    strides[i] = repeats ? 0 : x->strides()[i - added];
  }
}

// Multiply-adds in units of an element of elementwise work; a float, so that it cannot overflow.
int64_t work_of(const Tensor* out, int64_t k) {
  constexpr double PRODUCTS_PER_ELEMENT = 8;
  double work = static_cast<double>(out->size) * static_cast<double>(k) / PRODUCTS_PER_ELEMENT;
  return work < 1e18 ? static_cast<int64_t>(work) : INT64_MAX;
}

// Does what a task says, which is about these tensors.
void run_task(launch::MatmulTask task, Tensor* a, Tensor* b, Tensor* out) {
  aim(&task, a, b, out);
  int threads = num_threads();
  launch::MatmulPlan plan = launch::plan_matmul(task);
  Scratch scratch(static_cast<size_t>(plan.scratch_bytes(threads)));
  LongWork work(work_of(out, task.k), {a, b, out});
  launch::matmul(task, plan, scratch.data(), threads);
}

// How a product is repeated: by `repeat`, or, where it is small, by its task as it is known
// already.
RepeatProduct repetition(launch::MatmulTask task, RepeatProduct repeat) {
  launch::MatmulPlan plan = launch::plan_matmul(task);
  if (plan.way == launch::MatmulWay::planned) return repeat;
  task.batch_shape = task.a.batch_strides = task.b.batch_strides = task.c.batch_strides = nullptr;
  return [task, way = plan.way](Tensor* const* operands, const launch::MatmulTail* tail) {
    launch::MatmulTask now = task;
    aim(&now, operands[1], operands[2], operands[0]);
    now.tail = tail;
    launch::MatmulPlan small;
    small.way = way;
    launch::matmul(now, small, nullptr, 1);
  };
}

void note(Noted* noted, const char* name, std::string params, Tensor* a, Tensor* b, Tensor* out,
          const RepeatProduct& repeat) {
  noted->take(name, std::move(params), {out}, {a, b},
              [repeat](Tensor* const* operands, const Draw&) { repeat(operands, nullptr); });
  noted->is_product(repeat);
}

}  // namespace

void run_matmul(Tensor* a, Tensor* b, Tensor* out, bool accumulate, bool interruptible,
                const launch::MatmulTail* tail) {
  Axes a_axes{a->ndim > 1, true}, b_axes{true, b->ndim > 1};
  Axes out_axes{a_axes.has_rows, b_axes.has_cols};
  int batch_ndim = out->ndim - out_axes.count();
  int64_t a_strides[MAX_NDIM], b_strides[MAX_NDIM];
  spread_batch(a, a_axes, out->shape(), batch_ndim, a_strides);
  spread_batch(b, b_axes, out->shape(), batch_ndim, b_strides);
  launch::MatmulTask task{.dtype = out->dtype,
                          .m = a_axes.has_rows ? a->shape()[a->ndim - 2] : 1,
                          .n = b_axes.has_cols ? b->shape()[b->ndim - 1] : 1,
                          .k = a->shape()[a->ndim - 1],
                          .batch_ndim = batch_ndim,
                          .batch_shape = out->shape(),
                          .a = matrix_of(a, a_axes, a_strides),
                          .b = matrix_of(b, b_axes, b_strides),
                          .c = matrix_of(out, out_axes, out->strides()),
                          .accumulate = accumulate,
                          .interruptible = interruptible && !(tail && tail->writes_outside),
                          .tail = tail};
  Noted noted;
  if (is_taping()) {
    auto repeat = [=](Tensor* const* operands, const launch::MatmulTail* after) {
      run_matmul(operands[1], operands[2], operands[0], accumulate, interruptible, after);
    };
    note(&noted, "matmul", name_flag("accumulate", accumulate), a, b, out,
         repetition(task, repeat));
  }
  if (!noted.is_rehearsed()) run_task(task, a, b, out);
}

namespace {

void run_product(Tensor* x, Tensor* weight, Tensor* out, bool interruptible,
                 const launch::MatmulTail* tail) {
  Axes axes{x->ndim > 1, true};
  int batch_ndim = out->ndim - axes.count();
  int64_t x_strides[MAX_NDIM], none[MAX_NDIM] = {};
  spread_batch(x, axes, out->shape(), batch_ndim, x_strides);
  const int64_t* steps = weight->strides();  // (n, k), read as its transpose
  launch::MatmulTask task{.dtype = out->dtype,
                          .m = axes.has_rows ? x->shape()[x->ndim - 2] : 1,
                          .n = weight->shape()[0],
                          .k = weight->shape()[1],
                          .batch_ndim = batch_ndim,
                          .batch_shape = out->shape(),
                          .a = matrix_of(x, axes, x_strides),
                          .b = {nullptr, steps[1], steps[0], none},
                          .c = matrix_of(out, axes, out->strides()),
                          .accumulate = false,
                          .interruptible = interruptible && !(tail && tail->writes_outside),
                          .tail = tail};
  Noted noted;
  if (is_taping()) {
    auto repeat = [=](Tensor* const* operands, const launch::MatmulTail* after) {
      run_product(operands[1], operands[2], operands[0], interruptible, after);
    };
    note(&noted, "linear", "", x, weight, out, repetition(task, repeat));
  }
  if (!noted.is_rehearsed()) run_task(task, x, weight, out);
}

}  // namespace

// On a tape it is two operations.
void run_linear(Tensor* x, Tensor* weight, Tensor* bias, Tensor* out, bool interruptible) {
  run_product(x, weight, out, interruptible, nullptr);
  if (!bias) return;
  Input inputs[] = {{out, nullptr, out->dtype}, {bias, nullptr, out->dtype}};
  run_elementwise(Opcode::add, out->dtype, out, inputs, 2, interruptible);
}

}  // namespace tessella
