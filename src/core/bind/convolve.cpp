// Convolutions with their adjoints, and pools; the records have checked sizes and dtypes.
#include "../tensor/images.h"
#include "bind.h"

namespace tessella {

void init_convolve(nb::module_& module) {
  // result 0: y, 1: x, 2: w. bias is a tensor or None.
  module.def("convolve", [](int result, nb::handle x, nb::handle w, nb::handle y,
                            std::optional<nb::object> bias, const Sizes& stride, const Sizes& pad,
                            const Sizes& dilation, int64_t groups, bool interruptible) {
    run_convolve({.result = static_cast<launch::ConvolveResult>(result),
                  .x = numbers_of(x),
                  .w = numbers_of(w),
                  .y = numbers_of(y),
                  .bias = bias ? numbers_of(*bias) : nullptr,
                  .stride = {stride.data(), stride.size()},
                  .pad = {pad.data(), pad.size()},
                  .dilation = {dilation.data(), dilation.size()},
                  .groups = groups,
                  .interruptible = interruptible});
  });
  module.def("pool_places",
             [](nb::handle places, nb::handle x, const Sizes& window, const Sizes& stride,
                const Sizes& pad, const Sizes& dilation, bool interruptible) {
               run_pool({.x = numbers_of(x),
                         .places = numbers_of(places),
                         .window = {window.data(), window.size()},
                         .stride = {stride.data(), stride.size()},
                         .pad = {pad.data(), pad.size()},
                         .dilation = {dilation.data(), dilation.size()},
                         .interruptible = interruptible});
             });
  module.def("pool_pick", [](nb::handle out, nb::handle x, nb::handle places, bool interruptible) {
    return run_pick(numbers_of(out), numbers_of(x), numbers_of(places), interruptible);
  });
  module.def("pool_place", [](nb::handle out, nb::handle y, nb::handle places, bool interruptible) {
    return run_place(numbers_of(out), numbers_of(y), numbers_of(places), interruptible);
  });
}

}  // namespace tessella
