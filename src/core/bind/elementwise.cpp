// Elementwise operations for the slow path: checked by the record, run by the same kernels.
#include "../launch/elementwise.h"
#include "../tensor/function.h"
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

static Opcode opcode_of(int code) { return static_cast<Opcode>(code_of(code, OPCODE_COUNT)); }

void init_elementwise(nb::module_& module) {
  // The conjugate of a complex tensor or number; anything real as it is. Rules of gradients ask.
  module.def("conjugate", [](nb::handle x) -> nb::object {
    bool is_complex = is_tensor(x.ptr()) && kind(as_tensor(x.ptr())->dtype) == DKind::complex;
    if (PyComplex_Check(x.ptr())) return x.attr("conjugate")();
    if (!is_complex) return nb::borrow(x);
    PyObject* function = reinterpret_cast<PyObject*>(function_of(Slot::conj));
    PyObject* out = PyObject_CallOneArg(function, x.ptr());
    if (!out) throw PythonError{};
    return nb::steal(out);
  });
  module.def("opcodes", [] {
    nb::list rows;
    for (const OpcodeInfo& opcode : OPCODES) rows.append(nb::make_tuple(opcode.name, opcode.arity));
    return rows;
  });
  module.def("elementwise_out_dtype", [](int opcode, int dtype) -> std::optional<int> {
    DType out;
    if (!launch::elementwise_out_dtype(opcode_of(opcode), dtype_of(dtype), &out))
      return std::nullopt;
    return static_cast<int>(out);
  });
  // Inputs are tensors that broadcast to out, or Python scalars that fit `dtype`.
  module.def(
      "elementwise",
      [](int code, int dtype_id, nb::handle object, nb::args inputs, bool interruptible) {
        Input all[3];
        Scalar scalars[3];
        int arity = 0;
        Opcode opcode = opcode_of(code);
        DType dtype = dtype_of(dtype_id), result;
        if (is_user(dtype)) fail_user_dtype(info(dtype).name);
        Tensor* out = number_target_of(object);
        bool has_kernel = launch::elementwise_out_dtype(opcode, dtype, &result);
        require(has_kernel && out->dtype == result &&
                static_cast<int>(inputs.size()) == OPCODES[code].arity);
        for (nb::handle input : inputs) {
          if (is_tensor(input.ptr())) {
            Tensor* x = numbers_of(input);
            bool is_condition = opcode == Opcode::where && arity == 0;
            require(can_spread(x, out->sizes()) &&
                    x->dtype == (is_condition ? DType::boolean : dtype));
            all[arity] = {x, nullptr, x->dtype};
          } else {
            if (!store_scalar(input.ptr(), dtype, &scalars[arity]))
              fail_not_tensor(Py_TYPE(input.ptr())->tp_name);
            all[arity] = {nullptr, &scalars[arity], dtype};
          }
          ++arity;
        }
        run_elementwise(opcode, dtype, out, all, arity, interruptible);
      },
      nb::arg("opcode"), nb::arg("dtype"), nb::arg("out"), nb::arg("inputs"), nb::kw_only(),
      nb::arg("interruptible") = true);
  module.def("scalar_fits", [](nb::handle value, int dtype) {
    Scalar scalar;
    return store_scalar(value.ptr(), dtype_of(dtype), &scalar);
  });
}

}  // namespace tessella
