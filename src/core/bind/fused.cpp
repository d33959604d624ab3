// Operations over several operands, for the slow path.
#include "../tensor/fused.h"

#include "../kernels/blocks.h"
#include "../tensor/arguments.h"
#include "bind.h"

namespace tessella {

namespace {

// The operands and parameters of a call, as many as the operation has.
Values values_of(const nb::tuple& given, const FusedOp& op) {
  if (static_cast<int>(nb::len(given)) != op.operands + op.params)
    throw nb::value_error("a fused operation has operands and parameters of a fixed number");
  return &PyTuple_GET_ITEM(given.ptr(), 0);
}

const FusedOp& op_of(int code) {
  if (code < 0 || code >= FUSED_COUNT) throw nb::index_error("no such fused operation");
  return *FUSED[code];
}

}  // namespace

void init_fused(nb::module_& module) {
  module.def("block_formats", [] {
    nb::list rows;
    for (const BlockInfo& format : BLOCKS)
      rows.append(nb::make_tuple(format.name, format.elements, format.bytes, format.is_made));
    return rows;
  });
  module.def("fused_names", [] {
    nb::list names;
    for (const FusedOp* op : FUSED) names.append(op->name);
    return names;
  });
  // Shape and number of the dtype of the result; None: the values are not in their normal form.
  module.def("fused_outline", [](int code, const nb::tuple& given) -> nb::object {
    Outline outline;
    if (!op_of(code).outline(values_of(given, op_of(code)), &outline)) return nb::none();
    nb::object shape = nb::steal(tuple_of(outline.sizes()));
    return nb::make_tuple(shape, static_cast<int>(outline.dtype));
  });
  module.def("fused", [](int code, nb::handle out, const nb::tuple& given) {
    Values values = values_of(given, op_of(code));
    Outline outline;
    if (!op_of(code).outline(values, &outline))
      throw nb::value_error("a fused operation got values that are not in their normal form");
    require(is_of(numbers_of(out), outline.dtype, outline.sizes()) &&
            tensor_of(out)->is_contiguous);
    run_fused(op_of(code), values, target_of(out), true);
  });
}

}  // namespace tessella
