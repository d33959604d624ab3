// Allocators, scopes, the limit and the account, for memory.py.
#include "../memory/account.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "../memory/allocators.h"
#include "../tensor/dynamic.h"
#include "../tensor/lines.h"
#include "../tensor/node.h"
#include "../tensor/pins.h"
#include "bind.h"
#include "handle.h"

namespace tessella {

namespace {

// Of any tensor, also of one whose memory was freed.
Buffer* memory_of(nb::handle x) {
  if (!is_tensor(x.ptr())) fail_not_tensor(Py_TYPE(x.ptr())->tp_name);
  return as_tensor(x.ptr())->buffer;
}

#define KIND_NAME(name) #name,
constexpr const char* KIND_NAMES[] = {MEMORY_KINDS(KIND_NAME)};
#undef KIND_NAME

using MaybeHandle = std::optional<Handle>;

MaybeHandle handle_of(Allocator* allocator) {
  return allocator ? MaybeHandle(std::in_place, allocator) : std::nullopt;
}

constexpr size_t MOST_BYTES = size_t{1} << 62;  // sizes that are rounded up do not overflow

// A fresh allocator, or the error that there was no memory for it.
Handle made(Allocator* allocator, const char* type, const std::string& name, size_t bytes) {
  if (!allocator)
    fail_out_of_memory({heap(), static_cast<int64_t>(bytes)}, type + (" '" + name + "'"));
  enlist(*allocator);
  return Handle(allocator);
}

Arena& arena_of(const Handle& handle) {
  require(handle->type == std::string_view("Arena"));
  return static_cast<Arena&>(*handle.get());
}

void release_to(const Handle& handle, int64_t mark) {
  Arena& arena = arena_of(handle);
  if (!arena.is_valid(mark)) fail_mark(arena);
  if (tensors_in_making) fail_in_making(arena);
  Buffer* pinned;
  if (!arena.can_release(mark, &pinned)) fail_pinned(arena, who_pins(pinned));
  arena.release_to(mark);
}

// Of this thread, which holds on to it; the one before is given back.
MaybeHandle swap_allocator(const MaybeHandle& next) {
  MaybeHandle before = handle_of(current_allocator);
  if (current_allocator) current_allocator->release_handle();
  bool is_heap = !next || next->get() == &heap();
  current_allocator = is_heap ? nullptr : next->get();
  if (current_allocator) current_allocator->retain_handle();
  return before;
}

nb::list all_allocators() {
  nb::list handles;
  visit_allocators(
      [](Allocator& allocator, void* list) {
        static_cast<nb::list*>(list)->append(nb::cast(Handle(&allocator)));
      },
      &handles);
  return handles;
}

// The tensors, and arrays as tensors, among many objects. Types are asked, never the objects: a
// proxy of what is gone would refuse.
nb::list living_tensors(nb::list objects) {
  nb::list found;
  for (nb::handle object : objects) {
    PyTypeObject* type = Py_TYPE(object.ptr());
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) continue;
    if (PyType_IsSubtype(type, tensor_type))
      found.append(object);
    else if (PyType_IsSubtype(type, array_type) && as_array(object.ptr())->buffer->has_memory())
      found.append(own(view_items(as_array(object.ptr()), 0, as_array(object.ptr())->length)));
  }
  return found;
}

// What recorded operations among many objects keep for backward: tensors, each with the operation
// and the line that called it.
nb::list living_saved(nb::list objects) {
  nb::list found;
  for (nb::handle object : objects) {
    if (Py_TYPE(object.ptr()) != node_type) continue;
    Node* node = as_node(object.ptr());
    std::string line = to_text(Site{node->code, node->instruction});
    for (int i = 0; i < node->saves; ++i)
      if (node->saved[i].buffer && node->saved[i].buffer->kind == Kind::saved)
        found.append(nb::make_tuple(nb::steal(unpack(node, node->saved[i], false)), object, line));
  }
  return found;
}

nb::dict totals(Watch& since_start) {
  nb::dict kinds, out;
#define ADD_KIND(name) kinds[#name] = account.live_of(Kind::name);
  MEMORY_KINDS(ADD_KIND)
#undef ADD_KIND
  out["live"] = account.total.live;
  out["peak"] = since_start.peak();
  out["count"] = account.total.count();
  out["allocations"] = account.total.allocations;
  out["limit"] = account.limit;
  out["reserved"] = account.reserved;
  out["kept"] = heap().room().free;
  out["foreign"] = account.foreign;
  out["refused"] = nb::make_tuple(account.refused.bytes, account.refused.rows);
  out["kinds"] = kinds;
  return out;
}

void init_handle(nb::module_& module) {
  nb::class_<Handle>(module, "AllocatorHandle")
      .def_prop_ro("type", [](const Handle& h) { return h->type; })
      .def_prop_ro("name", [](const Handle& h) { return h->name; })
      .def_prop_ro("key", [](const Handle& h) { return reinterpret_cast<uintptr_t>(h.get()); })
      .def_prop_ro("live", [](const Handle& h) { return h->counts.live; })
      .def_prop_ro("peak", [](const Handle& h) { return h->counts.peak; })
      .def_prop_ro("count", [](const Handle& h) { return h->counts.count(); })
      .def_prop_ro("allocations", [](const Handle& h) { return h->counts.allocations; })
      .def_prop_ro("capacity", [](const Handle& h) { return h->room().capacity; })
      .def_prop_ro("free", [](const Handle& h) { return h->room().free; })
      .def_prop_ro("largest", [](const Handle& h) { return h->room().largest; })
      .def_prop_ro("largest_block", [](const Handle& h) { return h->largest_block(); })
      .def("trim", [](const Handle& h) { return h->trim(); })
      .def("used", [](const Handle& h) { return arena_of(h).used(); })
      .def("mark", [](const Handle& h) { return arena_of(h).mark(); })
      .def("release_to", [](const Handle& h, int64_t m) { release_to(h, m); })
      .def("reset", [](const Handle& h) { release_to(h, Arena::START); });
  module.def("make_heap",
             [](const std::string& name) { return made(make_heap(name), "Heap", name, 0); });
  module.def("make_arena", [](const std::string& name, size_t bytes, bool is_growable) {
    return made(make_arena(name, bytes, is_growable), "Arena", name, bytes);
  });
  module.def("make_pool", [](const std::string& name, size_t block_bytes, size_t count) {
    require(block_bytes && count && block_bytes <= MOST_BYTES / count);
    return made(make_pool(name, block_bytes, count), "Pool", name, block_bytes * count);
  });
  module.def("make_slab",
             [](const std::string& name, const std::vector<size_t>& classes, size_t slab_bytes) {
               require(!classes.empty() && std::ranges::max(classes) <= MOST_BYTES);
               return made(make_slab(name, classes, slab_bytes), "Slab", name, 0);
             });
  module.def("make_buddy", [](const std::string& name, size_t bytes, size_t least_bytes) {
    require(least_bytes >= ALIGNMENT && least_bytes <= bytes && bytes <= MOST_BYTES &&
            std::has_single_bit(least_bytes) && std::has_single_bit(bytes));
    return made(make_buddy(name, bytes, least_bytes), "Buddy", name, bytes);
  });
}

}  // namespace

