// Rehearsals: calls that are recorded and not done.
#include "../tensor/tape.h"

#include "bind.h"

namespace tessella {

void init_rehearsal(nb::module_& module) {
  nb::class_<Rehearsal>(module, "Rehearsal")
      .def(nb::init<>())
      .def("begin", &Rehearsal::begin)
      .def("end",
           [](Rehearsal& self) {
             if (self.is_running()) self.end();
           })
      // A tensor without memory that stands for x: of its layout, dtype and need of gradients.
      .def("stand_in", [](Rehearsal& self, nb::handle x) {
        require(rehearsal == &self);
        Tensor* out = self.stand_in(tensor_of(x));
        out->requires_grad = tensor_of(x)->requires_grad;
        return own(out);
      });
  module.def("pause_recording", pause_tape);
  module.def("resume_recording", resume_tape);
}

}  // namespace tessella
