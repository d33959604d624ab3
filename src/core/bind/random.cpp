// Random numbers into fresh tensors. Each call says how far the generator advances.
#include "../launch/random.h"

#include "../launch/dropout.h"

#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

// Positions of the distributions in the enum Distribution.
uint64_t fill_random(nb::handle target, int distribution, uint64_t key, uint64_t counter,
                     uint64_t low, uint64_t range, double p) {
  Tensor* out = numbers_of(target);
  launch::RandomTask task{.distribution = static_cast<Distribution>(distribution),
                          .dtype = out->dtype,
                          .key = key,
                          .counter = counter,
                          .n = out->size,
                          .out = out->data(),
                          .low = low,
                          .range = range,
                          .p = p,
                          .interruptible = true};
  LongWork work(out->size, {out});
  launch::random(task);
  return launch::random_counters(task);
}

}  // namespace

void init_random(nb::module_& module) {
  module.def("has_random", [](int distribution, int dtype) {
    return launch::has_random(static_cast<Distribution>(distribution), static_cast<DType>(dtype));
  });
  module.def("dropout_counters", launch::dropout_counters);
  module.def("random", fill_random);
  module.def("permutation", [](nb::handle target, uint64_t key, uint64_t counter) {
    Tensor* out = numbers_of(target);
    launch::PermutationTask task{.key = key,
                                 .counter = counter,
                                 .n = out->size,
                                 .out = reinterpret_cast<int64_t*>(out->data()),
                                 .interruptible = true};
    Scratch scratch(static_cast<size_t>(launch::permutation_scratch_bytes(out->size)));
    LongWork work(out->size * 8, {out});
    launch::permutation(task, scratch.data());
    return launch::permutation_counters(out->size);
  });
}

}  // namespace tessella
