// Recurrent layers, for their records, which check shapes and dtypes.
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

Tensor* numbers_or_null(nb::handle object) {
  return object.is_none() ? nullptr : numbers_of(object);
}

}  // namespace

void init_recurrent(nb::module_& module) {
  module.def("cell_names", [] {
    nb::list names;
    for (const char* name : CELL_NAMES) names.append(name);
    return names;
  });
  module.def("states_size", [](int cell, int64_t steps, int64_t batch, int64_t hidden, bool keeps) {
    return states_size(static_cast<Cell>(cell), steps, batch, hidden, keeps);
  });
  module.def("slopes_size", [](int cell, int64_t steps, int64_t batch, int64_t hidden) {
    return slopes_size(static_cast<Cell>(cell), steps, batch, hidden);
  });
  module.def(
      "recurrent_states",
      [](int cell, nb::handle out, nb::handle gates, nb::handle weight, nb::handle bias_ih,
         nb::handle bias_hh, nb::handle h, nb::handle c, bool is_reversed, bool keeps) {
        StatesOperands of{numbers_of(gates),   numbers_of(weight), numbers_of(bias_ih),
                          numbers_of(bias_hh), numbers_of(h),      numbers_or_null(c)};
        run_states(static_cast<Cell>(cell), of, is_reversed, keeps, numbers_of(out));
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
        run_slopes(static_cast<Cell>(cell), of, is_reversed, numbers_of(out));
      },
      nb::arg("cell"), nb::arg("out"), nb::arg("g"), nb::arg("states"), nb::arg("weight"),
      nb::arg("g_c").none(), nb::arg("is_reversed"));
}

}  // namespace tessella
