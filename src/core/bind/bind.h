// What the binding files share: one init function for each noun, and tensors out of Python objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "../tensor/guard.h"
#include "../tensor/tensor.h"

namespace nb = nanobind;

namespace tessella {

// Sizes, strides or axes that Python has worked out. A number that does not fit becomes the one
// farthest from 0 that does, and of too many some are left out, which rules refuse: with our error.
struct Sizes : std::vector<int64_t> {};

// The tensor behind a Python object; throws Error if it is none, or its memory is gone.
inline Tensor* tensor_of(nb::handle object) {
  if (!is_tensor(object.ptr())) fail_not_tensor(Py_TYPE(object.ptr())->tp_name);
  check_alive(as_tensor(object.ptr()));
  return as_tensor(object.ptr());
}

// One whose elements are numbers: kernels know no dtypes of users.
inline Tensor* numbers_of(nb::handle object) {
  Tensor* x = tensor_of(object);
  if (is_user(x->dtype)) fail_user_dtype(info(x->dtype).name);
  return x;
}

// --- what the core works on fits together, whatever a subclass of Tensor tells ----------------

// One of the codes, dtypes or axes that there are; an axis is not counted from the end.
int code_of(int code, int count);
DType dtype_of(int id);
int axis_of(const Tensor* x, int axis);
bool is_of(const Tensor* x, DType dtype, Shape shape);
// Contiguous, with so many elements.
bool is_run(const Tensor* x, DType dtype, int64_t size);
bool can_spread(const Tensor* x, Shape shape);  // it broadcasts to it

// One whose elements are to be written.
inline Tensor* target_of(nb::handle object) {
  Tensor* x = tensor_of(object);
  if (x->buffer->is_readonly) throw nb::value_error("the tensor is read-only");
  return x;
}
inline Tensor* number_target_of(nb::handle object) { return numbers_of(object), target_of(object); }

inline nb::object own(Tensor* tensor) { return nb::steal(as_object(tensor)); }

void init_dtype(nb::module_& module);
void init_layout(nb::module_& module);
void init_tensor(nb::module_& module);
void init_exchange(nb::module_& module);
void init_elementwise(nb::module_& module);
void init_threads(nb::module_& module);
void init_memory(nb::module_& module);
void init_dynamic(nb::module_& module);
void init_creation(nb::module_& module);
void init_reduce(nb::module_& module);
void init_matmul(nb::module_& module);
void init_convolve(nb::module_& module);
void init_index(nb::module_& module);
void init_sort(nb::module_& module);
void init_random(nb::module_& module);
void init_recurrent(nb::module_& module);
void init_fused(nb::module_& module);
void init_graph(nb::module_& module);
void init_csv(nb::module_& module);
void init_updates(nb::module_& module);
void init_recording(nb::module_& module);
void init_program(nb::module_& module);
void init_rehearsal(nb::module_& module);

}  // namespace tessella

template <>
struct nanobind::detail::type_caster<tessella::Sizes> {
  NB_TYPE_CASTER(tessella::Sizes, const_name("Sequence[int]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* items = PySequence_Fast(source.ptr(), "");
    bool fits = items != nullptr;
    constexpr Py_ssize_t MOST = 1 << 12;
    for (Py_ssize_t i = 0; fits && i < std::min(PySequence_Fast_GET_SIZE(items), MOST); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(items, i);
      int side = 0;
      fits = PyLong_Check(item);
      int64_t size = fits ? PyLong_AsLongLongAndOverflow(item, &side) : 0;
      value.push_back(side == 0 ? size : side > 0 ? INT64_MAX : INT64_MIN);
    }
    Py_XDECREF(items);
    PyErr_Clear();
    return fits;
  }
};
