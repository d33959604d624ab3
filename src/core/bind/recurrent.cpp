// Recurrent layers, for their records, which check shapes and dtypes.
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

Tensor* numbers_or_null(nb::handle object) {
  return object.is_none() ? nullptr : numbers_of(object);
}

Cell cell_of(int code) { return static_cast<Cell>(code_of(code, CELL_COUNT)); }

// What is contiguous, of one dtype and of these sizes: T steps, B rows, G gates of H.
struct Extents {
  DType dtype;
  int64_t steps, batch, gates, hidden;

  // From x (T, B, …) and the weight (G * H, H).
  Extents(Cell cell, const Tensor* x, const Tensor* weight) {
    require(x->ndim == 3 && weight->ndim == 2);
    dtype = x->dtype;
    require(dtype == DType::float32 || dtype == DType::float64);
    steps = x->shape()[0], batch = x->shape()[1], hidden = weight->shape()[1];
    gates = CELL_GATES[static_cast<int>(cell)] * hidden;
    check(x, x->size);
    check(weight, weight->size);
    require(weight->shape()[0] == gates);
  }
  void check(const Tensor* x, int64_t size) const { require(is_run(x, dtype, size)); }
};

}  // namespace

void init_recurrent(nb::module_& module) {
  module.def("cell_names", [] {
    nb::list names;
    for (const char* name : CELL_NAMES) names.append(name);
    return names;
  });
  module.def("states_size", [](int cell, int64_t steps, int64_t batch, int64_t hidden, bool keeps) {
    return states_size(cell_of(cell), steps, batch, hidden, keeps);
  });
  module.def("slopes_size", [](int cell, int64_t steps, int64_t batch, int64_t hidden) {
    return slopes_size(cell_of(cell), steps, batch, hidden);
  });
  module.def(
      "recurrent_states",
      [](int cell, nb::handle out, nb::handle gates, nb::handle weight, nb::handle bias_ih,
         nb::handle bias_hh, nb::handle h, nb::handle c, bool is_reversed, bool keeps) {
        StatesOperands of{numbers_of(gates),   numbers_of(weight), numbers_of(bias_ih),
                          numbers_of(bias_hh), numbers_of(h),      numbers_or_null(c)};
        Cell code = cell_of(cell);
        Extents sizes(code, of.gates, of.weight);
        require(of.gates->shape()[2] == sizes.gates && (of.c != nullptr) == (code == Cell::lstm));
        for (Tensor* each : {of.bias_ih, of.bias_hh}) sizes.check(each, sizes.gates);
        for (Tensor* each : {of.h, of.c ? of.c : of.h})
          sizes.check(each, sizes.batch * sizes.hidden);
        sizes.check(numbers_of(out),
                    states_size(code, sizes.steps, sizes.batch, sizes.hidden, keeps));
        run_states(code, of, is_reversed, keeps, target_of(out));
      },
      nb::arg("cell"), nb::arg("out"), nb::arg("gates"), nb::arg("weight"), nb::arg("bias_ih"),
      nb::arg("bias_hh"), nb::arg("h"), nb::arg("c").none(), nb::arg("is_reversed"),
      nb::arg("keeps"));
  module.def(
      "recurrent_slopes",
      [](int cell, nb::handle out, nb::handle g, nb::handle states, nb::handle weight,
         nb::handle g_c, bool is_reversed) {
        SlopesOperands of{numbers_of(g), numbers_of(states), numbers_of(weight),
                          numbers_or_null(g_c)};
        Cell code = cell_of(cell);
        Extents sizes(code, of.g, of.weight);
        require(of.g->shape()[2] == sizes.hidden && (of.g_c != nullptr) == (code == Cell::lstm));
        if (of.g_c) sizes.check(of.g_c, sizes.batch * sizes.hidden);
        sizes.check(of.states, states_size(code, sizes.steps, sizes.batch, sizes.hidden, true));
        sizes.check(numbers_of(out), slopes_size(code, sizes.steps, sizes.batch, sizes.hidden));
        run_slopes(code, of, is_reversed, target_of(out));
      },
      nb::arg("cell"), nb::arg("out"), nb::arg("g"), nb::arg("states"), nb::arg("weight"),
      nb::arg("g_c").none(), nb::arg("is_reversed"));
}

}  // namespace tessella