void init_memory(nb::module_& module) {
  static Watch* since_start = new Watch;  // for ever
  init_handle(module);
  nb::class_<Watch>(module, "Watch")
      .def(nb::init<>())
      .def_prop_ro("live", &Watch::live)
      .def_prop_ro("peak", &Watch::peak)
      .def_prop_ro("allocations", &Watch::allocations);
  module.def("swap_allocator", swap_allocator, nb::arg("next").none());
  module.def("heap_allocator", [] { return Handle(&heap()); });
  module.def("current_allocator",
             [] { return Handle(current_allocator ? current_allocator : &heap()); });
  module.def("allocator_of", [](nb::handle x) { return handle_of(memory_of(x)->allocator); });
  module.def("all_allocators", all_allocators);
  module.def("living_tensors", living_tensors);
  module.def("living_saved", living_saved);
  module.def("kind_of",
             [](nb::handle x) { return KIND_NAMES[static_cast<int>(memory_of(x)->kind)]; });
  // What the memory of a tensor is for from now on.
  module.def("mark_kind", [](nb::handle x, const std::string& name) {
    auto found = std::ranges::find(KIND_NAMES, std::string_view(name));
    if (found == std::end(KIND_NAMES)) throw nb::value_error("no kind of memory");
    change_kind(tensor_of(x)->buffer, static_cast<Kind>(found - std::begin(KIND_NAMES)));
  });
  module.def("memory_totals", [] { return totals(*since_start); });
  module.def("memory_counts", [] {
    return nb::make_tuple(account.total.live, since_start->peak(), account.total.allocations,
                          account.limit, account.kept);
  });
  module.def("set_memory_limit", set_limit);
  module.def("default_memory_limit", default_limit);
  module.def("fail_allocations_from", fail_allocations_from);
  module.def("to_text_bytes", to_text_bytes);
  module.def("record_lines", record_lines);
  module.def("line_of", [](nb::handle x) { return line_of(memory_of(x)); });
  // Which tensors share memory, without reaching it.
  module.def("buffer_key", [](nb::handle x) { return reinterpret_cast<uintptr_t>(memory_of(x)); });
  module.def("buffer_bytes", [](nb::handle x) { return memory_of(x)->bytes; });
}

}  // namespace tessella
