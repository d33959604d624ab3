// Tensors to DLPack's capsules and back.
#include "dlpack.h"

#include <stdlib.h>
#include <string.h>

#include <memory>

#include "foreign.h"
#include "guard.h"
#include "node.h"
#include "pins.h"
#include "run.h"

namespace tessella::dlpack {

namespace {

constexpr Version OURS{1, 1};

template <class M>
constexpr const char* NAME = "dltensor";
template <>
constexpr const char* NAME<VersionedManaged> = "dltensor_versioned";
template <class M>
constexpr const char* USED = "used_dltensor";
template <>
constexpr const char* USED<VersionedManaged> = "used_dltensor_versioned";

uint8_t code_of(DType dtype) {
  if (dtype == DType::bfloat16) return 4;
  constexpr uint8_t codes[] = {6, 0, 1, 2, 5};  // by kind: bool, signed, unsigned, float, complex
  return codes[static_cast<int>(kind(dtype))];
}

uint8_t bits_of(DType dtype) { return static_cast<uint8_t>(8 * itemsize(dtype)); }

// --- export --------------------------------------------------------------------------------------

// Followed in its block by the shape and the strides.
template <class M>
struct Export {
  M managed;
  Pin pin;
};

// Consumers call this from any thread, with or without the interpreter's lock.
template <class M>
void delete_export(M* managed) {
  if (is_finalizing()) return;  // the memory goes with the process
  auto* exported = static_cast<Export<M>*>(managed->owner);
  PyGILState_STATE state = take_interpreter(PyGILState_Ensure);
  Buffer* buffer = exported->pin.buffer;
  end_pin(&exported->pin);
  release(buffer);
  PyGILState_Release(state);
  free(exported);
}

// A capsule that nobody used still owns what it holds.
template <class M>
void delete_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, NAME<M>)) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  delete_export(static_cast<M*>(PyCapsule_GetPointer(capsule, NAME<M>)));
  PyErr_Restore(type, value, trace);
}

template <class M>
PyObject* export_as(Tensor* x, uint64_t flags) {
  size_t dims = sizeof(int64_t) * 2 * x->ndim;
  auto* exported = static_cast<Export<M>*>(malloc(sizeof(Export<M>) + dims));
  if (!exported) throw std::bad_alloc();
  auto* shape = reinterpret_cast<int64_t*>(exported + 1);
  memcpy(shape, x->shape(), dims);  // the strides follow the shape there too
  M& managed = exported->managed;
  managed = {};
  managed.owner = exported;
  managed.deleter = delete_export<M>;
  managed.array = {.data = x->data(),
                   .device = {CPU, 0},
                   .ndim = x->ndim,
                   .dtype = {code_of(x->dtype), bits_of(x->dtype), 1},
                   .shape = shape,
                   .strides = shape + x->ndim,
                   .byte_offset = 0};
  if constexpr (requires { managed.version; }) {
    managed.version = OURS;
    managed.flags = flags;
  }
  begin_pin(&exported->pin, retain(x->buffer), "an array that took it through DLPack");
  PyObject* capsule = PyCapsule_New(&managed, NAME<M>, delete_capsule<M>);
  if (capsule) return capsule;
  delete_export(&managed);
  throw PythonError{};
}

// PyTorch (2.13) aborts on such capsules, from NumPy's arrays too.
bool steps_backwards(const Tensor* x) {
  for (int i = 0; x->size > 0 && i < x->ndim; ++i)
    if (x->shape()[i] > 1 && x->strides()[i] < 0) return true;
  return false;
}

// --- import --------------------------------------------------------------------------------------

template <class M>
struct CapsuleKeeper : Keeper {
  M* managed;
};

template <class M>
void let_go_of(Keeper* keeper) {
  auto* held = static_cast<CapsuleKeeper<M>*>(keeper);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (held->managed->deleter) held->managed->deleter(held->managed);
  PyErr_Restore(type, value, trace);
  delete held;
}

DType dtype_of(ElementType element) {
  for (int i = 0; i < DTYPE_COUNT; ++i) {
    DType dtype = static_cast<DType>(i);
    if (element.lanes == 1 && element.code == code_of(dtype) && element.bits == bits_of(dtype))
      return dtype;
  }
  fail_import_dtype(element.code, element.bits, element.lanes);
}

