// Dynamic arrays, for dynamic.py: what is not asked for often enough to be a method of the type.
#include "../tensor/dynamic.h"

#include "../tensor/lines.h"

#include "bind.h"
#include "handle.h"

namespace tessella {

namespace {

Array* array_of(nb::handle object) {
  if (!is_array(object.ptr())) throw nb::type_error("expected a DynamicArray");
  return as_array(object.ptr());
}

// Contiguous or not, items of the array's dtype and shape; dynamic.py has seen to it.
Tensor* items_of(const Array* a, nb::handle object) {
  Tensor* items = tensor_of(object);
  bool fits = items->dtype == a->dtype && items->ndim == a->item_ndim + 1 &&
              items->size == items->shape()[0] * a->item_size;
  if (!fits) throw nb::type_error("expected items of the array's dtype and shape");
  return items;
}

// The item at an index, counted from either end, into `out`: no other code runs in between. False
// if there is none.
bool take(Array* a, int64_t index, Tensor* out) {
  check_free(a);
  if (index < -a->length || index >= a->length) return false;
  bool fits = out->dtype == a->dtype && out->size == a->item_size && out->is_contiguous;
  if (!fits) throw nb::type_error("expected room for one item");
  if (index < 0) index += a->length;
  memcpy(out->data(), a->at(index), static_cast<size_t>(a->item_bytes));
  remove_items(a, index, 1);
  return true;
}

// Changes when the items do.
nb::tuple stamp_of(const Array* a) {
  return nb::make_tuple(reinterpret_cast<uintptr_t>(a->buffer), a->length, a->buffer->version);
}

bool rewrite(Array* a, nb::handle stamp, const Tensor* items) {
  bool is_same = stamp_of(a).equal(stamp);  // before the checks: objects compare as they like
  check_free(a);
  check_values(items);
  if (!is_same || items->shape()[0] != a->length || !items->is_contiguous) return false;
  move_bytes(a->at(0), items->data(), a->length * a->item_bytes);
  mark_written(a->buffer);
  return true;
}

}  // namespace

void init_dynamic(nb::module_& module) {
  allocator_from = [](PyObject* object) -> Allocator* {
    Handle* handle;
    return nb::try_cast(nb::handle(object), handle) && handle ? handle->get() : nullptr;
  };
  module.def("array_allocator", [](nb::handle a) { return Handle(array_of(a)->allocator); });
  // Items (n, *item_shape) of its dtype.
  module.def("array_insert", [](nb::handle a, int64_t index, nb::handle items) {
    insert_items(array_of(a), index, items_of(array_of(a), items));
  });
  // Behind the last, whichever that is by then.
  module.def("array_extend", [](nb::handle a, nb::handle items) {
    insert_items(array_of(a), array_of(a)->length, items_of(array_of(a), items));
  });
  module.def("array_remove", [](nb::handle a, int64_t index, int64_t count) {
    remove_items(array_of(a), index, count);
  });
  module.def("array_take", [](nb::handle a, int64_t index, nb::handle out) {
    return take(array_of(a), index, target_of(out));
  });
  module.def("array_resize",
             [](nb::handle a, int64_t capacity) { set_capacity(array_of(a), capacity); });
  module.def("array_clear", [](nb::handle a) { clear_items(array_of(a)); });
  module.def("array_reverse", [](nb::handle a) { reverse_items(array_of(a)); });
  // Refuses an array without memory, and one that another thread adds items to.
  module.def("array_check_free", [](nb::handle a) { check_free(array_of(a)); });
  module.def("array_stamp", [](nb::handle a) { return stamp_of(array_of(a)); });
  // As many contiguous items of its dtype as it has, in place of them; false if it has changed.
  module.def("array_rewrite", [](nb::handle a, nb::handle stamp, nb::handle items) {
    return rewrite(array_of(a), stamp, items_of(array_of(a), items));
  });
}

}  // namespace tessella
