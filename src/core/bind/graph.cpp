// Recording of gradients, and the modes of the fast path.
#include <algorithm>
#include <utility>

#include "../tensor/anomaly.h"
#include "../tensor/function.h"
#include "../tensor/gradients.h"
#include "../tensor/lines.h"
#include "../tensor/node.h"
#include "../tensor/operators.h"
#include "../tensor/pins.h"
#include "../tensor/sweep.h"
#include "../tensor/tape.h"
#include "../tensor/view.h"
#include "bind.h"

namespace tessella {

namespace {

PyObject* or_none(PyObject* object) { return object ? object : Py_None; }

// What Python gives is what it should be, or refused.
Node* node_of(nb::handle object) {
  if (!is_node(object.ptr())) throw nb::type_error("a recorded operation is needed");
  return as_node(object.ptr());
}
Function* function_of(nb::handle object) {
  if (Py_TYPE(object.ptr()) != function_type) throw nb::type_error("an operation is needed");
  return as_function(object.ptr());
}
void check_tensors(const nb::tuple& tensors, bool may_be_none) {
  for (nb::handle x : tensors)
    if (!may_be_none || !x.is_none()) tensor_of(x);
}

bool has_dims_of(const Tensor* x, const Tensor* y) {
  size_t bytes = 2 * sizeof(int64_t) * static_cast<size_t>(x->ndim);
  return x->ndim == y->ndim && memcmp(x->dims.data(), y->dims.data(), bytes) == 0;
}

// An operation of another thread may look at the shape of the leaf and its strides.
void check_adoption(const Tensor* leaf, const Tensor* source) {
  Allocator* own = leaf->buffer->allocator;
  Allocator& home = own ? *own : heap();
  if (tensors_in_making) fail_in_making(home);
  if (!has_dims_of(leaf, source) && is_worked_on(leaf->buffer))
    fail_pinned(home, "an operation that runs in another thread");
}

// Dims that stay the same stay where they are.
void change_places(Tensor* leaf, Tensor* twin) {
  if (!has_dims_of(leaf, twin)) std::swap(leaf->dims, twin->dims);
  std::swap(leaf->buffer, twin->buffer);
  leaf->offset = twin->offset;
  leaf->size = twin->size;
  leaf->ndim = twin->ndim;
  leaf->dtype = twin->dtype;
  leaf->is_contiguous = twin->is_contiguous;
}

void adopt_all(const nb::tuple& leaves, const nb::tuple& sources) {
  check_tensors(leaves, false);
  if (leaves.size() != sources.size()) throw nb::type_error("a source for each leaf");
  std::vector<nb::object> twins;  // they end last: the end of memory of others runs their code
  for (nb::handle each : sources) {
    const Tensor* source = tensor_of(each);
    twins.push_back(own(make_over(retain(source->buffer), source->dtype, source->layout())));
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    check_adoption(tensor_of(leaves[i]), tensor_of(twins[i]));
  for (size_t i = 0; i < leaves.size(); ++i)
    change_places(tensor_of(leaves[i]), tensor_of(twins[i]));
}

std::span<PyObject* const> items_of(const nb::tuple& tuple) {
  return {reinterpret_cast<PyTupleObject*>(tuple.ptr())->ob_item, tuple.size()};
}

}  // namespace

void init_graph(nb::module_& module) {
  module.def("is_grad_enabled", is_grad_enabled);
  module.def("set_grad_enabled", set_grad_enabled);
  // A tensor that gradients are asked of is a leaf, and no longer the view of another.
  module.def("set_requires_grad", [](nb::handle x, bool wanted) {
    if (is_taping() && tensor_of(x)->base) tape->note_state(tensor_of(x));
    tensor_of(x)->requires_grad = wanted;
    if (!tensor_of(x)->node) {
      Py_CLEAR(tensor_of(x)->base);
      tensor_of(x)->is_blind = false;
    }
  });
  module.def("link_view", [](nb::handle out, nb::handle x) {
    link_view(tensor_of(out), as_object(tensor_of(x)));
  });
  // A view of memory that nobody else knows is no view.
  module.def("forget_base", [](nb::handle x) {
    Py_CLEAR(tensor_of(x)->base);
    tensor_of(x)->is_blind = false;
  });
  module.def("is_blind", [](nb::handle x) { return tensor_of(x)->is_blind; });
  // Whose memory it shares as a view, if gradients are to follow writes to either; or None.
  module.def("base_of", [](nb::handle x) { return nb::borrow(or_none(tensor_of(x)->base)); });
  // Takes a tensor out of the graph.
  module.def("detach", [](nb::handle x) {
    Tensor* tensor = tensor_of(x);
    if (is_taping()) tape->note_state(tensor);
    tensor->requires_grad = false;
    Py_CLEAR(tensor->node);
    Py_CLEAR(tensor->base);
    tensor->is_blind = false;
  });
  // Hooks of a tensor change, or its place in the graph.
  module.def("note_state", [](nb::handle x) {
    if (is_taping()) tape->note_state(tensor_of(x));
  });
  // Lets each leaf show the memory of another tensor from now on, in that one's shape and dtype;
  // all of them or none.
  module.def("adopt", adopt_all);
  module.def("set_node_hooks", [](nb::handle node, nb::handle hooks) {
    Py_XSETREF(node_of(node)->hooks, Py_NewRef(hooks.ptr()));
  });
  module.def("leaf_hooks", [](nb::handle x) { return nb::borrow(or_none(tensor_of(x)->hooks)); });
  module.def(
      "set_leaf_hooks",
      [](nb::handle x, nb::handle hooks) {
        Py_XSETREF(tensor_of(x)->hooks, hooks.is_none() ? nullptr : Py_NewRef(hooks.ptr()));
      },
      nb::arg("x"), nb::arg("hooks").none());
  module.def("output_of", [](nb::handle x) { return static_cast<int>(tensor_of(x)->output); });
  module.def(
      "sweep",
      [](nb::tuple roots, nb::tuple gradients, nb::handle wanted, bool retains, bool creates,
         std::optional<uint64_t> since, bool in_parts) {
        check_tensors(roots, false);
        check_tensors(gradients, true);
        if (roots.size() != gradients.size()) throw nb::type_error("a gradient for each root");
        require(!in_parts || !wanted.is_none());
        if (!wanted.is_none()) check_tensors(nb::cast<nb::tuple>(wanted), false);
        return nb::steal(sweep({roots.ptr(), gradients.ptr(), wanted.ptr(), retains, creates,
                                since.value_or(0), since.has_value(), in_parts}));
      },
      nb::arg("roots"), nb::arg("gradients"), nb::arg("wanted").none(), nb::arg("retains"),
      nb::arg("creates"), nb::arg("since") = nb::none(), nb::arg("in_parts") = false);
  module.def("sources_of", [](nb::tuple roots, uint64_t since) {
    check_tensors(roots, false);
    return nb::steal(sources_of(roots.ptr(), since));
  });
  module.def("recorded", recorded_nodes);  // how many operations so far
  // Adds gradients to what tensors have, all of them or none.
  module.def("update_gradients", [](nb::tuple tensors, nb::tuple gradients) {
    check_tensors(gradients, false);
    if (tensors.size() != gradients.size()) throw nb::type_error("a gradient for each tensor");
    LeafUpdates updates;
    for (size_t i = 0; i < tensors.size(); ++i)
      updates.prepare(tensor_of(tensors[i]), Py_NewRef(nb::handle(gradients[i]).ptr()));
    updates.commit();
  });
  module.def(
      "record_call",
      [](nb::tuple outs, nb::handle function, nb::tuple inputs, nb::handle params, nb::tuple kept) {
        check_tensors(outs, false);
        check_tensors(inputs, false);
        check_tensors(kept, false);
        if (!record_call(items_of(outs), function_of(function), items_of(inputs),
                         params.is_none() ? nullptr : params.ptr(), items_of(kept)))
          throw PythonError{};
      },
      nb::arg("outs"), nb::arg("function"), nb::arg("inputs"), nb::arg("params").none(),
      nb::arg("kept"));
  // Where what a node has saved at a place was first overwritten: file and line, or None where that
  // is not known.
  module.def("site_of_write", [](nb::handle node, int place) -> nb::object {
    if (place < 0 || place >= node_of(node)->saves) return nb::none();
    const Saved& saved = node_of(node)->saved[place];
    if (!saved.buffer) return nb::none();
    Site site = site_of_write(saved.buffer, saved.version + 1);
    if (!site.code) return nb::none();
    int line = PyCode_Addr2Line(site.code, site.instruction);
    return nb::make_tuple(nb::borrow(site.code->co_filename), line);
  });
  // All that was saved, or what is at some places.
  auto unpack_saved = [](nb::handle node, nb::handle given) {
    Node* self = node_of(node);
    std::vector<int> places;
    if (!given.is_none()) places = nb::cast<std::vector<int>>(given);
    Visit visit(self);
    nb::list found;
    for (int i = 0; i < self->saves; ++i)
      if (given.is_none() || std::find(places.begin(), places.end(), i) != places.end())
        found.append(nb::steal(unpack_strictly(self, self->saved[i], is_grad_enabled())));
    return nb::tuple(found);
  };
  module.def("unpack_saved", unpack_saved, nb::arg("node"), nb::arg("places") = nb::none());
  module.def("needs_node", [](nb::args inputs) {
    return needs_node(reinterpret_cast<PyTupleObject*>(inputs.ptr())->ob_item,
                      static_cast<int>(inputs.size()));
  });
  // params is a dict or None.
  module.def(
      "record",
      [](nb::handle out, nb::handle function, nb::tuple inputs, nb::handle params) {
        PyObject* kept = params.is_none() ? nullptr : params.ptr();
        if (!function_of(function)->rules) throw nb::type_error("it has no rules");
        if (!record(tensor_of(out), function_of(function),
                    reinterpret_cast<PyTupleObject*>(inputs.ptr())->ob_item,
                    static_cast<int>(inputs.size()), kept))
          throw PythonError{};
      },
      nb::arg("out"), nb::arg("function"), nb::arg("inputs"), nb::arg("params").none());
  module.def("set_package_folder", [](nb::str folder) { set_package_folder(folder.ptr()); });
  module.def("view_names", [] {
    nb::list names;
    for (const char* name : VIEW_NAMES) names.append(name);
    return names;
  });
  module.def("watches_values", [] { return watches_values; });
  module.def("set_watches_values", [](bool wanted) { watches_values = wanted; });
  module.def("is_anomalous", [](nb::handle x) { return is_anomalous(x.ptr()); });
  // Asks who made a result that is not finite; raises if it was this operation.
  module.def("judge_anomaly", [](nb::handle record, nb::tuple args, nb::handle out) {
    PyObject* done = PyObject_CallFunctionObjArgs(hook(Hook::anomaly), record.ptr(), args.ptr(),
                                                  out.ptr(), nullptr);
    if (!done) throw PythonError{};
    Py_DECREF(done);
  });
  module.def("modes", [] { return modes; });
  module.def("set_modes", [](uint32_t bits) { modes = bits; });
  module.def("fast_path_counts", [] { return nb::make_tuple(counts.fast, counts.declined); });
}

}  // namespace tessella
