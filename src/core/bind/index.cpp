// Gathering and scattering by index tensors, and the coordinates of true elements.
#include "../launch/index.h"

#include "../launch/nonzero.h"
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

// The arrays behind an IndexTask. `x` is indexed along `axes` by int64 tensors that broadcast to a
// joint shape; in `values` the axes of that shape stand at `place` among the axes of x left over.
struct Indexing {
  std::vector<const int64_t*> data, strides;
  std::vector<Sizes> stride_lists;
  Sizes axis_sizes, axis_strides, shape, rest_shape, rest_x, value_index, value_rest;
  launch::IndexTask task{};

  Indexing(Tensor* x, Tensor* values, const std::vector<int>& axes, nb::sequence indices,
           int place) {
    std::vector<Tensor*> tensors;
    for (nb::handle index : indices) tensors.push_back(tensor_of(index));
    Layout joint;
    for (Tensor* index : tensors) joint = broadcast_shapes(joint.sizes(), index->sizes());
    shape.assign(joint.shape, joint.shape + joint.ndim);
    for (Tensor* index : tensors) {
      Layout spread = index->layout().broadcast_to(joint.sizes());
      data.push_back(reinterpret_cast<const int64_t*>(index->data()));
      stride_lists.emplace_back(spread.strides, spread.strides + spread.ndim);
    }
    for (const Sizes& list : stride_lists) strides.push_back(list.data());
    for (int axis : axes) {
      axis_sizes.push_back(x->shape()[axis]);
      axis_strides.push_back(x->strides()[axis]);
    }
    std::vector<bool> is_indexed(x->ndim);
    for (int axis : axes) is_indexed[static_cast<size_t>(axis)] = true;
    for (int axis = 0, rest = 0; axis < x->ndim; ++axis) {
      if (is_indexed[static_cast<size_t>(axis)]) continue;
      rest_shape.push_back(x->shape()[axis]);
      rest_x.push_back(x->strides()[axis]);
      value_rest.push_back(values->strides()[rest < place ? rest : rest + joint.ndim]);
      ++rest;
    }
    for (int axis = 0; axis < joint.ndim; ++axis)
      value_index.push_back(values->strides()[place + axis]);
    task = {.itemsize = itemsize(x->dtype),
            .index_count = static_cast<int>(axes.size()),
            .indices = data.data(),
            .index_strides = strides.data(),
            .axis_sizes = axis_sizes.data(),
            .axis_strides = axis_strides.data(),
            .index_ndim = joint.ndim,
            .index_shape = shape.data(),
            .rest_ndim = static_cast<int>(rest_shape.size()),
            .rest_shape = rest_shape.data(),
            .rest_strides_x = rest_x.data(),
            .x = x->data(),
            .values = values->data(),
            .value_index_strides = value_index.data(),
            .value_rest_strides = value_rest.data(),
            .interruptible = true};
  }

  void check(const std::vector<int>& axes) const {
    launch::BadIndex bad;
    if (!launch::check_indices(task, &bad))
      fail_index_out_of_bounds(bad.value, axes[static_cast<size_t>(bad.which)], bad.axis_size);
  }
};

launch::MaskTask mask_task(Tensor* mask) {
  return {.ndim = mask->ndim,
          .shape = mask->shape(),
          .strides = mask->strides(),
          .mask = mask->data(),
          .interruptible = true};
}

}  // namespace

void init_index(nb::module_& module) {
  module.def("gather", [](nb::handle out, nb::handle x, const std::vector<int>& axes,
                          nb::sequence indices, int place) {
    Indexing indexing(tensor_of(x), tensor_of(out), axes, indices, place);
    bool is_good;
    {
      LongWork work(tensor_of(out)->size);
      is_good = launch::gather(indexing.task);
    }
    if (!is_good) indexing.check(axes);
  });
  // Writes to x; from the first write on it runs to its end.
  module.def("scatter", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                           nb::sequence indices, int place) {
    Indexing indexing(tensor_of(x), tensor_of(values), axes, indices, place);
    indexing.check(axes);
    indexing.task.interruptible = false;
    LongWork work(tensor_of(values)->size);
    launch::scatter(indexing.task);
  });
  module.def("scatter_add", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                               nb::sequence indices, int place) {
    Indexing indexing(tensor_of(x), tensor_of(values), axes, indices, place);
    indexing.check(axes);
    LongWork work(tensor_of(values)->size);
    launch::scatter_add(indexing.task, tensor_of(x)->dtype);
  });
  // The caller has converted both to a dtype that scatter_join knows.
  module.def("scatter_join", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                                nb::sequence indices, int place, int joining) {
    Indexing indexing(tensor_of(x), tensor_of(values), axes, indices, place);
    indexing.check(axes);
    LongWork work(tensor_of(values)->size);
    launch::scatter_join(indexing.task, tensor_of(x)->dtype, static_cast<launch::Joining>(joining));
  });
  // (ndim, count): row d holds the coordinates along axis d.
  module.def("nonzero", [](nb::handle mask) {
    launch::MaskTask task = mask_task(tensor_of(mask));
    Scratch scratch(static_cast<size_t>(launch::nonzero_scratch_bytes(task)));
    int64_t count;
    {
      LongWork work(tensor_of(mask)->size);
      count = launch::count_nonzero(task, scratch.data());
    }
    int64_t shape[] = {task.ndim, count};
    nb::object out = own(make_tensor(DType::int64, shape));
    LongWork work(tensor_of(mask)->size);
    launch::nonzero(task, scratch.data(), count,
                    reinterpret_cast<int64_t*>(as_tensor(out.ptr())->data()));
    return out;
  });
}

}  // namespace tessella
