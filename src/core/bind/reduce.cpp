// Reductions, cumulative operations and operations on rows, for the slow path.
#include "../launch/reduce.h"
#include "../launch/cumulative.h"
#include "../tensor/run.h"
#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

namespace {

launch::CumulativeTask cumulative_task(ScanOp op, Tensor* to, Tensor* x, int axis,
                                       bool interruptible) {
  return {.op = op,
          .dtype = x->dtype,
          .ndim = x->ndim,
          .shape = x->shape(),
          .strides = x->strides(),
          .data = x->data(),
          .axis = axis,
          .out = {to->data(), to->dtype, to->strides()},
          .interruptible = interruptible};
}

void run_cumulate(ScanOp op, Tensor* out, Tensor* x, int axis, bool interruptible) {
  Noted noted;
  if (is_taping())
    noted.take("cumulate", name_value("op", static_cast<int>(op)) + name_value("axis", axis), {out},
               {x}, [=](Tensor* const* all, const Draw&) {
                 run_cumulate(op, all[0], all[1], axis, interruptible);
               });
  if (noted.is_rehearsed()) return;
  launch::CumulativeTask task = cumulative_task(op, out, x, axis, interruptible);
  LongWork work(x->size, {x, out});
  launch::cumulate(task);
}

void run_cumulate_places(bool is_greatest, Tensor* out, Tensor* x, int axis) {
  Noted noted;
  if (is_taping())
    noted.take("cumulate_places", name_flag("greatest", is_greatest) + name_value("axis", axis),
               {out}, {x}, [=](Tensor* const* all, const Draw&) {
                 run_cumulate_places(is_greatest, all[0], all[1], axis);
               });
  if (noted.is_rehearsed()) return;
  launch::CumulativeTask task = cumulative_task(ScanOp::sum, out, x, axis, true);
  LongWork work(x->size, {x, out});
  launch::cumulate_places(task, is_greatest);
}

}  // namespace

void init_reduce(nb::module_& module) {
  module.def("reduce_names", [] {
    nb::list names;
    for (const char* name : REDUCE_NAMES) names.append(name);
    return names;
  });
  module.def("reduce_out_dtype", [](int op, int dtype) -> std::optional<int> {
    bool ok = false;
    DType out = launch::reduce_out_dtype(static_cast<ReduceOp>(op), static_cast<DType>(dtype), &ok);
    return ok ? std::optional<int>(static_cast<int>(out)) : std::nullopt;
  });
  module.def(
      "reduce", [](int op, nb::handle out, nb::handle x, const Sizes& axes, bool interruptible) {
        uint64_t bits = 0;
        for (int64_t axis : axes) bits |= uint64_t{1} << numbers_of(x)->layout().axis(axis);
        run_reduce(static_cast<ReduceOp>(op), numbers_of(x), bits, numbers_of(out), interruptible);
      });
  module.def("cumulate", [](int op, nb::handle out, nb::handle x, int axis, bool interruptible) {
    run_cumulate(static_cast<ScanOp>(op), numbers_of(out), numbers_of(x), axis, interruptible);
  });
  module.def("cumulate_places", [](bool is_greatest, nb::handle out, nb::handle x, int axis) {
    run_cumulate_places(is_greatest, numbers_of(out), numbers_of(x), axis);
  });
  module.def("rows_names", [] {
    nb::list names;
    for (const char* name : ROWS_NAMES) names.append(name);
    return names;
  });
  module.def("rows", [](int op, nb::handle out, nb::handle x, int axis, bool interruptible) {
    run_rows(static_cast<RowsOp>(op), numbers_of(x), axis, numbers_of(out), interruptible);
  });
}

}  // namespace tessella
