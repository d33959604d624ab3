// dtypes, instruction sets, and the hooks that Python gives the core at import.
#include "../kernels/isa.h"
#include "../tensor/function.h"
#include "../tensor/operators.h"
#include "bind.h"

namespace tessella {

void init_dtype(nb::module_& module) {
  module.def("dtype_table", [] {
    nb::list rows;
    for (const DTypeInfo& dtype : DTYPES)
      rows.append(nb::make_tuple(dtype.name, dtype.itemsize, static_cast<int>(dtype.kind)));
    return rows;
  });
  module.def("register_dtype", [](const std::string& name, int64_t itemsize) {
    require(itemsize > 0 && itemsize <= MOST_ITEM_BYTES);
    return register_dtype(name.c_str(), itemsize);
  });
  module.def("free_dtypes", free_dtypes);
  module.def("most_item_bytes", [] { return MOST_ITEM_BYTES; });
  module.def("set_dtype_object",
             [](int dtype, nb::handle object) { set_dtype_object(dtype_of(dtype), object.ptr()); });
  // The error of operations that need numbers.
  module.def("refuse_user_dtype", [](int dtype) { fail_user_dtype(info(dtype_of(dtype)).name); });
  module.def("set_error_maker", [](nb::handle maker) { set_error_maker(maker.ptr()); });
  module.def("set_apply", [](nb::handle apply) { set_apply(apply.ptr()); });
  module.def("set_hook", [](const std::string& name, nb::handle hook) {
    return set_hook(name.c_str(), hook.ptr());
  });
  module.def("set_slot", [](const std::string& name, nb::handle function) {
    return set_slot(name.c_str(), function.ptr());
  });
  module.def("isa", [] { return name_of(isa); });
  module.def("dots", [] { return name_of(dots); });
  module.def("supported_isas", [] {
    nb::list names;
    for (Isa which : {Isa::baseline, Isa::avx2, Isa::avx512})
      if (is_supported(which)) names.append(name_of(which));
    return names;
  });
}

}  // namespace tessella
