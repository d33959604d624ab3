// Making tensors and views, and writing into them, for the slow path.
#include "../launch/elementwise.h"
#include "../tensor/collection.h"
#include "../tensor/lines.h"
#include "../tensor/run.h"
#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

namespace {

// A layout is only made a view if it stays inside the buffer.
void check_inside(const Tensor* x, const Layout& layout) {
  if (layout.size() == 0) return;
  int64_t first, last, elements = static_cast<int64_t>(x->buffer->bytes) / itemsize(x->dtype);
  layout.extent(&first, &last);
  if (first < 0 || last >= elements) fail_layout_outside(first, last, elements);
}

// The same bytes as elements of another dtype.
Tensor* bitcast(const Tensor* x, DType dtype) {
  Layout layout = x->layout().bitcast(itemsize(x->dtype), itemsize(dtype));
  auto place = reinterpret_cast<uintptr_t>(x->buffer->host_ptr());
  if (layout.size() && place % static_cast<size_t>(alignment(dtype)))
    fail_bitcast_alignment(info(dtype).name);
  return make_over(retain(x->buffer), dtype, layout);
}

// One element as it is stored: a number through `scalar`, an item of a user's dtype as its bytes;
// nullptr if it is none.
const char* element_of(nb::handle value, DType dtype, Scalar* scalar) {
  static constexpr char ZEROS[MOST_ITEM_BYTES] = {};
  if (!is_user(dtype)) return store_scalar(value.ptr(), dtype, scalar) ? scalar->bytes : nullptr;
  if (value.ptr() == Py_False) return ZEROS;
  bool fits = PyBytes_Check(value.ptr()) && PyBytes_GET_SIZE(value.ptr()) == itemsize(dtype);
  return fits ? PyBytes_AS_STRING(value.ptr()) : nullptr;
}

// Looks for Ctrl-C at every so many elements, with the interpreter's lock held: a handler may run.
void poll_at(int64_t i) {
  if (i % SHORT_WORK == 0 && PyErr_CheckSignals() != 0) throw PythonError{};
}

// Elements that were written from Python: they are written again as they are.
void note_constant(Tensor* x) {
  Noted noted;
  if (!is_taping() || x->size == 0) return;
  std::string bytes(x->data(), static_cast<size_t>(x->size * itemsize(x->dtype)));
  std::string text;
  for (unsigned char byte : bytes)
    text += std::string(1, "0123456789abcdef"[byte >> 4]) + "0123456789abcdef"[byte & 15];
  noted.take("constant", " " + text, {x}, {}, [=](Tensor* const* all, const Draw&) {
    memcpy(all[0]->data(), bytes.data(), bytes.size());
  });
}

}  // namespace

void init_tensor(nb::module_& module) {
  module.def("empty", [](const Sizes& shape, int dtype) {
    return own(make_tensor(dtype_of(dtype), shape));
  });
  module.def("empty_virtual", [](const Sizes& shape, int dtype) {
    Layout layout = Layout::contiguous(shape);
    size_t bytes = static_cast<size_t>(layout.size() * itemsize(dtype_of(dtype)));
    return own(make_over(make_virtual_buffer(bytes), dtype_of(dtype), layout));
  });
  module.def("layout_of", [](nb::handle x) { return tensor_of(x)->layout(); });
  module.def("view", [](nb::handle x, const Layout& layout) {
    check_inside(tensor_of(x), layout);
    return own(make_view(tensor_of(x), layout));
  });
  module.def("bitcast",
             [](nb::handle x, int dtype) { return own(bitcast(tensor_of(x), dtype_of(dtype))); });
  module.def("copy", [](nb::handle out, nb::handle x, bool interruptible) {
    for (nb::handle each : {out, x})
      if (!tensor_of(each)->has_memory()) fail_no_values(tensor_of(each), "copy");
    require(can_spread(tensor_of(x), tensor_of(out)->sizes()));
    run_copy(target_of(out), tensor_of(x), interruptible);
  });
  // A number, or an item of a user's dtype as bytes; False is 0 in every dtype.
  module.def(
      "fill",
      [](nb::handle out, nb::handle value, bool interruptible) {
        Tensor* target = target_of(out);
        Scalar scalar;
        if (!target->has_memory()) fail_no_values(target, "fill");
        const char* element = element_of(value, target->dtype, &scalar);
        if (!element) return false;
        run_fill(target, element, interruptible);
        return true;
      },
      nb::arg("out"), nb::arg("value"), nb::arg("interruptible") = false);
  // Elements, row-major, into a fresh contiguous tensor; false at the first that does not fit, or,
  // if asked, is no plain number.
  module.def(
      "fill_from_list",
      [](nb::handle out, nb::list values, bool plain) {
        Tensor* target = target_of(out);
        if (static_cast<int64_t>(values.size()) != target->size) return false;
        require(target->is_contiguous);
        InUse in_use(target);
        char* to = target->data();
        Scalar scalar;
        for (int64_t i = 0; i < target->size; ++i) {
          poll_at(i + 1);
          if (static_cast<int64_t>(values.size()) != target->size) return false;
          PyObject* value = PyList_GET_ITEM(values.ptr(), i);
          if (plain && !is_plain_number(value)) return false;
          const char* element = element_of(value, target->dtype, &scalar);
          if (!element) return false;
          memcpy(to, element, static_cast<size_t>(itemsize(target->dtype)));
          to += itemsize(target->dtype);
        }
        note_constant(target);
        return true;
      },
      nb::arg("out"), nb::arg("values"), nb::arg("plain") = false);
  // All elements as Python numbers, row-major.
  module.def("to_list", [](nb::handle x) {
    Tensor* source = tensor_of(x);
    if (!source->has_memory()) fail_no_values(source, "tolist()");
    refuse_capture("reading elements", nullptr);
    nb::object list = nb::steal(PyList_New(source->size));
    if (!list.is_valid()) throw PythonError{};
    Unseen unseen(list.ptr());
    InUse in_use(source);  // to make the list may have run any code, and so may items of a user
    int64_t index[MAX_NDIM] = {}, offset = 0;
    for (int64_t i = 0; i < source->size; ++i) {
      poll_at(i + 1);
      char* element = source->data() + offset * itemsize(source->dtype);
      PyObject* value = load_scalar(source->dtype, element);
      if (!value) throw PythonError{};
      PyList_SET_ITEM(list.ptr(), i, value);
      for (int axis = source->ndim - 1; axis >= 0; --axis) {
        offset += source->strides()[axis];
        if (++index[axis] < source->shape()[axis]) break;
        offset -= index[axis] * source->strides()[axis];
        index[axis] = 0;
      }
    }
    unseen.show();
    return list;
  });
  module.def("may_overlap", [](nb::handle x, nb::handle y) {
    return may_overlap(tensor_of(x)->buffer, tensor_of(y)->buffer);
  });
  module.def("version_of", [](nb::handle x) { return tensor_of(x)->buffer->version; });
  module.def("bump_version", [](nb::handle x) { mark_written(tensor_of(x)->buffer); });
}

}  // namespace tessella
