// Attention, and its gradients: from tensors to heads, each with its matrices.
#include "../launch/attention.h"

#include <algorithm>

#include "../threads.h"
#include "fused.h"

namespace tessella {

namespace {

constexpr int MATRIX = 2;  // the last axes of q, k and v; those before are the batch

// Rows whose elements are adjacent.
bool has_rows(const Tensor* x) {
  return x->ndim >= MATRIX && (x->shape()[x->ndim - 1] < 2 || x->strides()[x->ndim - 1] == 1);
}

int64_t size_at(const Tensor* x,
                int axis) {  // counted from the last; 1 where there is no such axis
  return axis <= x->ndim ? x->shape()[x->ndim - axis] : 1;
}
// Where a number would overflow it is as large as there is none, so that no allocator has as much.
int64_t product(std::initializer_list<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    if (size == 0) return 0;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(all, size, &all)) return INT64_MAX;
  return all;
}
int64_t sum(int64_t x, int64_t y) {
  int64_t both;
  return __builtin_add_overflow(x, y, &both) ? INT64_MAX : both;
}

int64_t stride_at(const Tensor* x, int axis) {  // 0 where it is repeated
  return axis <= x->ndim && x->shape()[x->ndim - axis] != 1 ? x->strides()[x->ndim - axis] : 0;
}

// q, k, v, mask, lengths; is_causal, scale, is_grouped
struct AttentionValues {
  Tensor *q, *k, *v, *mask, *lengths;
  bool is_grouped;
  int ndim;                 // of the result
  int64_t shape[MAX_NDIM];  // of the result
  launch::AttentionTask task;

  bool read(Values operands, Values params) {
    q = tensor_or_none(operands[0]), k = tensor_or_none(operands[1]);
    v = tensor_or_none(operands[2]), mask = tensor_or_none(operands[3]);
    lengths = tensor_or_none(operands[4]);
    if (!q || !k || !v || (!mask && operands[3] != Py_None)) return false;
    if (!lengths && operands[4] != Py_None) return false;
    if (!read_truth(params[0], &task.is_causal) || !read_real(params[1], &task.scale) ||
        !read_truth(params[2], &is_grouped))
      return false;
    if (kind(q->dtype) != DKind::floating || k->dtype != q->dtype || v->dtype != q->dtype)
      return false;
    return has_rows(q) && has_rows(k) && has_rows(v) && read_sizes() && read_batch() &&
           read_mask() && read_lengths();
  }

  bool read_sizes() {
    task.dtype = q->dtype;
    task.queries = size_at(q, 2), task.features = size_at(q, 1);
    task.keys = size_at(k, 2), task.width = size_at(v, 1);
    return size_at(k, 1) == task.features && size_at(v, 2) == task.keys;
  }

  // The axes before the matrix. That of the heads, the last of them, is parted into the heads of
  // keys, and the group that shares one.
  bool read_batch() {
    ndim = std::max(q->ndim, std::max(k->ndim, v->ndim));
    for (int axis = ndim; axis > MATRIX; --axis) {
      int64_t sizes[] = {size_at(q, axis), size_at(k, axis), size_at(v, axis)}, found = 1;
      bool is_head = axis == MATRIX + 1;
      if (is_head && is_grouped) {
        if (q->ndim < axis || k->ndim < axis || sizes[1] != sizes[2]) return false;
        if (sizes[1] == 0 || sizes[0] % sizes[1]) return false;
        found = sizes[0];
      } else {
        for (int64_t size : sizes)
          if (size != 1) found = size;
        for (int64_t size : sizes)
          if (size != 1 && size != found) return false;
      }
      shape[ndim - axis] = found;
    }
    if (is_grouped && ndim == MATRIX) return false;
    shape[ndim - 2] = task.queries, shape[ndim - 1] = task.width;
    task.batch_ndim = ndim - MATRIX;
    for (int i = 0; i < task.batch_ndim; ++i) task.batch_shape[i] = shape[i];
    task.group = 1;
    bool is_shared = size_at(k, 3) == 1 && size_at(v, 3) == 1;
    if (ndim == MATRIX || !(is_grouped || is_shared)) return true;
    task.batch_shape[ndim - 3] = size_at(k, 3);
    task.group = shape[ndim - 3] / size_at(k, 3);
    return true;
  }

  // Strides over the result's batch, of a tensor whose matrices are its last two axes.
  void spread(const Tensor* x, bool has_groups, launch::AttentionMatrix* out) const {
    for (int i = 0; i < task.batch_ndim; ++i) out->batch[i] = stride_at(x, ndim - i);
    out->row = stride_at(x, 2);
    out->head = 0;
    if (!has_groups || ndim == MATRIX) return;
    out->head = stride_at(x, 3);
    out->batch[ndim - 3] *= task.group;
  }

  bool read_mask() {
    task.mask.data = nullptr, task.mask_col = 0, task.is_bool = false;
    for (int64_t& stride : task.mask.batch) stride = 0;
    if (!mask) return true;
    task.is_bool = mask->dtype == DType::boolean;
    if (!task.is_bool && mask->dtype != compute_dtype(q->dtype)) return false;
    if (mask->ndim > ndim || task.is_causal) return false;
    for (int axis = 1; axis <= mask->ndim; ++axis) {
      int64_t wanted = axis == 1 ? task.keys : shape[ndim - axis];
      if (size_at(mask, axis) != 1 && size_at(mask, axis) != wanted) return false;
    }
    spread(mask, true, &task.mask);
    task.mask_col = stride_at(mask, 1);
    return true;
  }

