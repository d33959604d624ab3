// Tensors to the driver of recurrent layers.
#include "../launch/recurrent.h"
#include "../threads.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

launch::Sequence sizes_of(Cell cell, int64_t steps, int64_t batch, int64_t hidden) {
  launch::Sequence of{};
  of.cell = cell;
  of.steps = steps, of.batch = batch, of.hidden = hidden;
  return of;
}

// Of x (T, B, …) and the weight (…, H).
launch::Sequence sequence_of(Cell cell, const Tensor* x, const Tensor* weight, bool is_reversed) {
  launch::Sequence of = sizes_of(cell, x->shape()[0], x->shape()[1], weight->shape()[1]);
  of.dtype = x->dtype;
  of.is_reversed = is_reversed;
  of.weight = weight->data();
  of.interruptible = true;
  of.threads = num_threads();
  return of;
}

// In units of an element of elementwise work; a float, so that it cannot overflow.
int64_t work_of(const launch::Sequence& of) {
  constexpr double PRODUCTS_PER_ELEMENT = 8;
  double rows = static_cast<double>(of.steps) * static_cast<double>(of.batch);
  double hidden = static_cast<double>(of.hidden);
  double work = rows * hidden * hidden * CELL_GATES[static_cast<int>(of.cell)];
  return work < 1e18 ? static_cast<int64_t>(work / PRODUCTS_PER_ELEMENT) : INT64_MAX;
}

const void* data_of(const Tensor* x) { return x ? x->data() : nullptr; }

}  // namespace

int64_t states_size(Cell cell, int64_t steps, int64_t batch, int64_t hidden, bool keeps) {
  return launch::StateParts(sizes_of(cell, steps, batch, hidden), keeps).end;
}

int64_t slopes_size(Cell cell, int64_t steps, int64_t batch, int64_t hidden) {
  return launch::SlopeParts(sizes_of(cell, steps, batch, hidden)).end;
}

void run_states(Cell cell, const StatesOperands& of, bool is_reversed, bool keeps, Tensor* out) {
  Noted noted;
  if (is_taping()) {
    Tensor* read[] = {of.gates, of.weight, of.bias_ih, of.bias_hh, of.h, of.c};
    bool has_c = of.c != nullptr;
    noted.take("recurrent_states",
               name_value("cell", static_cast<int>(cell)) + name_flag("reversed", is_reversed) +
                   name_flag("keeps", keeps),
               std::span<Tensor* const>(&out, 1), std::span<Tensor* const>(read, has_c ? 6 : 5),
               [=](Tensor* const* x, const Draw&) {
                 run_states(cell, {x[1], x[2], x[3], x[4], x[5], has_c ? x[6] : nullptr},
                            is_reversed, keeps, x[0]);
               });
  }
  if (noted.is_rehearsed()) return;
  launch::StatesTask task{sequence_of(cell, of.gates, of.weight, is_reversed),
                          of.gates->data(),
                          of.bias_ih->data(),
                          of.bias_hh->data(),
                          of.h->data(),
                          data_of(of.c),
                          out->data(),
                          keeps};
  Scratch scratch(static_cast<size_t>(launch::recurrent_scratch_bytes(task)));
  Tensor* optional[] = {of.c ? of.c : of.h};
  LongWork work(work_of(task), {of.gates, of.weight, of.bias_ih, of.bias_hh, of.h, out}, optional);
  launch::recurrent_states(task, scratch.data());
}

void run_slopes(Cell cell, const SlopesOperands& of, bool is_reversed, Tensor* out) {
  Noted noted;
  if (is_taping()) {
    Tensor* read[] = {of.g, of.states, of.weight, of.g_c};
    bool has_c = of.g_c != nullptr;
    noted.take("recurrent_slopes",
               name_value("cell", static_cast<int>(cell)) + name_flag("reversed", is_reversed),
               std::span<Tensor* const>(&out, 1), std::span<Tensor* const>(read, has_c ? 4 : 3),
               [=](Tensor* const* x, const Draw&) {
                 run_slopes(cell, {x[1], x[2], x[3], has_c ? x[4] : nullptr}, is_reversed, x[0]);
               });
  }
  if (noted.is_rehearsed()) return;
  launch::SlopesTask task{sequence_of(cell, of.g, of.weight, is_reversed), of.g->data(),
                          data_of(of.g_c), of.states->data(), out->data()};
  Scratch scratch(static_cast<size_t>(launch::recurrent_scratch_bytes(task)));
  Tensor* optional[] = {of.g_c ? of.g_c : of.g};
  LongWork work(work_of(task), {of.g, of.states, of.weight, out}, optional);
  launch::recurrent_slopes(task, scratch.data());
}

}  // namespace tessella