// The checked description; `byte_strides` holds its strides.
Foreign describe(const Array& array, bool is_readonly, int64_t* byte_strides) {
  if (array.device.type != CPU) fail_import_device(array.device.type, array.device.id);
  DType dtype = dtype_of(array.dtype);
  if (array.ndim < 0 || array.ndim > MAX_NDIM) fail_import_axes(array.ndim);
  if (array.ndim > 0 && !array.shape) fail_import("it has axes and no shape");
  Shape shape{array.shape, static_cast<size_t>(array.ndim)};
  fill_byte_strides(shape, dtype, byte_strides);
  for (int i = 0; array.strides && i < array.ndim; ++i)
    if (__builtin_mul_overflow(array.strides[i], itemsize(dtype), &byte_strides[i]))
      byte_strides[i] = INT64_MAX;  // beyond any memory; harmless where the size is 1
  uintptr_t address = reinterpret_cast<uintptr_t>(array.data);
  if (array.data && __builtin_add_overflow(address, array.byte_offset, &address))
    fail_import("its offset reaches beyond memory");
  return {.data = reinterpret_cast<char*>(address),
          .dtype = dtype,
          .shape = shape,
          .byte_strides = {byte_strides, shape.size()},
          .is_readonly = is_readonly,
          .is_swapped = false};
}

template <class M>
bool forbids_writing(const M& managed) {
  // A capsule without a version has no way to say; JAX gives such capsules of immutable arrays.
  if constexpr (requires { managed.flags; })
    return managed.flags & READ_ONLY;
  else
    return true;
}

template <class M>
Tensor* import_as(PyObject* capsule, bool may_copy) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, NAME<M>));
  if (!managed) throw PythonError{};
  if constexpr (requires { managed->version; })
    if (managed->version.major != OURS.major)
      fail_import_version(managed->version.major, managed->version.minor);
  int64_t byte_strides[MAX_NDIM];
  Foreign array = describe(managed->array, forbids_writing(*managed), byte_strides);
  auto keeper = std::make_unique<CapsuleKeeper<M>>();
  keeper->let_go = let_go_of<M>;
  keeper->managed = managed;
  // While it is being adopted the capsule owns the memory no more; it gets it back on failure.
  if (PyCapsule_SetName(capsule, USED<M>) != 0) throw PythonError{};
  try {
    Tensor* out = adopt(array, keeper.get(), may_copy);
    keeper.release();
    return out;
  } catch (...) {
    PyCapsule_SetName(capsule, NAME<M>);
    throw;
  }
}

}  // namespace

PyObject* to_capsule(Tensor* x, bool is_versioned, bool is_copied) {
  if (is_user(x->dtype)) fail_export_user_dtype(info(x->dtype).name);
  if (asks_gradient(x)) fail_export_gradients();
  check_alive(x);
  if (x->is_virtual() || x->buffer->is_ghost) fail_export_virtual();
  if (steps_backwards(x)) fail_export_backwards();
  bool is_readonly = x->buffer->is_readonly || x->layout().overlaps_itself();
  if (!is_versioned && is_readonly) fail_export_readonly();
  uint64_t flags = (is_readonly ? READ_ONLY : 0) | (is_copied ? IS_COPIED : 0);
  return is_versioned ? export_as<VersionedManaged>(x, flags) : export_as<Managed>(x, flags);
}

Tensor* from_capsule(PyObject* capsule, bool may_copy) {
  if (!PyCapsule_CheckExact(capsule)) fail_not_capsule(Py_TYPE(capsule)->tp_name);
  if (PyCapsule_IsValid(capsule, NAME<VersionedManaged>))
    return import_as<VersionedManaged>(capsule, may_copy);
  if (PyCapsule_IsValid(capsule, NAME<Managed>)) return import_as<Managed>(capsule, may_copy);
  const char* name = PyCapsule_GetName(capsule);
  PyErr_Clear();
  bool is_used = name && (!strcmp(name, USED<VersionedManaged>) || !strcmp(name, USED<Managed>));
  fail_import_capsule(name ? name : "no name", is_used);
}

}  // namespace tessella::dlpack
