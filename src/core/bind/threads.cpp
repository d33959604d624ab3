// The thread pool's settings.
#include "../threads.h"

#include "bind.h"

namespace tessella {

void init_threads(nb::module_& module) {
  module.def("num_threads", num_threads);
  module.def("set_num_threads", [](int n) { set_num_threads(1 + code_of(n - 1, max_threads)); });
  module.def("thread_local_num_threads", thread_local_num_threads);
  module.def("set_thread_local_num_threads",
             [](int n) { set_thread_local_num_threads(code_of(n, max_threads + 1)); });
}

}  // namespace tessella
