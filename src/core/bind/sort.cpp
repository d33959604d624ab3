// Sorting along an axis, and searching in what is sorted.
#include "../launch/sort.h"

#include "../launch/search.h"
#include "../tensor/run.h"
#include "../tensor/tape.h"
#include "../threads.h"
#include "bind.h"

namespace tessella {

namespace {

// Of values and indices one may be nullptr.
void run_sort(Tensor* x, int axis, Tensor* sorted, Tensor* order, bool descending) {
  Noted noted;
  if (is_taping()) {
    std::vector<Tensor*> written;
    for (Tensor* each : {sorted, order})
      if (each) written.push_back(each);
    bool has_values = sorted != nullptr, has_order = order != nullptr;
    noted.take("sort",
               name_value("axis", axis) + name_flag("descending", descending) +
                   name_flag("values", has_values) + name_flag("indices", has_order),
               written, std::span<Tensor* const>(&x, 1), [=](Tensor* const* all, const Draw&) {
                 run_sort(all[has_values + has_order], axis, has_values ? all[0] : nullptr,
                          has_order ? all[has_values] : nullptr, descending);
               });
  }
  if (noted.is_rehearsed()) return;
  Tensor* out = sorted ? sorted : order;
  int along = axis_of(x, axis);
  require(out && out->ndim == x->ndim);
  Layout first = x->layout();
  first.shape[along] = out->shape()[along];
  require(kind(x->dtype) != DKind::complex && first.shape[axis] <= x->shape()[axis]);
  if (sorted) require(is_of(sorted, x->dtype, first.sizes()));
  if (order) require(is_of(order, DType::int64, first.sizes()));
  launch::SortTask task{.dtype = x->dtype,
                        .ndim = x->ndim,
                        .shape = x->shape(),
                        .axis = axis,
                        .wanted = first.shape[axis],
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
}

void run_search(Tensor* out, Tensor* sorted, Tensor* x, bool is_right) {
  Noted noted;
  if (is_taping())
    noted.take(
        "search", name_flag("right", is_right), {out}, {sorted, x},
        [=](Tensor* const* all, const Draw&) { run_search(all[0], all[1], all[2], is_right); });
  if (noted.is_rehearsed()) return;
  require(is_run(out, DType::int64, x->size) && is_run(sorted, x->dtype, sorted->size) &&
          kind(x->dtype) != DKind::complex);
  launch::SearchTask task{.dtype = x->dtype,
                          .n = sorted->size,
                          .sorted = sorted->data(),
                          .ndim = x->ndim,
                          .shape = x->shape(),
                          .strides = x->strides(),
                          .x = x->data(),
                          .out = reinterpret_cast<int64_t*>(out->data()),
                          .is_right = is_right,
                          .interruptible = true};
  LongWork work(x->size * 8, {sorted, x, out});
  launch::search(task);
}

}  // namespace

void init_sort(nb::module_& module) {
  // values and indices are contiguous tensors of x's shape, or None; along the axis they may be
  // shorter, and hold the first then.
  module.def(
      "sort",
      [](nb::handle x, int axis, nb::handle values, nb::handle indices, bool descending) {
        run_sort(numbers_of(x), axis, values.is_none() ? nullptr : target_of(values),
                 indices.is_none() ? nullptr : target_of(indices), descending);
      },
      nb::arg("x"), nb::arg("axis"), nb::arg("values").none(), nb::arg("indices").none(),
      nb::arg("descending"));
  // out and the sorted vector are contiguous; x and the vector have one dtype.
  module.def("search", [](nb::handle out, nb::handle vector, nb::handle x, bool is_right) {
    run_search(target_of(out), tensor_of(vector), numbers_of(x), is_right);
  });
}

}  // namespace tessella
