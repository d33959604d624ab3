// Rehearsals: calls that are recorded and not done.
#include "recording.h"

namespace tessella {

void init_rehearsal(nb::module_& module) {
  nb::class_<Stage>(module, "Rehearsal")
      .def(nb::init<>())
      .def("begin", [](Stage& self) { self.core->begin(); })
      .def("end", [](Stage& self) { end_here(*self.core); })
      // A tensor without memory that stands for x: of its layout, dtype and need of gradients.
      .def("stand_in", [](Stage& self, nb::handle x) {
        require(rehearsal == self.core.get());
        Tensor* out = self.core->stand_in(tensor_of(x));
        out->requires_grad = tensor_of(x)->requires_grad;
        return own(out);
      });
  module.def("pause_recording", pause_tape);
  module.def("resume_recording", resume_tape);
}

}  // namespace tessella
