// Numbers that count upwards, for arange and linspace.
#include <nanobind/stl/complex.h>

#include "../kernels/cast.h"
#include "../launch/tile.h"
#include "bind.h"

namespace tessella {

namespace {

// out[i] = value(i), a T, converted from the dtype that it is computed in; out is contiguous.
template <class T, class F>
void count_up(Tensor* out, DType computed, F value) {
  CastFn cast = cast_kernel(computed, out->dtype);
  T tile[launch::TILE];
  for (int64_t i = 0; i < out->size; i += launch::TILE) {
    int64_t count = out->size - i < launch::TILE ? out->size - i : launch::TILE;
    for (int64_t j = 0; j < count; ++j) tile[j] = value(i + j);
    cast(count, out->data() + i * itemsize(out->dtype), tile);
  }
}

}  // namespace

void init_creation(nb::module_& module) {
  // Integers modulo 2 ** 64; the caller has checked that the first and the last fit.
  module.def("count_integers", [](nb::handle out, uint64_t start, uint64_t step) {
    Tensor* target = numbers_of(out);
    DType computed = target->dtype == DType::uint64 ? DType::uint64 : DType::int64;
    count_up<uint64_t>(target, computed, [=](int64_t i) { return start + uint64_t(i) * step; });
  });
  module.def("count_floats", [](nb::handle out, double start, double step, double scale) {
    count_up<double>(numbers_of(out), DType::float64,
                     [=](int64_t i) { return (start + double(i) * step) * scale; });
  });
  module.def("count_complex", [](nb::handle out, std::complex<double> start,
                                 std::complex<double> step, double scale) {
    using C = std::complex<double>;
    count_up<C>(numbers_of(out), DType::complex128, [=](int64_t i) {
      return C((start.real() + double(i) * step.real()) * scale,
               (start.imag() + double(i) * step.imag()) * scale);
    });
  });
}

}  // namespace tessella
