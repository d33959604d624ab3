// Memory to and from others.
#include "../tensor/exchange.h"

#include "../tensor/dlpack.h"
#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

void init_exchange(nb::module_& module) {
  module.def(
      "has_buffer", [](nb::handle x) { return PyObject_CheckBuffer(x.ptr()) != 0; },
      nb::arg().none());
  module.def("from_buffer", [](nb::handle x, bool may_copy) {
    refuse_capture("memory of others", nullptr);
    return own(from_buffer(x.ptr(), may_copy));
  });
  module.def(
      "from_dlpack",
      [](nb::handle capsule, bool may_copy) {
        refuse_capture("memory of others", nullptr);
        return own(dlpack::from_capsule(capsule.ptr(), may_copy));
      },
      nb::arg().none(), nb::arg());
  module.def("to_dlpack", [](nb::handle x, bool is_versioned, bool is_copied) {
    refuse_capture("memory that is given to others", nullptr);
    return nb::steal(dlpack::to_capsule(tensor_of(x), is_versioned, is_copied));
  });
}

}  // namespace tessella
