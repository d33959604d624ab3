// The buffer protocol, both ways: memoryview, NumPy and others read and write a tensor's memory in
// place, and tensors theirs.
#include "exchange.h"

#include <memory>

#include "foreign.h"
#include "guard.h"
#include "node.h"
#include "pins.h"
#include "tape.h"

namespace tessella {

namespace {

constexpr const char* FORMATS[DTYPE_COUNT] = {"?", "b", "h",     "i", "l", "B",  "H", "I",
                                              "L", "e", nullptr, "f", "d", "Zf", "Zd"};

// --- export --------------------------------------------------------------------------------------

bool is_column_major(const Tensor* x) {
  int64_t reversed[MAX_NDIM];
  for (int i = 0; i < x->ndim; ++i) reversed[i] = x->ndim - 1 - i;
  return x->layout().permute({reversed, x->ndim}).is_contiguous();
}

bool asks_for(int flags, int wanted) { return (flags & wanted) == wanted; }

bool is_exported_readonly(const Tensor* x) {
  return x->buffer->is_readonly || (!x->is_contiguous && x->layout().overlaps_itself());
}

void check_request(Tensor* x, int flags) {
  if (is_user(x->dtype)) fail_export_user_dtype(info(x->dtype).name);
  refuse_capture("memory that is given to others", nullptr);
  if (!FORMATS[static_cast<int>(x->dtype)]) fail_export_dtype(info(x->dtype).name);
  check_alive(x);
  if (x->is_virtual() || x->buffer->is_ghost) fail_export_virtual();
  if (asks_gradient(x)) fail_export_gradients();
  if (asks_for(flags, PyBUF_WRITABLE) && is_exported_readonly(x)) fail_export_readonly();
  bool in_rows = !asks_for(flags, PyBUF_STRIDES) || asks_for(flags, PyBUF_C_CONTIGUOUS);
  bool in_columns = asks_for(flags, PyBUF_F_CONTIGUOUS);
  bool in_either = asks_for(flags, PyBUF_ANY_CONTIGUOUS);
  if (in_rows && !x->is_contiguous) fail_export_gaps("contiguous");
  if (in_columns && !is_column_major(x)) fail_export_gaps("contiguous in columns");
  if (in_either && !x->is_contiguous && !is_column_major(x)) fail_export_gaps("contiguous");
}

// What lives as long as a view: its share of the memory, its shape, its strides in bytes.
struct Export {
  Pin pin;
  Py_ssize_t dims[];
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Tensor* x = as_tensor(self);
  view->obj = nullptr;
  if (!guarded([&]() -> PyObject* { return check_request(x, flags), Py_None; })) return -1;
  size_t numbers = sizeof(Py_ssize_t) * 2 * (x->ndim + 1u);
  auto* exported = static_cast<Export*>(PyMem_Malloc(sizeof(Export) + numbers));
  if (!exported) return PyErr_NoMemory(), -1;
  // Retained: the tensor may come to show other memory while this is shared.
  begin_pin(&exported->pin, retain(x->buffer), "a memoryview or NumPy array");
  Py_ssize_t* dims = exported->dims;
  for (int i = 0; i < x->ndim; ++i) {
    dims[i] = x->shape()[i];
    dims[x->ndim + i] = x->strides()[i] * itemsize(x->dtype);
  }
  view->obj = Py_NewRef(self);
  view->buf = x->data();
  view->len = x->size * itemsize(x->dtype);
  view->readonly = is_exported_readonly(x);
  view->itemsize = itemsize(x->dtype);
  const char* format = FORMATS[static_cast<int>(x->dtype)];
  view->format = asks_for(flags, PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->ndim = x->ndim;
  view->shape = asks_for(flags, PyBUF_ND) ? dims : nullptr;
  view->strides = asks_for(flags, PyBUF_STRIDES) ? dims + x->ndim : nullptr;
  view->suboffsets = nullptr;
  view->internal = exported;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  Pin* pin = &static_cast<Export*>(view->internal)->pin;
  Buffer* buffer = pin->buffer;
  end_pin(pin);
  PyMem_Free(view->internal);
  release(buffer);
}

// --- import --------------------------------------------------------------------------------------

struct BufferKeeper : Keeper {
  Py_buffer view;
};

void let_go_of_buffer(Keeper* keeper) {
  auto* held = static_cast<BufferKeeper*>(keeper);
  PyBuffer_Release(&held->view);
  delete held;
}

bool kind_of_format(char letter, DKind* out) {
  constexpr const char* letters[] = {"?", "bhilqn", "BHILQN", "efd", "FD"};
  for (int i = 0; letter && i < 5; ++i)
    if (strchr(letters[i], letter)) return *out = static_cast<DKind>(i), true;
  return false;
}

// The dtype of items in the notation of the module struct, with Zf and Zd for complex numbers.
DType dtype_of_format(const Py_buffer& view, bool* is_swapped) {
  const char* format = view.format ? view.format : "B";
  const char* letter = format;
  *is_swapped = *letter == '>' || *letter == '!';
  if (*letter && strchr("@=<>!^", *letter)) ++letter;
  bool is_complex = *letter == 'Z';
  if (is_complex) ++letter;
  DKind kind;
  if (kind_of_format(*letter, &kind) && !letter[1]) {
    if (is_complex && kind == DKind::floating) kind = DKind::complex;
    for (int i = 0; i < DTYPE_COUNT; ++i)
      if (DTYPES[i].kind == kind && DTYPES[i].itemsize == view.itemsize)
        return static_cast<DType>(i);
  }
  fail_import_format(format, view.itemsize);
}

Tensor* adopt_buffer(BufferKeeper* keeper, bool may_copy) {
  const Py_buffer& view = keeper->view;
  bool is_swapped;
  DType dtype = dtype_of_format(view, &is_swapped);
  if (view.ndim < 0 || view.ndim > MAX_NDIM) fail_import_axes(view.ndim);
  if (view.suboffsets) fail_import("its rows lie behind pointers");
  int64_t length = view.len / view.itemsize;
  bool is_flat = !view.shape && view.ndim == 1;
  if (!view.shape && view.ndim > 1) fail_import("it has axes and no shape");
  Shape shape{is_flat ? &length : view.shape, static_cast<size_t>(view.ndim)};
  int64_t byte_strides[MAX_NDIM];
  fill_byte_strides(shape, dtype, byte_strides);
  for (int i = 0; view.strides && i < view.ndim; ++i) byte_strides[i] = view.strides[i];
  Foreign array{.data = static_cast<char*>(view.buf),
                .dtype = dtype,
                .shape = shape,
                .byte_strides = {byte_strides, shape.size()},
                .is_readonly = view.readonly != 0,
                .is_swapped = is_swapped && itemsize(dtype) > 1};
  return adopt(array, keeper, may_copy);
}

}  // namespace

Tensor* from_buffer(PyObject* object, bool may_copy) {
  auto keeper = std::make_unique<BufferKeeper>();
  keeper->let_go = let_go_of_buffer;
  if (PyObject_GetBuffer(object, &keeper->view, PyBUF_RECORDS_RO) != 0) throw PythonError{};
  try {
    Tensor* out = adopt_buffer(keeper.get(), may_copy);
    keeper.release();
    return out;
  } catch (...) {
    PyBuffer_Release(&keeper->view);
    throw;
  }
}

void add_exchange_slots(PyType_Slot* slots, int* used) {
  slots[(*used)++] = {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)};
  slots[(*used)++] = {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)};
}

}  // namespace tessella
