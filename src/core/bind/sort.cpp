// Sorting along an axis, and searching in what is sorted.
#include "../launch/sort.h"

#include "../launch/search.h"
#include "../tensor/run.h"
#include "../threads.h"
#include "bind.h"

namespace tessella {

void init_sort(nb::module_& module) {
  // values and indices are contiguous tensors of x's shape, or None; along the axis they may be
  // shorter, and hold the first then.
  module.def(
      "sort",
      [](nb::handle source, int axis, nb::handle values, nb::handle indices, bool descending) {
        Tensor* x = numbers_of(source);
        Tensor* sorted = values.is_none() ? nullptr : tensor_of(values);
        Tensor* order = indices.is_none() ? nullptr : tensor_of(indices);
        launch::SortTask task{
            .dtype = x->dtype,
            .ndim = x->ndim,
            .shape = x->shape(),
            .axis = axis,
            .wanted = (sorted ? sorted : order)->shape()[axis],
            .x = x->data(),
            .strides_x = x->strides(),
            .values = sorted ? sorted->data() : nullptr,
            .strides_values = sorted ? sorted->strides() : nullptr,
            .indices = order ? reinterpret_cast<int64_t*>(order->data()) : nullptr,
            .strides_indices = order ? order->strides() : nullptr,
            .descending = descending,
            .interruptible = true};
        int workers = num_threads();
        Scratch scratch(static_cast<size_t>(launch::sort_scratch_bytes(task, workers)));
        LongWork work(x->size * 8, {x, sorted ? sorted : x, order ? order : x});
        launch::sort(task, workers, scratch.data());
      },
      nb::arg("x"), nb::arg("axis"), nb::arg("values").none(), nb::arg("indices").none(),
      nb::arg("descending"));
  // out and the sorted vector are contiguous; x and the vector have one dtype.
  module.def("search", [](nb::handle out, nb::handle vector, nb::handle elements, bool is_right) {
    Tensor *sorted = tensor_of(vector), *x = numbers_of(elements);
    launch::SearchTask task{.dtype = x->dtype,
                            .n = sorted->size,
                            .sorted = sorted->data(),
                            .ndim = x->ndim,
                            .shape = x->shape(),
                            .strides = x->strides(),
                            .x = x->data(),
                            .out = reinterpret_cast<int64_t*>(tensor_of(out)->data()),
                            .is_right = is_right,
                            .interruptible = true};
    LongWork work(x->size * 8, {sorted, x, tensor_of(out)});
    launch::search(task);
  });
}

}  // namespace tessella
