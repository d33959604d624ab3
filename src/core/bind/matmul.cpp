// The matrix product, for the slow path and matmul_into.
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

void init_matmul(nb::module_& module) {
  // a (..., m, k), b (..., k, n), out (..., m, n); shapes are checked by the record.
  module.def("matmul",
             [](nb::handle out, nb::handle a, nb::handle b, bool accumulate, bool interruptible) {
               run_matmul(tensor_of(a), tensor_of(b), tensor_of(out), accumulate, interruptible);
             });
}

}  // namespace tessella
