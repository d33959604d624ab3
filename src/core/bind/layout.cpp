// The class Layout: the layout algebra as Python sees it.
#include "../layout.h"

#include <algorithm>

#include "bind.h"

namespace tessella {

namespace {

nb::tuple tuple_of(Shape numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  return nb::borrow<nb::tuple>(tuple);
}

// Every element has a place that can be counted to; also those beside an axis without any.
void check_reach(Layout layout) {
  for (int i = 0; i < layout.ndim; ++i) layout.shape[i] = std::max<int64_t>(1, layout.shape[i]);
  int64_t first, last;
  layout.extent(&first, &last);
}

bool are_equal(const Layout& x, const Layout& y) {
  return std::ranges::equal(x.sizes(), y.sizes()) && std::ranges::equal(x.steps(), y.steps()) &&
         x.offset == y.offset;
}

}  // namespace

void init_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout")
      .def(
          "__init__",
          [](Layout* self, const Sizes& shape, const std::optional<Sizes>& strides,
             int64_t offset) {
            new (self)
                Layout(strides ? Layout::of(shape, *strides, offset) : Layout::contiguous(shape));
            self->offset = offset;
            check_reach(*self);
          },
          nb::arg("shape"), nb::arg("strides") = nb::none(), nb::arg("offset") = 0)
      .def_prop_ro("shape", [](const Layout& self) { return tuple_of(self.sizes()); })
      .def_prop_ro("strides", [](const Layout& self) { return tuple_of(self.steps()); })
      .def_ro("offset", &Layout::offset)
      .def_ro("ndim", &Layout::ndim)
      .def_prop_ro("size", &Layout::size)
      .def_prop_ro("is_contiguous", &Layout::is_contiguous)
      .def_prop_ro("overlaps_itself", &Layout::overlaps_itself)
      .def("axis", &Layout::axis, nb::arg("axis"))
      .def(
          "permute", [](const Layout& self, const Sizes& order) { return self.permute(order); },
          nb::arg("axes"))
      .def("bitcast", &Layout::bitcast, nb::arg("from_size"), nb::arg("to_size"))
      .def("transpose", &Layout::transpose, nb::arg("a"), nb::arg("b"))
      .def(
          "slice",
          [](const Layout& self, int64_t axis, int64_t start, int64_t stop, int64_t step) {
            Range range = resolve_slice(start, stop, step, self.shape[self.axis(axis)]);
            return self.slice(axis, range.start, range.count, range.step);
          },
          nb::arg("axis"), nb::arg("start"), nb::arg("stop"), nb::arg("step") = 1)
      .def("select", &Layout::select, nb::arg("axis"), nb::arg("index"))
      .def(
          "broadcast_to",
          [](const Layout& self, const Sizes& shape) { return self.broadcast_to(shape); },
          nb::arg("shape"))
      .def(
          "squeeze",
          [](const Layout& self, const std::optional<Sizes>& axis) {
            return axis ? self.squeeze(*axis) : self.squeeze_all();
          },
          nb::arg("axis") = nb::none())
      .def(
          "unsqueeze", [](const Layout& self, const Sizes& axis) { return self.unsqueeze(axis); },
          nb::arg("axis"))
      .def(
          "flip", [](const Layout& self, const Sizes& axis) { return self.flip(axis); },
          nb::arg("axis"))
      .def("diagonal", &Layout::diagonal, nb::arg("offset"), nb::arg("a"), nb::arg("b"))
      .def("unfold", &Layout::unfold, nb::arg("axis"), nb::arg("window"), nb::arg("step"))
      .def(
          "reshape",
          [](const Layout& self, const Sizes& shape) -> std::optional<Layout> {
            Layout out;
            if (self.reshape(shape, &out)) return out;
            return std::nullopt;
          },
          nb::arg("shape"))
      .def(
          "view",
          [](const Layout& self, const Sizes& shape) {
            Layout out;
            if (!self.reshape(shape, &out)) fail_view_needs_copy(self.sizes(), shape);
            return out;
          },
          nb::arg("shape"))
      .def(
          "__eq__", [](const Layout& self, const Layout& other) { return are_equal(self, other); },
          nb::is_operator())
      .def("__hash__",
           [](const Layout& self) {
             return nb::hash(
                 nb::make_tuple(tuple_of(self.sizes()), tuple_of(self.steps()), self.offset));
           })
      .def("__repr__", [](const Layout& self) {
        return "Layout(shape=" + to_text(self.sizes()) + ", strides=" + to_text(self.steps()) +
               ", offset=" + std::to_string(self.offset) + ")";
      });
  module.def("broadcast_shapes", [](const Sizes& x, const Sizes& y) {
    return tuple_of(broadcast_shapes(x, y).sizes());
  });
  module.def("resolve_reshape", [](const Sizes& from, const Sizes& to) {
    return tuple_of(resolve_reshape(from, to).sizes());
  });
  module.def("size_of", [](const Sizes& shape) { return size_of(shape); });
}

}  // namespace tessella
