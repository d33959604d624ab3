// Numbers that count upwards, for arange and linspace.
#include <nanobind/stl/complex.h>

#include "../kernels/cast.h"
#include "../launch/tile.h"
#include "../tensor/tape.h"
#include "../threads.h"
#include "bind.h"

namespace tessella {

namespace {

// out[i] = value(i), a T, converted from the dtype that it is computed in; out is contiguous.
template <class T, class F>
void count_up(Tensor* out, DType computed, F value) {
  if (skips_chunks) return;
  CastFn cast = cast_kernel(computed, out->dtype);
  T tile[launch::TILE];
  for (int64_t i = 0; i < out->size; i += launch::TILE) {
    int64_t count = out->size - i < launch::TILE ? out->size - i : launch::TILE;
    for (int64_t j = 0; j < count; ++j) tile[j] = value(i + j);
    cast(count, out->data() + i * itemsize(out->dtype), tile);
  }
}

void count_integers(Tensor* out, uint64_t start, uint64_t step) {
  Noted noted;
  if (is_taping())
    noted.take("count_integers",
               name_value("start", static_cast<int64_t>(start)) +
                   name_value("step", static_cast<int64_t>(step)),
               {out}, {},
               [=](Tensor* const* all, const Draw&) { count_integers(all[0], start, step); });
  if (noted.is_rehearsed()) return;
  DType computed = out->dtype == DType::uint64 ? DType::uint64 : DType::int64;
  count_up<uint64_t>(out, computed, [=](int64_t i) { return start + uint64_t(i) * step; });
}

void count_floats(Tensor* out, double start, double step, double scale) {
  Noted noted;
  if (is_taping())
    noted.take("count_floats",
               name_real("start", start) + name_real("step", step) + name_real("scale", scale),
               {out}, {},
               [=](Tensor* const* all, const Draw&) { count_floats(all[0], start, step, scale); });
  if (noted.is_rehearsed()) return;
  count_up<double>(out, DType::float64,
                   [=](int64_t i) { return (start + double(i) * step) * scale; });
}

using Complex = std::complex<double>;

void count_complex(Tensor* out, Complex start, Complex step, double scale) {
  Noted noted;
  if (is_taping())
    noted.take("count_complex",
               name_real("start", start.real()) + name_real("start", start.imag()) +
                   name_real("step", step.real()) + name_real("step", step.imag()) +
                   name_real("scale", scale),
               {out}, {},
               [=](Tensor* const* all, const Draw&) { count_complex(all[0], start, step, scale); });
  if (noted.is_rehearsed()) return;
  count_up<Complex>(out, DType::complex128, [=](int64_t i) {
    return Complex((start.real() + double(i) * step.real()) * scale,
                   (start.imag() + double(i) * step.imag()) * scale);
  });
}

Tensor* run_of(nb::handle object) {
  Tensor* out = number_target_of(object);
  check_values(out);
  require(out->is_contiguous);
  return out;
}

}  // namespace

void init_creation(nb::module_& module) {
  // Integers modulo 2 ** 64; the caller has checked that the first and the last fit.
  module.def("count_integers", [](nb::handle out, uint64_t start, uint64_t step) {
    count_integers(run_of(out), start, step);
  });
  module.def("count_floats", [](nb::handle out, double start, double step, double scale) {
    count_floats(run_of(out), start, step, scale);
  });
  module.def("count_complex", [](nb::handle out, Complex start, Complex step, double scale) {
    count_complex(run_of(out), start, step, scale);
  });
}

}  // namespace tessella
