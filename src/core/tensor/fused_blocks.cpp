// Blocks of quantised numbers: to numbers and back, products with them and their gradients.
#include "../launch/blocks.h"
#include "../threads.h"
#include "fused.h"

namespace tessella {

namespace {

bool read_format(PyObject* value, BlockFormat* out) {
  if (!PyUnicode_Check(value)) return false;
  for (int i = 0; i < BLOCK_FORMATS; ++i)
    if (PyUnicode_CompareWithASCIIString(value, BLOCKS[i].name) == 0) {
      *out = static_cast<BlockFormat>(i);
      return true;
    }
  return false;
}

int64_t last_size(const Tensor* x) { return x->shape()[x->ndim - 1]; }

const uint8_t* bytes_of(const Tensor* x) { return reinterpret_cast<const uint8_t*>(x->data()); }

// Rows of blocks.
bool read_blocks(PyObject* value, PyObject* format_value, Tensor** blocks, BlockFormat* format) {
  *blocks = tensor_or_none(value);
  return is_plain(*blocks, DType::uint8) && (*blocks)->ndim > 0 &&
         read_format(format_value, format) && last_size(*blocks) % info(*format).bytes == 0;
}

int64_t elements_of(const Tensor* blocks, BlockFormat format) {
  return last_size(blocks) / info(format).bytes * info(format).elements;
}

// --- blocks; format, dtype -----------------------------------------------------------------------

bool dequantize_outline(Values values, Outline* out) {
  Tensor* blocks;
  BlockFormat format = BlockFormat::q8_0;
  int64_t dtype;
  if (!read_blocks(values[0], values[1], &blocks, &format) || !read_int(values[2], &dtype))
    return false;
  if (dtype < 0 || dtype >= DTYPE_COUNT) return false;
  out->take(blocks);
  out->dtype = static_cast<DType>(dtype);
  out->shape[out->ndim - 1] = elements_of(blocks, format);
  return kind(out->dtype) == DKind::floating;
}

void dequantize_run(Values values, Tensor* out, bool interruptible) {
  Tensor* blocks;
  BlockFormat format = BlockFormat::q8_0;
  read_blocks(values[0], values[1], &blocks, &format);
  launch::BlocksTask task{format, out->dtype, out->size / info(format).elements, interruptible,
                          num_threads()};
  Scratch scratch(static_cast<size_t>(launch::blocks_scratch_bytes(task)));
  LongWork work(out->size, {blocks, out});
  launch::dequantize(task, out->data(), bytes_of(blocks), scratch.data());
}

// --- x; format -----------------------------------------------------------------------------------

bool quantize_outline(Values values, Outline* out) {
  Tensor* x = tensor_or_none(values[0]);
  BlockFormat format = BlockFormat::q8_0;
  if (!x || x->ndim == 0 || kind(x->dtype) != DKind::floating || !x->is_contiguous) return false;
  if (!read_format(values[1], &format) || !info(format).is_made) return false;
  if (last_size(x) % info(format).elements != 0) return false;
  out->take(x);
  out->dtype = DType::uint8;
  out->shape[out->ndim - 1] = row_bytes(format, last_size(x));
  return true;
}

void quantize_run(Values values, Tensor* out, bool interruptible) {
  Tensor* x = as_tensor(values[0]);
  BlockFormat format = BlockFormat::q8_0;
  read_format(values[1], &format);
  launch::BlocksTask task{format, x->dtype, x->size / info(format).elements, interruptible,
                          num_threads()};
  Scratch scratch(static_cast<size_t>(launch::blocks_scratch_bytes(task)));
  LongWork work(x->size, {x, out});
  launch::quantize(task, reinterpret_cast<uint8_t*>(out->data()), x->data(), scratch.data());
}

// --- products ------------------------------------------------------------------------------------

struct ProductValues {
  Tensor *x, *blocks, *bias = nullptr;
  launch::BlockProductTask task{};

  // x (…, k), or (…, n) of a gradient.
  bool read(PyObject* x_value, PyObject* blocks_value, PyObject* format, bool is_back) {
    x = tensor_or_none(x_value);
    if (!x || x->ndim == 0 || !x->is_contiguous) return false;
    if (x->dtype != DType::float32 && x->dtype != DType::float64) return false;
    if (!read_blocks(blocks_value, format, &blocks, &task.format) || blocks->ndim != 2)
      return false;
    task.dtype = x->dtype;
    task.n = blocks->shape()[0];
    task.k = elements_of(blocks, task.format);
    task.m = 1;
    for (int i = 0; i < x->ndim - 1; ++i) task.m *= x->shape()[i];
    return last_size(x) == (is_back ? task.n : task.k);
  }

  void begin(bool interruptible) {
    task.blocks = bytes_of(blocks);
    task.bias = bias ? bias->data() : nullptr;
    task.interruptible = interruptible;
    task.workers = num_threads();
  }
};

// x, blocks, bias; format, is_exact
bool read_product(Values values, ProductValues* of) {
  of->bias = tensor_or_none(values[2]);
  return of->read(values[0], values[1], values[3], false) &&
         is_vector(values[2], of->x->dtype, of->task.n) &&
         read_truth(values[4], &of->task.is_exact);
}

bool product_outline(Values values, Outline* out) {
  ProductValues of;
  if (!read_product(values, &of)) return false;
  out->take(of.x);
  out->shape[out->ndim - 1] = of.task.n;
  return true;
}

void product_run(Values values, Tensor* out, bool interruptible) {
  ProductValues of;
  read_product(values, &of);
  if (out->size == 0) return;
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::block_product_scratch_bytes(of.task)));
  LongWork work(of.x->size + of.blocks->size, {of.x, of.blocks, out}, Present(of.bias, nullptr));
  launch::block_product(of.task, out->data(), of.x->data(), scratch.data());
}

// g, blocks; format
bool back_outline(Values values, Outline* out) {
  ProductValues of;
  if (!of.read(values[0], values[1], values[2], true)) return false;
  out->take(of.x);
  out->shape[out->ndim - 1] = of.task.k;
  return true;
}

void back_run(Values values, Tensor* out, bool interruptible) {
  ProductValues of;
  of.read(values[0], values[1], values[2], true);
  if (out->size == 0) return;
  of.begin(interruptible);
  Scratch scratch(static_cast<size_t>(launch::block_product_back_scratch_bytes(of.task)));
  LongWork work(of.x->size + of.blocks->size, {of.x, of.blocks, out});
  launch::block_product_back(of.task, out->data(), of.x->data(), scratch.data());
}

}  // namespace

const FusedOp DEQUANTIZE = {"dequantize_blocks", 1, 2, dequantize_outline, dequantize_run};
const FusedOp QUANTIZE = {"quantize_blocks", 1, 1, quantize_outline, quantize_run};
const FusedOp BLOCK_PRODUCT = {"block_product", 3, 2, product_outline, product_run};
const FusedOp BLOCK_PRODUCT_BACK = {"block_product_back", 2, 1, back_outline, back_run};

}  // namespace tessella
