// Tensors to the drivers of pools.
#include "../launch/pool.h"
#include "../threads.h"
#include "images.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

launch::PoolAxis axis_of(const Pool& call, int axis) {
  return {.image = image_size(call.x, axis),
          .out = image_size(call.places, axis),
          .window = call.window.empty() ? 0 : image_value(call.window, axis, 1),
          .stride = image_value(call.stride, axis, 1),
          .pad = image_value(call.pad, axis, 0),
          .dilation = image_value(call.dilation, axis, 1)};
}

const int64_t* places_of(const Tensor* x) { return reinterpret_cast<const int64_t*>(x->data()); }

launch::PlacesTask places_task(const Tensor* planes, const Tensor* places, const Tensor* taken,
                               bool interruptible) {
  return {.dtype = planes->dtype,
          .batch = planes->shape()[0],
          .channels = planes->shape()[1],
          .rows = image_size(planes, 0),
          .cols = image_size(planes, 1),
          .out_rows = image_size(places, 0),
          .out_cols = image_size(places, 1),
          .planes = image_operand(planes),
          .taken = image_operand(taken),
          .places = places_of(places),
          .interruptible = interruptible};
}

}  // namespace

void run_pool(const Pool& call) {
  Noted noted;
  if (is_taping()) {
    auto copy = [](Shape values) { return std::vector<int64_t>(values.begin(), values.end()); };
    noted.take("pool_places",
               name_values("window", call.window) + name_values("stride", call.stride) +
                   name_values("pad", call.pad) + name_values("dilation", call.dilation),
               {call.places}, {call.x},
               [window = copy(call.window), stride = copy(call.stride), pad = copy(call.pad),
                dilation = copy(call.dilation),
                interruptible = call.interruptible](Tensor* const* x, const Draw&) {
                 run_pool({x[1], x[0], window, stride, pad, dilation, interruptible});
               });
  }
  if (noted.is_rehearsed()) return;
  launch::PoolTask task{.dtype = call.x->dtype,
                        .batch = call.x->shape()[0],
                        .channels = call.x->shape()[1],
                        .rows = axis_of(call, 0),
                        .cols = axis_of(call, 1),
                        .x = image_operand(call.x),
                        .places = reinterpret_cast<int64_t*>(call.places->data()),
                        .interruptible = call.interruptible};
  int threads = num_threads();
  Scratch scratch(static_cast<size_t>(launch::pool_scratch_bytes(task, threads)));
  LongWork work(call.x->size + call.places->size, {call.x, call.places});
  launch::pool(task, scratch.data(), threads);
}

bool run_pick(Tensor* out, Tensor* x, Tensor* places, bool interruptible) {
  Noted noted;
  if (is_taping())
    noted.take("pool_pick", "", {out}, {x, places}, [=](Tensor* const* all, const Draw&) {
      if (!run_pick(all[0], all[1], all[2], interruptible)) fail_place_outside();
    });
  if (noted.is_rehearsed()) return true;
  LongWork work(out->size, {out, x, places});
  return launch::pick_places(places_task(x, places, out, interruptible));
}

bool run_place(Tensor* out, Tensor* y, Tensor* places, bool interruptible) {
  Noted noted;
  if (is_taping())
    noted.take("pool_place", "", {out}, {y, places}, [=](Tensor* const* all, const Draw&) {
      if (!run_place(all[0], all[1], all[2], interruptible)) fail_place_outside();
    });
  if (noted.is_rehearsed()) return true;
  LongWork work(out->size + y->size, {out, y, places});
  return launch::add_places(places_task(out, places, y, interruptible));
}

}  // namespace tessella
