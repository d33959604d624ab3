// Gathering and scattering by index tensors, and the coordinates of true elements.
#include "../tensor/index_arrays.h"

#include <algorithm>

#include "../tensor/run.h"
#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

namespace {

using Axes = std::vector<int>;
using Tensors = std::span<Tensor* const>;

// A sequence may make its items as it is asked for them: they are held.
struct Indices {
  nb::tuple held;
  std::vector<Tensor*> tensors;

  explicit Indices(const nb::sequence& given) : held(given) {
    for (nb::handle index : held) tensors.push_back(tensor_of(index));
  }
};

// The axes are different ones of x; in `values` those of the indices stand at `place` among the
// others.
const Axes& checked(const Tensor* x, const Tensor* values, const Axes& axes, Tensors indices,
                    int place) {
  uint64_t indexed = 0;
  require(axes.size() == indices.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    require(indices[i]->dtype == DType::int64 && !(indexed >> axis_of(x, axes[i]) & 1));
    indexed |= uint64_t{1} << axes[i];
  }
  Layout joint = joint_shape(static_cast<int>(indices.size()), indices.data()), shape;
  for (int axis = 0; axis <= x->ndim; ++axis) {
    if (shape.ndim == place)
      for (int i = 0; i < joint.ndim; ++i) shape.append(joint.shape[i], 0);
    if (axis < x->ndim && !(indexed >> axis & 1)) shape.append(x->shape()[axis], 0);
  }
  require(is_of(values, x->dtype, shape.sizes()));
  return axes;
}

// x indexed by int64 tensors.
struct Indexing {
  const Axes& axes;
  IndexArrays arrays;
  launch::IndexTask& task = arrays.task;

  Indexing(Tensor* x, Tensor* values, const Axes& axes, Tensors indices, int place)
      : axes(checked(x, values, axes, indices, place)),
        arrays(x, values, static_cast<int>(axes.size()), axes.data(), indices.data(), place) {}

