// Dropout, and rows of tables with their gradient.
#include "../launch/dropout.h"
#include "../launch/embedding.h"
#include "fused.h"
#include "tape.h"

namespace tessella {

namespace {

// --- dropout: x; key, counter, p -----------------------------------------------------------------

bool read_word(PyObject* value, uint64_t* out) {
  if (!PyLong_CheckExact(value)) return false;
  *out = PyLong_AsUnsignedLongLong(value);
  bool is_good = !PyErr_Occurred();
  PyErr_Clear();
  return is_good;
}

bool read_dropout(Values values, Tensor** x, launch::DropoutTask* task) {
  *x = tensor_or_none(values[0]);
  return *x && kind((*x)->dtype) == DKind::floating && (*x)->is_contiguous &&
         read_word(values[1], &task->key) && read_word(values[2], &task->counter) &&
         read_real(values[3], &task->p);
}

bool dropout_outline(Values values, Outline* out) {
  Tensor* x;
  launch::DropoutTask task;
  if (!read_dropout(values, &x, &task)) return false;
  out->take(x);
  return true;
}

void run_dropout(Tensor* x, Tensor* out, launch::DropoutTask task, bool interruptible) {
  Noted noted;
  if (is_taping()) {
    noted.take("drop", name_real("p", task.p), {out}, {x},
               [=](Tensor* const* all, const Draw& draw) {
                 launch::DropoutTask again = task;
                 again.key = draw.key, again.counter = draw.counter;
                 run_dropout(all[1], all[0], again, interruptible);
               });
    noted.draw({task.key, task.counter});
  }
  if (noted.is_rehearsed()) return;
  task.dtype = x->dtype;
  task.n = x->size;
  task.x = x->data();
  task.interruptible = interruptible;
  LongWork work(x->size, {x, out});
  launch::dropout(task, out->data());
}

void dropout_run(Values values, Tensor* out, bool interruptible) {
  Tensor* x;
  launch::DropoutTask task;
  read_dropout(values, &x, &task);
  run_dropout(x, out, task, interruptible);
}

// --- tables --------------------------------------------------------------------------------------

launch::EmbeddingTask task_of(const Tensor* indices, int64_t rows, int64_t row_bytes,
                              bool interruptible) {
  return {indices->size, reinterpret_cast<const int64_t*>(indices->data()), rows, row_bytes,
          interruptible};
}

// weight (V, D), indices; padding, is_mean: what the gradient asks for.
bool embed_outline(Values values, Outline* out) {
  Tensor *weight = tensor_or_none(values[0]), *indices = tensor_or_none(values[1]);
  int64_t padding;
  bool is_mean;
  if (!weight || weight->ndim != 2 || !weight->is_contiguous) return false;
  if (!is_plain(indices, DType::int64) || indices->ndim >= MAX_NDIM) return false;
  out->take(indices);
  out->dtype = weight->dtype;
  out->shape[out->ndim++] = weight->shape()[1];
  return read_int(values[2], &padding) && read_truth(values[3], &is_mean);
}

void embed_run(Values values, Tensor* out, bool interruptible) {
  Tensor *weight = as_tensor(values[0]), *indices = as_tensor(values[1]);
  int64_t row_bytes = weight->shape()[1] * itemsize(weight->dtype), bad;
  {
    LongWork work(out->size, {weight, indices, out});
    bad = launch::embed(task_of(indices, weight->shape()[0], row_bytes, interruptible),
                        weight->data(), out->data());
  }
  if (bad == launch::ALL_ROWS_GOOD) return;
  int64_t place[MAX_NDIM], rest = bad;
  for (int i = indices->ndim - 1; i >= 0; --i) {
    place[i] = rest % indices->shape()[i];
    rest /= indices->shape()[i];
  }
  int64_t index = reinterpret_cast<const int64_t*>(indices->data())[bad];
  fail_table_row(index, {place, indices->ndim}, weight->shape()[0]);
}

// dout, indices; rows, padding, is_mean.
bool embed_back_outline(Values values, Outline* out) {
  Tensor *dout = tensor_or_none(values[0]), *indices = tensor_or_none(values[1]);
  int64_t rows, padding;
  bool is_mean;
  if (!dout || dout->ndim == 0 || !dout->is_contiguous || !is_plain(indices, DType::int64))
    return false;
  if (!has_gradients(dout->dtype) || compute_dtype(dout->dtype) != dout->dtype) return false;
  if (dout->ndim != indices->ndim + 1) return false;
  for (int i = 0; i < indices->ndim; ++i)
    if (dout->shape()[i] != indices->shape()[i]) return false;
  if (!read_int(values[2], &rows) || rows < 0) return false;
  out->dtype = dout->dtype;
  out->ndim = 2;
  out->shape[0] = rows;
  out->shape[1] = dout->shape()[indices->ndim];
  return read_int(values[3], &padding) && read_truth(values[4], &is_mean);
}

void embed_back_run(Values values, Tensor* out, bool interruptible) {
  Tensor *dout = as_tensor(values[0]), *indices = as_tensor(values[1]);
  int64_t rows = out->shape()[0], row_bytes = out->shape()[1] * itemsize(out->dtype);
  launch::EmbeddingBackTask task{.of = task_of(indices, rows, row_bytes, interruptible),
                                 .dtype = out->dtype,
                                 .padding = -1,
                                 .is_mean = false};
  read_int(values[3], &task.padding);
  read_truth(values[4], &task.is_mean);
  Scratch scratch(task.is_mean ? static_cast<size_t>(rows) * sizeof(int64_t) : 0);
  LongWork work(dout->size + out->size, {dout, indices, out});
  launch::embed_back(task, dout->data(), out->data(), scratch.data());
}

}  // namespace

const FusedOp DROPOUT = {"drop", 1, 3, dropout_outline, dropout_run};
const FusedOp EMBED = {"embed", 2, 2, embed_outline, embed_run};
const FusedOp EMBED_BACK = {"embed_back", 2, 3, embed_back_outline, embed_back_run};

}  // namespace tessella
