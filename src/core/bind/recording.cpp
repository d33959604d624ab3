// Recordings.
#include "recording.h"

#include "../tensor/collection.h"
#include "../tensor/tile_group.h"

namespace tessella {

namespace {

nb::tuple to_tuple(Shape numbers) {
  nb::list list;
  for (int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

// Only memory of others can lie in several buffers.
bool overlaps(const Tape& tape, const Store& store) {
  if (store.is_made || !store.buffer || store.buffer->allocator) return false;
  for (const Store& other : tape.slots)
    if (&other != &store && !other.is_made && other.buffer &&
        may_overlap(other.buffer, store.buffer))
      return true;
  return false;
}

}  // namespace

nb::tuple to_python(const Place& place) {
  return nb::make_tuple(place.slot, static_cast<int>(place.dtype), place.layout.offset,
                        to_tuple(place.layout.sizes()), to_tuple(place.layout.steps()));
}

Place place_from(const nb::tuple& given) {
  require(given.size() == 5);
  auto shape = nb::cast<std::vector<int64_t>>(given[3]);
  auto strides = nb::cast<std::vector<int64_t>>(given[4]);
  return {nb::cast<int>(given[0]), dtype_of(nb::cast<int>(given[1])),
          Layout::of(shape, strides, nb::cast<int64_t>(given[2]))};
}

namespace {

nb::list instructions_of(const Recording& self) {
  NoCollection guard;  // which may run operations, which the tape would record
  nb::list rows;
  for (const Instruction& each : self.tape->instructions) {
    nb::list operands;
    for (const Place& place : each.operands) operands.append(to_python(place));
    nb::object draw = nb::none();
    if (each.draws) draw = nb::make_tuple(each.draw.key, each.draw.counter);
    Tiling tiling = TileGroup::tiling_of(each);
    rows.append(nb::make_tuple(each.name, each.params, operands, each.written, to_text(each.site),
                               draw, FORM_NAMES[static_cast<int>(tiling.form)], tiling.why_alone,
                               each.reduce ? each.reduce->axes : 0));
  }
  return rows;
}

// (bytes, made inside, written, lives, a number that is that of no other memory that lives,
// whether it may overlap with other memory from outside)
nb::list slots_of(const Recording& self) {
  NoCollection guard;
  nb::list rows;
  for (const Store& each : self.tape->slots)
    rows.append(nb::make_tuple(each.bytes, each.is_made, each.is_written, each.buffer != nullptr,
                               reinterpret_cast<uintptr_t>(each.buffer),
                               overlaps(*self.tape, each)));
  return rows;
}

// (tensor, its number among the arguments or -1, slot of its gradient before or -1, its gradient
// now as a place or None, the line that touched it), while the function runs
nb::list leaves_of(const Recording& self) {
  NoCollection guard;
  nb::list rows;
  for (const Leaf& each : self.tape->leaves) {
    require(each.tensor != nullptr);
    const Tensor* leaf = as_tensor(each.tensor);
    nb::object now = nb::none();
    if (leaf->grad) {
      const Tensor* gradient = as_tensor(leaf->grad);
      Place place{self.tape->find(gradient->buffer), gradient->dtype, gradient->layout()};
      now = to_python(place);
    }
    rows.append(nb::make_tuple(nb::borrow(each.tensor), each.argument, each.before.slot, now,
                               to_text(each.site)));
  }
  return rows;
}

nb::list drawings_of(const Recording& self) {
  NoCollection guard;
  nb::list rows;
  for (const Drawing& each : self.tape->drawings)
    rows.append(
        nb::make_tuple(nb::borrow(each.generator), each.from.key, each.from.counter, each.used));
  return rows;
}

}  // namespace

void init_recording(nb::module_& module) {
  nb::class_<Recording>(module, "Recording")
      .def(nb::init<>())
      .def("begin",
           [](Recording& self) {
             require(self.tape.use_count() == 1);  // what programs refer to stays as it is
             self.tape->begin();
           })
      .def("end", [](Recording& self) { end_here(*self.tape); })
      .def("slot_of",
           [](Recording& self, nb::handle x) { return self.tape->slot_of(tensor_of(x)->buffer); })
      .def("add_argument",
           [](Recording& self, nb::handle x) { self.tape->add_argument(tensor_of(x)); })
      .def("holds", [](Recording& self, nb::handle x) { return self.tape->holds(tensor_of(x)); })
      .def("reaches_out", [](Recording& self) { return self.tape->reaches_out; })
      .def("asked_alike", [](Recording& self) { return self.tape->asked_alike(); })
      .def("forget_temporaries",
           [](Recording& self, nb::list results) {
             std::vector<PyObject*> found;
             for (nb::handle each : results) found.push_back(each.ptr());
             self.tape->forget_temporaries(found);
           })
      .def("place_of",
           [](Recording& self, nb::handle x) {
             const Tensor* source = tensor_of(x);
             Place place{self.tape->find(source->buffer), source->dtype, source->layout()};
             return to_python(place);
           })
      // From here on its memory counts as given, not made: it is held like that of an argument.
      .def("mark_given",
           [](Recording& self, nb::handle x) {
             Store& slot =
                 self.tape->slots[static_cast<size_t>(self.tape->slot_of(tensor_of(x)->buffer))];
             require(slot.buffer != nullptr);
             if (slot.is_made) retain(slot.buffer);
             slot.is_made = false, slot.is_argument = true;
           })
      // The whole of captured memory, as bytes.
      .def("bytes_of",
           [](Recording& self, int slot) {
             const Store& store = self.tape->slots.at(static_cast<size_t>(slot));
             if (!store.buffer) throw nb::value_error("memory that is not held");
             int64_t bytes = static_cast<int64_t>(store.bytes);
             return own(
                 make_over(retain(store.buffer), DType::uint8, Layout::contiguous({&bytes, 1})));
           })
      // The file and the line in the user's code; ("", 0): they are not known.
      .def("site_of",
           [](const Recording& self, int instruction) {
             const Site& site = self.tape->instructions.at(static_cast<size_t>(instruction)).site;
             if (!site.code) return nb::make_tuple("", 0);
             return nb::make_tuple(nb::borrow(site.code->co_filename),
                                   PyCode_Addr2Line(site.code, site.instruction));
           })
      .def("__len__", [](const Recording& self) { return self.tape->instructions.size(); })
      .def("instructions", instructions_of)
      .def("slots", slots_of)
      .def("leaves", leaves_of)
      // Of each leaf the memory of the gradient that it had, if others held it, else 0.
      .def("shared_gradients",
           [](const Recording& self) {
             std::vector<uintptr_t> out;
             for (const Leaf& each : self.tape->leaves) out.push_back(each.shared);
             return out;
           })
      .def("drawings", drawings_of)
      .def("add_slot", [](Recording& self, int like) { return self.tape->add_slot(like); })
      .def("add_copy",
           [](Recording& self, int instruction, const std::vector<int>& slots, int before) {
             size_t at = self.tape->instructions.at(static_cast<size_t>(before)).at;
             return self.tape->add_copy(instruction, slots, at);
           });
}

}  // namespace tessella
