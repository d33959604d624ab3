// Optimizers' updates, for the slow path and for several of them at once.
#include "../tensor/updates.h"

#include "bind.h"

namespace tessella {

void init_updates(nb::module_& module) {
  // (name, how many lists of states, of counters, numbers, constants)
  module.def("update_names", [] {
    nb::list rows;
    for (const UpdateInfo& each : UPDATES)
      rows.append(
          nb::make_tuple(each.name, each.states, each.counters, each.numbers, each.constants));
    return rows;
  });
  module.def("do_overlap",
             [](nb::handle x, nb::handle y) { return do_overlap(tensor_of(x), tensor_of(y)); });
  // [(function, args), …], all or none; False: declined, and nothing was done.
  module.def("update_all", [](nb::list calls) { return fast_updates(calls.ptr()); });
  // One that the record has checked; False where that left something out.
  module.def("update", [](nb::handle function, nb::tuple args) {
    if (Py_TYPE(function.ptr()) != function_type ||
        as_function(function.ptr())->kind != FastKind::update)
      throw nb::type_error("an update is needed");
    UpdateCall call{as_function(function.ptr()),
                    reinterpret_cast<PyTupleObject*>(args.ptr())->ob_item,
                    static_cast<Py_ssize_t>(args.size())};
    return run_updates({&call, 1});
  });
}

}  // namespace tessella
