// What the account says of memory.
#include "../memory/allocator.h"

#include "bind.h"

namespace tessella {

void init_memory(nb::module_& module) {
  module.def("memory_counts", [] {
    const Account& counts = account();
    return nb::make_tuple(counts.live, counts.peak, counts.allocations, counts.limit, counts.kept);
  });
  module.def("set_memory_limit", [](int64_t bytes) { account().limit = bytes; });
}

}  // namespace tessella
