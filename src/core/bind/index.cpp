// Gathering and scattering by index tensors, and the coordinates of true elements.
#include "../tensor/index_arrays.h"
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

// x indexed by a sequence of int64 tensors.
struct Indexing {
  std::vector<int> axes;
  std::vector<Tensor*> tensors;
  IndexArrays arrays;
  launch::IndexTask& task = arrays.task;

  Indexing(Tensor* x, Tensor* values, const std::vector<int>& axes, nb::sequence indices, int place)
      : axes(axes),
        tensors(tensors_of(indices)),
        arrays(x, values, static_cast<int>(axes.size()), this->axes.data(), tensors.data(), place) {
  }

  void check() const {
    launch::BadIndex bad;
    if (!launch::check_indices(task, &bad))
      fail_index_out_of_bounds(bad.value, axes[static_cast<size_t>(bad.which)], bad.axis_size);
  }

 private:
  static std::vector<Tensor*> tensors_of(nb::sequence indices) {
    std::vector<Tensor*> tensors;
    for (nb::handle index : indices) tensors.push_back(tensor_of(index));
    return tensors;
  }
};

}  // namespace

void init_index(nb::module_& module) {
  module.def("gather", [](nb::handle out, nb::handle x, const std::vector<int>& axes,
                          nb::sequence indices, int place) {
    Indexing indexing(tensor_of(x), tensor_of(out), axes, indices, place);
    bool is_good;
    {
      LongWork work(tensor_of(out)->size, {tensor_of(x), tensor_of(out)}, indexing.tensors);
      is_good = launch::gather(indexing.task);
    }
    if (!is_good) indexing.check();
  });
  // Writes to x; from the first write on it runs to its end.
  module.def("scatter", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                           nb::sequence indices, int place) {
    Indexing indexing(tensor_of(x), tensor_of(values), axes, indices, place);
    indexing.check();
    indexing.task.interruptible = false;
    LongWork work(tensor_of(values)->size, {tensor_of(x), tensor_of(values)}, indexing.tensors);
    launch::scatter(indexing.task);
  });
  module.def("scatter_add", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                               nb::sequence indices, int place) {
    Indexing indexing(numbers_of(x), numbers_of(values), axes, indices, place);
    indexing.check();
    LongWork work(tensor_of(values)->size, {tensor_of(x), tensor_of(values)}, indexing.tensors);
    launch::scatter_add(indexing.task, tensor_of(x)->dtype);
  });
  // The caller has converted both to a dtype that scatter_join knows.
  module.def("scatter_join", [](nb::handle values, nb::handle x, const std::vector<int>& axes,
                                nb::sequence indices, int place, int joining) {
    Indexing indexing(numbers_of(x), numbers_of(values), axes, indices, place);
    indexing.check();
    LongWork work(tensor_of(values)->size, {tensor_of(x), tensor_of(values)}, indexing.tensors);
    launch::scatter_join(indexing.task, tensor_of(x)->dtype, static_cast<launch::Joining>(joining));
  });
  // (ndim, count): row d holds the coordinates along axis d.
  module.def("nonzero", [](nb::handle mask) { return own(nonzero_of(numbers_of(mask))); });
}

}  // namespace tessella