  // Calls `write` if all indices are good, and throws if they are not.
  template <class Write>
  void check(Tensor* x, Tensor* values, Tensors indices, Write write) const {
    launch::BadIndex bad;
    bool is_good;
    int64_t most = values->size;
    for (const Tensor* each : indices) most = std::max(most, each->size);
    {
      LongWork work(most, {x, values}, indices);
      is_good = launch::check_indices(task, &bad);
      if (is_good) write();
    }
    if (!is_good)
      fail_index_out_of_bounds(bad.value, axes[static_cast<size_t>(bad.which)], bad.axis_size);
  }
};

// An operation of x, values and index tensors, as it is repeated.
using Indexed = void (*)(Tensor* values, Tensor* x, const Axes& axes, Tensors indices, int place,
                         int joining);

void note_indexed(Noted* noted, const char* name, Indexed run, bool writes_x, Tensor* values,
                  Tensor* x, const Axes& axes, Tensors indices, int place, int joining) {
  std::vector<Tensor*> read{writes_x ? values : x};
  read.insert(read.end(), indices.begin(), indices.end());
  Tensor* written = writes_x ? x : values;
  std::vector<int64_t> named(axes.begin(), axes.end());
  noted->take(
      name,
      name_values("axes", named) + name_value("place", place) + name_value("joining", joining),
      std::span<Tensor* const>(&written, 1), read,
      [=, count = indices.size()](Tensor* const* operands, const Draw&) {
        run(operands[writes_x ? 1 : 0], operands[writes_x ? 0 : 1], axes, {operands + 2, count},
            place, joining);
      });
}

void run_gather(Tensor* out, Tensor* x, const Axes& axes, Tensors indices, int place, int) {
  Noted noted;
  if (is_taping())
    note_indexed(&noted, "gather", run_gather, false, out, x, axes, indices, place, 0);
  if (noted.is_rehearsed()) return;
  Indexing indexing(x, out, axes, indices, place);
  bool is_good;
  {
    LongWork work(out->size, {x, out}, indices);
    is_good = launch::gather(indexing.task);
  }
  if (!is_good) indexing.check(x, out, indices, [] {});
}

// These write to x; from the first write on they run to their end.
void run_scatter(Tensor* values, Tensor* x, const Axes& axes, Tensors indices, int place, int) {
  Noted noted;
  if (is_taping())
    note_indexed(&noted, "scatter", run_scatter, true, values, x, axes, indices, place, 0);
  if (noted.is_rehearsed()) return;
  Indexing indexing(x, values, axes, indices, place);
  indexing.task.interruptible = false;
  indexing.check(x, values, indices, [&] { launch::scatter(indexing.task); });
}

void run_scatter_add(Tensor* values, Tensor* x, const Axes& axes, Tensors indices, int place, int) {
  Noted noted;
  if (is_taping())
    note_indexed(&noted, "scatter_add", run_scatter_add, true, values, x, axes, indices, place, 0);
  if (noted.is_rehearsed()) return;
  Indexing indexing(x, values, axes, indices, place);
  indexing.check(x, values, indices, [&] { launch::scatter_add(indexing.task, x->dtype); });
}

// The caller has converted both to a dtype that scatter_join knows.
void run_scatter_join(Tensor* values, Tensor* x, const Axes& axes, Tensors indices, int place,
                      int joining) {
  Noted noted;
  if (is_taping())
    note_indexed(&noted, "scatter_join", run_scatter_join, true, values, x, axes, indices, place,
                 joining);
  if (noted.is_rehearsed()) return;
  Indexing indexing(x, values, axes, indices, place);
  DType dtype = x->dtype;
  require(dtype == DType::int64 || dtype == DType::uint64 || dtype == DType::float32 ||
          dtype == DType::float64);
  auto how = static_cast<launch::Joining>(code_of(joining, 3));
  indexing.check(x, values, indices, [&] { launch::scatter_join(indexing.task, dtype, how); });
}

std::optional<int64_t> outside(const Tensor* x, int64_t low, int64_t high) {
  int64_t found;
  bool is_found =
      launch::find_outside(x->ndim, x->shape(), x->strides(),
                           reinterpret_cast<const int64_t*>(x->data()), low, high, &found);
  return is_found ? std::optional(found) : std::nullopt;
}

// A copy of integers that must be from low to high: throws for one that is not, at a repetition
// too, where `text` is what Python would say.
void run_limit(Tensor* out, Tensor* x, int64_t low, int64_t high, const Error& text) {
  Noted noted;
  if (is_taping())
    noted.take("limit", name_value("low", low) + name_value("high", high), {out}, {x},
               [=](Tensor* const* operands, const Draw&) {
                 run_limit(operands[0], operands[1], low, high, text);
               });
  if (noted.is_rehearsed()) return;
  require(x->dtype == DType::int64 && can_spread(x, out->sizes()));
  std::optional<int64_t> found;
  if (!skips_chunks) {
    LongWork work(x->size, {out, x});
    found = outside(x, low, high);
  }
  if (found) fail_limits(text, *found);
  run_copy(out, x, true);
}

}  // namespace

void init_index(nb::module_& module) {
  module.def("gather", [](nb::handle out, nb::handle x, const Axes& axes,
                          const nb::sequence& indices, int place) {
    run_gather(target_of(out), tensor_of(x), axes, Indices(indices).tensors, place, 0);
  });
  module.def("scatter", [](nb::handle values, nb::handle x, const Axes& axes,
                           const nb::sequence& indices, int place) {
    run_scatter(tensor_of(values), target_of(x), axes, Indices(indices).tensors, place, 0);
  });
  module.def("scatter_add", [](nb::handle values, nb::handle x, const Axes& axes,
                               const nb::sequence& indices, int place) {
    run_scatter_add(numbers_of(values), number_target_of(x), axes, Indices(indices).tensors, place,
                    0);
  });
  module.def("scatter_join", [](nb::handle values, nb::handle x, const Axes& axes,
                                const nb::sequence& indices, int place, int joining) {
    run_scatter_join(numbers_of(values), number_target_of(x), axes, Indices(indices).tensors, place,
                     joining);
  });
  module.def("limit", [](nb::handle out, nb::handle x, int64_t low, int64_t high, int code,
                         const char* what, const char* hint) {
    run_limit(target_of(out), tensor_of(x), low, high, {static_cast<Code>(code), what, hint});
  });
  // The first that is not from low to high, for an error.
  module.def("find_outside", [](nb::handle x, int64_t low, int64_t high) {
    require(tensor_of(x)->dtype == DType::int64);
    LongWork work(tensor_of(x)->size, {tensor_of(x)});
    return outside(tensor_of(x), low, high);
  });
  // (ndim, count): row d holds the coordinates along axis d.
  module.def("nonzero", [](nb::handle mask) {
    require(tensor_of(mask)->dtype == DType::boolean);
    return own(nonzero_of(tensor_of(mask)));
  });
}

}  // namespace tessella
