// Tensors to the drivers of reductions and of operations on lines. Scratch is taken and given back
// with the interpreter's lock held, so it outlives the work that lets go of the lock.
#include "../launch/rows.h"
#include "../threads.h"
#include "run.h"
#include "tape.h"

namespace tessella {

void run_reduce(launch::ReduceOp op, Tensor* x, uint64_t axes, Tensor* out, bool interruptible) {
  Noted noted;
  if (is_taping()) {
    std::vector<int64_t> named;
    for (int i = 0; i < x->ndim; ++i)
      if (axes >> i & 1) named.push_back(i);
    noted.take(REDUCE_NAMES[static_cast<int>(op)], name_values("axes", named), {out}, {x},
               [=](Tensor* const* operands, const Draw&) {
                 run_reduce(op, operands[1], axes, operands[0], interruptible);
               });
    noted.is_reduction({op, axes, interruptible});
  }
  if (noted.is_rehearsed()) return;
  launch::ReduceTask task{.op = op,
                          .dtype = x->dtype,
                          .ndim = x->ndim,
                          .shape = x->shape(),
                          .strides = x->strides(),
                          .data = x->data(),
                          .reduced_axes = axes,
                          .out = out->data(),
                          .interruptible = interruptible};
  // What fits the smallest block needs no scratch; asking would plan the reduction twice.
  bool is_one_block = x->size <= reduce_block(itemsize(DType::complex128));
  Scratch scratch(is_one_block ? 0 : static_cast<size_t>(launch::reduce_scratch_bytes(task)));
  LongWork work(x->size, {x, out});
  launch::reduce(task, scratch.data());
}

void run_rows(RowsOp op, Tensor* x, int axis, Tensor* out, bool interruptible) {
  Noted noted;
  if (is_taping())
    noted.take(ROWS_NAMES[static_cast<int>(op)], name_value("axis", axis), {out}, {x},
               [=](Tensor* const* operands, const Draw&) {
                 run_rows(op, operands[1], axis, operands[0], interruptible);
               });
  if (noted.is_rehearsed()) return;
  constexpr int64_t PASSES = 4;  // a maximum, exponentials, their sum, and the quotients
  launch::RowsTask task{.is_log = op == RowsOp::log_softmax,
                        .dtype = x->dtype,
                        .ndim = x->ndim,
                        .shape = x->shape(),
                        .strides = x->strides(),
                        .data = x->data(),
                        .axis = axis,
                        .out = {out->data(), out->dtype, out->strides()},
                        .interruptible = interruptible,
                        .workers = num_threads()};
  Scratch scratch(static_cast<size_t>(launch::rows_scratch_bytes(task)));
  LongWork work(x->size * PASSES, {x, out});
  launch::rows(task, scratch.data());
}

}  // namespace tessella
