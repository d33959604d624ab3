// Tensors to the drivers of reductions and of operations on lines. Scratch is taken and given back
// with the interpreter's lock held, so it outlives the work that lets go of the lock.
#include "../launch/rows.h"
#include "../threads.h"
#include "run.h"

namespace tessella {

void run_reduce(launch::ReduceOp op, Tensor* x, uint64_t axes, Tensor* out, bool interruptible) {
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
