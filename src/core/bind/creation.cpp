// Numbers that count upwards, for arange and linspace.
#include "../kernels/cast.h"
#include "../launch/tile.h"
#include "bind.h"

namespace tessella {

namespace {

// out[i] = start + i * step, computed in T and converted; out is contiguous.
template <class T>
void count_up(Tensor* out, DType computed, T start, T step) {
  CastFn cast = cast_kernel(computed, out->dtype);
  T tile[launch::TILE];
  for (int64_t i = 0; i < out->size; i += launch::TILE) {
    int64_t count = out->size - i < launch::TILE ? out->size - i : launch::TILE;
    for (int64_t j = 0; j < count; ++j) tile[j] = start + static_cast<T>(i + j) * step;
    cast(count, out->data() + i * itemsize(out->dtype), tile);
  }
}

}  // namespace

void init_creation(nb::module_& module) {
  // The caller has checked that the last number fits.
  module.def("count_integers", [](nb::handle out, int64_t start, int64_t step) {
    count_up<int64_t>(tensor_of(out), DType::int64, start, step);
  });
  module.def("count_floats", [](nb::handle out, double start, double step) {
    count_up<double>(tensor_of(out), DType::float64, start, step);
  });
}

}  // namespace tessella
