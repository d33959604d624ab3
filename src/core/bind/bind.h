// What the binding files share: one init function for each noun, and tensors out of Python objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "../tensor/guard.h"
#include "../tensor/tensor.h"

namespace nb = nanobind;

namespace tessella {

using Sizes = std::vector<int64_t>;

// The tensor behind a Python object; throws Error if it is none.
inline Tensor* tensor_of(nb::handle object) {
  if (!is_tensor(object.ptr())) fail_not_tensor(Py_TYPE(object.ptr())->tp_name);
  return as_tensor(object.ptr());
}

inline nb::object own(Tensor* tensor) { return nb::steal(as_object(tensor)); }

void init_dtype(nb::module_& module);
void init_layout(nb::module_& module);
void init_tensor(nb::module_& module);
void init_exchange(nb::module_& module);
void init_elementwise(nb::module_& module);
void init_threads(nb::module_& module);
void init_memory(nb::module_& module);
void init_creation(nb::module_& module);
void init_reduce(nb::module_& module);
void init_matmul(nb::module_& module);
void init_index(nb::module_& module);
void init_sort(nb::module_& module);
void init_random(nb::module_& module);
void init_graph(nb::module_& module);

}  // namespace tessella
