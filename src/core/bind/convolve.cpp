// Convolutions with their adjoints, and pools; the records have checked sizes and dtypes.
#include "../tensor/images.h"

#include <algorithm>
#include <cmath>

#include "bind.h"

namespace tessella {

namespace {

// (n, channels, places) or (n, channels, rows, columns), of one float dtype.
void check_images(std::initializer_list<const Tensor*> images, DType dtype, int ndim) {
  require((ndim == 3 || ndim == 4) && kind(dtype) == DKind::floating);
  for (const Tensor* each : images) require(each->ndim == ndim && each->dtype == dtype);
}

// Of each axis; where windows reach to can be counted, and so can their taps.
void check_windows(const Tensor* image, const Tensor* out, Shape window, const Sizes& stride,
                   const Sizes& pad, const Sizes& dilation) {
  constexpr double MOST_REACH = 0x1p62, MOST_TAPS = 0x1p56;
  size_t axes = image->ndim - 2u;
  require(window.size() == axes && stride.size() == axes && pad.size() == axes &&
          dilation.size() == axes);
  auto real = [](int64_t x) { return static_cast<double>(x); };
  double taps = 1;
  for (size_t i = 0; i < axes; ++i) {
    require(stride[i] > 0 && dilation[i] > 0);
    double places = real(out->shape()[i + 2]) - 1, gaps = real(window[i]) - 1;
    double reach = places * real(stride[i]) + gaps * real(dilation[i]) + std::abs(real(pad[i]));
    require(reach + real(image->shape()[i + 2]) < MOST_REACH);
    taps *= real(window[i]);
  }
  require(taps < MOST_TAPS);
}

void check_convolution(const Convolution& of, const Sizes& stride, const Sizes& pad,
                       const Sizes& dilation) {
  const Tensor *x = of.x, *w = of.w, *y = of.y;
  check_images({x, w, y}, x->dtype, x->ndim);
  int64_t channels = w->shape()[1], outs = w->shape()[0], groups = of.groups, ins;
  bool is_counted = !__builtin_mul_overflow(channels, groups, &ins);
  require(is_counted && groups > 0 && outs % groups == 0 && x->shape()[1] == ins &&
          y->shape()[1] == outs && x->shape()[0] == y->shape()[0]);
  int64_t given = of.result == launch::ConvolveResult::output ? outs : ins;
  if (of.bias) require(is_of(of.bias, x->dtype, {&given, 1}));
  check_windows(x, y, w->sizes().subspan(2), stride, pad, dilation);
}

// Elements of planes, one for each place.
void check_places(const Tensor* planes, const Tensor* taken, const Tensor* places) {
  check_images({planes, taken}, planes->dtype, planes->ndim);
  require(is_of(places, DType::int64, taken->sizes()) && places->is_contiguous &&
          std::ranges::equal(planes->sizes().first(2), taken->sizes().first(2)));
}

}  // namespace

void init_convolve(nb::module_& module) {
  // result 0: y, 1: x, 2: w. bias is a tensor or None.
  module.def("convolve", [](int result, nb::handle x, nb::handle w, nb::handle y,
                            std::optional<nb::object> bias, const Sizes& stride, const Sizes& pad,
                            const Sizes& dilation, int64_t groups, bool interruptible) {
    Convolution call{.result = static_cast<launch::ConvolveResult>(code_of(result, 3)),
                     .x = numbers_of(x),
                     .w = numbers_of(w),
                     .y = numbers_of(y),
                     .bias = bias ? numbers_of(*bias) : nullptr,
                     .stride = {stride.data(), stride.size()},
                     .pad = {pad.data(), pad.size()},
                     .dilation = {dilation.data(), dilation.size()},
                     .groups = groups,
                     .interruptible = interruptible};
    check_convolution(call, stride, pad, dilation);
    target_of(result == 0 ? y : result == 1 ? x : w);
    run_convolve(call);
  });
  module.def("pool_places",
             [](nb::handle places, nb::handle x, const Sizes& window, const Sizes& stride,
                const Sizes& pad, const Sizes& dilation, bool interruptible) {
               Tensor *from = numbers_of(x), *out = number_target_of(places);
               check_images({from}, from->dtype, from->ndim);
               require(out->ndim == from->ndim && is_run(out, DType::int64, out->size) &&
                       std::ranges::equal(out->sizes().first(2), from->sizes().first(2)));
               if (window.empty()) {
                 for (const Sizes* each : {&stride, &pad, &dilation}) require(each->size() <= 2);
                 require(out->size == 0 || from->size > 0);
               } else {
                 for (int64_t each : window) require(each > 0);
                 check_windows(from, out, {window.data(), window.size()}, stride, pad, dilation);
               }
               run_pool({.x = from,
                         .places = out,
                         .window = {window.data(), window.size()},
                         .stride = {stride.data(), stride.size()},
                         .pad = {pad.data(), pad.size()},
                         .dilation = {dilation.data(), dilation.size()},
                         .interruptible = interruptible});
             });
  module.def("pool_pick", [](nb::handle out, nb::handle x, nb::handle places, bool interruptible) {
    check_places(numbers_of(x), numbers_of(out), tensor_of(places));
    return run_pick(target_of(out), tensor_of(x), tensor_of(places), interruptible);
  });
  module.def("pool_place", [](nb::handle out, nb::handle y, nb::handle places, bool interruptible) {
    check_places(numbers_of(out), numbers_of(y), tensor_of(places));
    require(tensor_of(out)->is_contiguous && itemsize(tensor_of(out)->dtype) > 2);
    return run_place(target_of(out), tensor_of(y), tensor_of(places), interruptible);
  });
}

}  // namespace tessella
