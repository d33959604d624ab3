// Random numbers into fresh tensors, and how far a generator advances by them.
#include "../launch/random.h"

#include "../launch/dropout.h"

#include "../tensor/run.h"
#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

namespace {

Distribution distribution_of(int code) {
  return static_cast<Distribution>(code_of(code, DISTRIBUTION_COUNT));
}

void run_random(Tensor* out, Distribution distribution, Draw from, uint64_t low, uint64_t range,
                double p) {
  Noted noted;
  if (is_taping()) {
    noted.take("random",
               name_value("distribution", static_cast<int>(distribution)) +
                   name_value("low", static_cast<int64_t>(low)) +
                   name_value("range", static_cast<int64_t>(range)) + name_real("p", p),
               {out}, {}, [=](Tensor* const* all, const Draw& draw) {
                 run_random(all[0], distribution, draw, low, range, p);
               });
    noted.draw(from);
  }
  launch::RandomTask task{.distribution = distribution,
                          .dtype = out->dtype,
                          .key = from.key,
                          .counter = from.counter,
                          .n = out->size,
                          .out = out->data(),
                          .low = low,
                          .range = range,
                          .p = p,
                          .interruptible = true};
  LongWork work(out->size, {out});
  if (!noted.is_rehearsed()) launch::random(task);
}

void run_permutation(Tensor* out, Draw from) {
  Noted noted;
  if (is_taping()) {
    noted.take("permutation", "", {out}, {},
               [](Tensor* const* all, const Draw& draw) { run_permutation(all[0], draw); });
    noted.draw(from);
  }
  launch::PermutationTask task{.key = from.key,
                               .counter = from.counter,
                               .n = out->size,
                               .out = reinterpret_cast<int64_t*>(out->data()),
                               .interruptible = true};
  if (noted.is_rehearsed()) return;
  Scratch scratch(static_cast<size_t>(launch::permutation_scratch_bytes(out->size)));
  LongWork work(out->size * 8, {out});
  launch::permutation(task, scratch.data());
}

}  // namespace

void init_random(nb::module_& module) {
  module.def("has_random", [](int distribution, int dtype) {
    return launch::has_random(distribution_of(distribution), dtype_of(dtype));
  });
  module.def("dropout_counters", launch::dropout_counters);
  // Positions of the distributions in the enum Distribution.
  module.def("random", [](nb::handle out, int distribution, uint64_t key, uint64_t counter,
                          uint64_t low, uint64_t range, double p) {
    Tensor* to = number_target_of(out);
    require(to->is_contiguous && launch::has_random(distribution_of(distribution), to->dtype));
    run_random(to, distribution_of(distribution), {key, counter}, low, range, p);
  });
  module.def("permutation", [](nb::handle out, uint64_t key, uint64_t counter) {
    require(is_run(tensor_of(out), DType::int64, tensor_of(out)->size));
    run_permutation(target_of(out), {key, counter});
  });
  module.def("random_counters", [](nb::handle out, int distribution) {
    Tensor* x = numbers_of(out);
    return launch::random_counters(distribution_of(distribution), x->dtype, x->size);
  });
  module.def("permutation_counters", launch::permutation_counters);
  // A generator moves on by `used` numbers.
  module.def("note_drawing",
             [](nb::handle generator, uint64_t key, uint64_t counter, uint64_t used) {
               if (is_taping()) tape->add_drawing(generator.ptr(), {key, counter}, used);
             });
}

}  // namespace tessella
