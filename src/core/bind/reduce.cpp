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
  if (x->ndim) axis_of(x, axis);
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
  bool ok;
  require(is_of(out, launch::reduce_out_dtype(ReduceOp::sum, x->dtype, &ok), x->sizes()));
  auto scans = TS_CHOSEN(scan_kernels).join[static_cast<int>(op)];
  bool is_complex_sum = kind(x->dtype) == DKind::complex && op == ScanOp::sum;
  require(is_complex_sum || scans[static_cast<int>(compute_dtype(out->dtype))]);
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
  require(is_of(out, DType::int64, x->sizes()) &&
          TS_CHOSEN(scan_kernels).greatest[static_cast<int>(x->dtype)]);
  launch::CumulativeTask task = cumulative_task(ScanOp::sum, out, x, axis, true);
  LongWork work(x->size, {x, out});
  launch::cumulate_places(task, is_greatest);
}

// The result holds the kept axes, with or without the others as sizes of 1; of nothing there is no
// greatest.
void reduce(ReduceOp op, Tensor* out, Tensor* x, const Sizes& axes, bool interruptible) {
  uint64_t bits = 0;
  for (int64_t axis : axes) bits |= uint64_t{1} << x->layout().axis(axis);
  int64_t kept = 1;
  for (int i = 0; i < x->ndim; ++i)
    if (!(bits >> i & 1)) kept *= x->shape()[i];
  bool ok;
  DType dtype = launch::reduce_out_dtype(op, x->dtype, &ok);
  bool has_neutral = op <= ReduceOp::mean || op == ReduceOp::any || op == ReduceOp::all;
  require(ok && is_run(out, dtype, kept) && (x->size > 0 || kept == 0 || has_neutral));
  run_reduce(op, x, bits, out, interruptible);
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
    auto code = static_cast<ReduceOp>(code_of(op, REDUCE_COUNT));
    DType out = launch::reduce_out_dtype(code, dtype_of(dtype), &ok);
    return ok ? std::optional<int>(static_cast<int>(out)) : std::nullopt;
  });
  module.def("reduce",
             [](int op, nb::handle out, nb::handle x, const Sizes& axes, bool interruptible) {
               auto code = static_cast<ReduceOp>(code_of(op, REDUCE_COUNT));
               reduce(code, number_target_of(out), numbers_of(x), axes, interruptible);
             });
  module.def("cumulate", [](int op, nb::handle out, nb::handle x, int axis, bool interruptible) {
    run_cumulate(static_cast<ScanOp>(code_of(op, SCAN_OPS)), number_target_of(out), numbers_of(x),
                 axis, interruptible);
  });
  module.def("cumulate_places", [](bool is_greatest, nb::handle out, nb::handle x, int axis) {
    run_cumulate_places(is_greatest, number_target_of(out), numbers_of(x), axis);
  });
  module.def("rows_names", [] {
    nb::list names;
    for (const char* name : ROWS_NAMES) names.append(name);
    return names;
  });
  module.def("rows", [](int op, nb::handle out, nb::handle x, int axis, bool interruptible) {
    Tensor* from = numbers_of(x);
    require(is_of(numbers_of(out), from->dtype, from->sizes()) &&
            kind(from->dtype) == DKind::floating);
    run_rows(static_cast<RowsOp>(code_of(op, 2)), from, from->ndim ? axis_of(from, axis) : 0,
             target_of(out), interruptible);
  });
}

}  // namespace tessella
