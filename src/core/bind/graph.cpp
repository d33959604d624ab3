// Recording of gradients, and the modes of the fast path.
#include "../tensor/function.h"
#include "../tensor/node.h"
#include "../tensor/view.h"
#include "bind.h"

namespace tessella {

void init_graph(nb::module_& module) {
  module.def("is_grad_enabled", is_grad_enabled);
  module.def("set_grad_enabled", set_grad_enabled);
  module.def("set_requires_grad",
             [](nb::handle x, bool wanted) { tensor_of(x)->requires_grad = wanted; });
  module.def("needs_node", [](nb::args inputs) {
    return needs_node(reinterpret_cast<PyTupleObject*>(inputs.ptr())->ob_item,
                      static_cast<int>(inputs.size()));
  });
  // params is a dict or None.
  module.def(
      "record",
      [](nb::handle out, nb::handle function, nb::tuple inputs, nb::handle params) {
        PyObject* kept = params.is_none() ? nullptr : params.ptr();
        if (!record(tensor_of(out), as_function(function.ptr()),
                    reinterpret_cast<PyTupleObject*>(inputs.ptr())->ob_item,
                    static_cast<int>(inputs.size()), kept))
          throw PythonError{};
      },
      nb::arg("out"), nb::arg("function"), nb::arg("inputs"), nb::arg("params").none());
  module.def("set_package_folder", [](nb::str folder) { set_package_folder(folder.ptr()); });
  module.def("view_names", [] {
    nb::list names;
    for (const char* name : VIEW_NAMES) names.append(name);
    return names;
  });
  module.def("modes", [] { return modes; });
  module.def("set_modes", [](uint32_t bits) { modes = bits; });
  module.def("fast_path_counts", [] { return nb::make_tuple(counts.fast, counts.declined); });
}

}  // namespace tessella