  // One for all, or one for each place of the first axis of q and k: heads of a group have one.
  bool read_lengths() {
    for (int64_t& stride : task.lengths_batch) stride = 0;
    task.lengths = nullptr;
    if (!lengths) return true;
    if (lengths->dtype != DType::int64 || lengths->ndim > 1) return false;
    if (lengths->ndim == 0) return true;
    int axis = std::max(q->ndim, k->ndim);
    int64_t places = std::max(size_at(q, axis), size_at(k, axis));
    if (axis == MATRIX || size_at(lengths, 1) != places) return false;
    if (axis == MATRIX + 1 && task.group != 1) return false;
    task.lengths_batch[ndim - axis] = stride_at(lengths, 1);
    return true;
  }

  void begin(bool interruptible) {
    spread(q, true, &task.q), spread(k, false, &task.k), spread(v, false, &task.v);
    task.q.data = q->data(), task.k.data = k->data(), task.v.data = v->data();
    if (mask) task.mask.data = mask->data();
    if (lengths) task.lengths = reinterpret_cast<const int64_t*>(lengths->data());
    task.interruptible = interruptible;
    task.workers = num_threads();
  }

  int64_t heads() const {  // of keys
    int64_t all = 1;
    for (int i = 0; i < task.batch_ndim; ++i) all = product({all, task.batch_shape[i]});
    return all;
  }
  int64_t kept_size() const {
    return product({heads(), task.group, task.queries, sum(task.width, 2)});
  }

  // In units of an element of elementwise work; a float, so that it cannot overflow.
  int64_t work() const {
    constexpr double PRODUCTS_PER_ELEMENT = 8;
    double terms = static_cast<double>(task.features) + static_cast<double>(task.width);
    double products = terms / PRODUCTS_PER_ELEMENT + 1;
    double rows = static_cast<double>(product({heads(), task.group, task.queries}));
    double work = rows * static_cast<double>(task.keys) * products;
    return work < 1e18 ? static_cast<int64_t>(work) : INT64_MAX;
  }
};

// q, k, v, mask, lengths; is_causal, scale, is_grouped, keeps
bool attention_outline(Values values, Outline* out) {
  AttentionValues of;
  bool keeps;
  if (!of.read(values, values + 5) || !read_truth(values[8], &keeps)) return false;
  if (keeps) {
    out->dtype = compute_dtype(of.q->dtype);
    out->ndim = 1;
    out->shape[0] = of.kept_size();
    return true;
  }
  out->dtype = of.q->dtype;
  out->ndim = of.ndim;
  for (int i = 0; i < of.ndim; ++i) out->shape[i] = of.shape[i];
  return true;
}

void attention_run(Values values, Tensor* out, bool interruptible) {
  AttentionValues of;
  of.read(values, values + 5);
  bool keeps = values[8] == Py_True;
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::attention_scratch_bytes(of.task, keeps)));
  LongWork work(of.work(), {of.q, of.k, of.v, out}, Present(of.mask, of.lengths));
  launch::attention(of.task, keeps, out->data(), scratch.data());
}

// dout, kept, q, k, v, mask, lengths; is_causal, scale, is_grouped. The result is flat: dq, dk, dv.
struct BackValues : AttentionValues {
  Tensor *dout, *kept;

  bool read(Values values) {
    dout = tensor_or_none(values[0]), kept = tensor_or_none(values[1]);
    if (!dout || !kept || !AttentionValues::read(values + 2, values + 7)) return false;
    if (dout->dtype != q->dtype || dout->ndim != ndim || !has_rows(dout)) return false;
    for (int i = 0; i < ndim; ++i)
      if (dout->shape()[i] != shape[i]) return false;
    return is_plain(kept, compute_dtype(q->dtype)) && kept->ndim == 1 && kept->size == kept_size();
  }
};

bool back_outline(Values values, Outline* out) {
  BackValues of;
  if (!of.read(values)) return false;
  out->dtype = compute_dtype(of.q->dtype);
  out->ndim = 1;
  out->shape[0] = sum(product({of.heads(), of.task.group, of.task.queries, of.task.features}),
                      product({of.heads(), of.task.keys, sum(of.task.features, of.task.width)}));
  return true;
}

void back_run(Values values, Tensor* out, bool interruptible) {
  BackValues of;
  of.read(values);
  of.begin(interruptible);
  launch::AttentionMatrix dout;
  of.spread(of.dout, true, &dout);
  dout.data = of.dout->data();
  Scratch scratch(static_cast<size_t>(launch::attention_back_scratch_bytes(of.task)));
  LongWork work(of.work(), {of.dout, of.kept, of.q, of.k, of.v, out}, Present(of.mask, of.lengths));
  launch::attention_back(of.task, dout, of.kept->data(), out->data(), scratch.data());
}

}  // namespace

const FusedOp ATTENTION = {"attention", 5, 4, attention_outline, attention_run};
const FusedOp ATTENTION_BACK = {"attention_back", 7, 3, back_outline, back_run};

}  // namespace tessella
