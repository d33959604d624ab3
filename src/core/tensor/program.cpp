// See program.h.
#include "program.h"

#include <utility>

#include "../memory/allocators.h"
#include "collection.h"
#include "gradients.h"
#include "guard.h"
#include "lines.h"
#include "result.h"

namespace tessella {

namespace {

// About how much an instruction does, in elements of elementwise work.
int64_t work_of(const Instruction& instruction) {
  constexpr int64_t PRODUCTS_PER_ELEMENT = 8;
  int64_t most = 0;
  for (const Place& place : instruction.operands) most = std::max(most, place.layout.size());
  if (!instruction.product) return most;
  const Layout& x = instruction.operands[1].layout;
  return most + most / PRODUCTS_PER_ELEMENT * x.shape[x.ndim - 1];
}

}  // namespace

Program::Program(std::shared_ptr<Tape> tape, const std::vector<std::vector<int>>& steps,
                 std::vector<SlotPlan> slots, int64_t arena_bytes)
    : arena_bytes(arena_bytes), tape_(std::move(tape)), plans_(std::move(slots)) {
  check(steps);
  stand_ins_.resize(plans_.size());
  real_.resize(plans_.size());
  is_written_.resize(plans_.size());
  first_writes_.resize(plans_.size());
  int results = 0;
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].source == Source::result) results = std::max(results, plans_[i].index + 1);
    if (plans_[i].source == Source::unused) continue;
    stand_ins_[i] = make_virtual_buffer(tape_->slots[i].bytes);
    used_.push_back(i);
    if (plans_[i].source == Source::captured)
      captured_.push_back({i, tape_->slots[i].buffer, false});
    else if (plans_[i].source != Source::arena)
      outside_.push_back(i);
    if (plans_[i].source == Source::gradient) given_.push_back(i);
  }
  results_.resize(static_cast<size_t>(results));
  int64_t work = 0;
  for (const std::vector<int>& numbers : steps) {
    const Instruction& first = tape_->instructions[static_cast<size_t>(numbers[0])];
    Step step{&first, {}, {}, false, false, 0, nullptr};
    for (int at : numbers) {
      const Instruction& each = tape_->instructions[static_cast<size_t>(at)];
      note_writes(each, &step);
      for (const Place& place : each.operands) widen(place);
      step.work += work_of(each);
    }
    step.is_product = first.product && numbers.size() > 1;
    if (numbers.size() > 1) {
      std::span<const int> tiled(numbers);
      step.group =
          std::make_unique<TileGroup>(*tape_, tiled.subspan(step.is_product ? 1 : 0), stand_ins_);
    }
    if (numbers.size() == 1 || step.is_product)
      for (const Place& place : first.operands) {
        Tensor* x = make_over(retain(stand_ins_[static_cast<size_t>(place.slot)]), place.dtype,
                              place.layout);
        PyObject_GC_UnTrack(as_object(x));  // it is nobody's tensor
        step.operands.push_back(x);
      }
    work += step.work;
    steps_.push_back(std::move(step));
  }
  for (Captured& each : captured_) each.is_written = is_written_[each.slot];
  constexpr int64_t LONGER = 16;  // what an instruction does may be so much more than is estimated
  is_short_ = work * LONGER <= SHORT_WORK;
}

// What it is given is looked at once, before anything is made: a run asks no more.
void Program::check(const std::vector<std::vector<int>>& steps) {
  require(!tape_->is_running() && plans_.size() == tape_->slots.size());
  std::vector<char> given(plans_.size());  // of results, each of which is as large as its slot
  for (size_t i = 0; i < plans_.size(); ++i) {
    auto [source, index, offset, leaf] = plans_[i];
    auto bytes = static_cast<int64_t>(tape_->slots[i].bytes);
    if (source == Source::arena) require(offset >= 0 && offset <= arena_bytes - bytes);
    if (source == Source::captured) require(tape_->slots[i].buffer);
    if (source == Source::gradient) note_leaf(index);
    if (source == Source::argument) require(index >= 0), arguments_ = std::max(arguments_, index);
    if (source == Source::result) require(!std::exchange(given.at(static_cast<size_t>(index)), 1));
  }
  for (const std::vector<int>& numbers : steps) {
    require(!numbers.empty());
    for (int at : numbers)
      for (const Place& place : tape_->instructions.at(static_cast<size_t>(at)).operands)
        require(numbers.size() > 1 ||
                plans_[static_cast<size_t>(place.slot)].source != Source::unused);
  }
}

// What a call gives lies in memory that outlives it. That of arguments and gradients a run looks
// at.
void Program::check_place(const Place& place) const {
  Source source = plans_.at(static_cast<size_t>(place.slot)).source;
  require(source != Source::unused && source != Source::arena);
  if (source == Source::argument || source == Source::gradient || !place.layout.size()) return;
  size_t bytes = tape_->slots[static_cast<size_t>(place.slot)].bytes;
  int64_t first, last;
  place.layout.extent(&first, &last);
  require(first >= 0 && last < static_cast<int64_t>(bytes) / itemsize(place.dtype));
}

void Program::note_leaf(int leaf) {
  arguments_ = std::max(arguments_, tape_->leaves.at(static_cast<size_t>(leaf)).argument);
}

void Program::check_call(size_t arguments, const std::vector<Draw>* starts) const {
  auto last = static_cast<int>(arguments) - 1;
  require(arguments_ <= last && (!starts || starts->size() >= generators_.size()));
  if (starts) return;  // a gradient of a call, which it does not know the leaves of
  for (const Leaf& each : tape_->leaves) require(each.argument <= last);
}

void Program::add_base(const OutputBase& base) {
  if (base.output < 0 && base.argument < 0 && !base.object) {
    check_place(base.place);
    widen(base.place);
  }
  arguments_ = std::max(arguments_, base.argument);
  bases_.push_back(base);
  Py_XINCREF(base.object);
}

void Program::add_output(const Output& output) {
  check_place(output.place);
  widen(output.place);
  require(output.base < static_cast<int>(bases_.size()));
  outputs_.push_back(output);
  Py_XINCREF(output.node);
}

void Program::add_gradient(int leaf, const Place& place) {
  note_leaf(leaf);
  check_place(place);
  widen(place);
  gradients_.push_back({leaf, place});
  plans_[static_cast<size_t>(place.slot)].leaf = leaf;
}

// Notes that the elements of a place are used, if its memory may be another at each run.
void Program::widen(const Place& place) {
  if (place.slot < 0 || place.layout.size() == 0) return;
  size_t slot = static_cast<size_t>(place.slot);
  const SlotPlan& plan = plans_[slot];
  if (plan.source != Source::argument && plan.source != Source::gradient) return;
  int64_t first = 0, last = 0;
  place.layout.extent(&first, &last);
  int64_t bytes = itemsize(place.dtype);
  int64_t start = plan.source == Source::argument ? plan.offset : 0;
  Reach reach{slot, first * bytes - start, (last + 1) * bytes - start};
  for (Reach& each : reaches_)
    if (each.slot == slot) {
      each.first = std::min(each.first, reach.first);
      each.end = std::max(each.end, reach.end);
      return;
    }
  reaches_.push_back(reach);
}

void Program::note_writes(const Instruction& instruction, Step* step) {
  for (int k = 0; k < instruction.written; ++k) {
    auto slot = static_cast<size_t>(instruction.operands[static_cast<size_t>(k)].slot);
    Source source = plans_[slot].source;
    bool is_inside =
        source == Source::arena || source == Source::result || source == Source::unused;
    step->writes_outside |= !is_inside;
    if (!is_written_[slot]) first_writes_[slot] = {steps_.size(), instruction.at};
    is_written_[slot] = true;
  }
}

Program::~Program() {
  forget_data();
  for (Step& step : steps_)
    for (Tensor* x : step.operands) Py_DECREF(as_object(x));
  for (Buffer* buffer : stand_ins_)
    if (buffer) release(buffer);
  for (Buffer* buffer : results_)
    if (buffer) release(buffer);
  for (Output& output : outputs_) Py_XDECREF(output.node);
  for (OutputBase& base : bases_) Py_XDECREF(base.object);
  for (GeneratorUse& each : generators_) Py_DECREF(each.object);
  drop_guard();
}

void Program::set_draw(int instruction, PlannedDraw draw) {
  require(draw.generator < static_cast<int>(generators_.size()));
  const Instruction* drawing = &tape_->instructions.at(static_cast<size_t>(instruction));
  for (Step& step : steps_)
    if (step.instruction == drawing) step.draw = draw;
}

void Program::add_generator(PyObject* generator, uint64_t used) {
  generators_.push_back({Py_NewRef(generator), used, 0});
  is_short_ = false;  // to move them may run Python
}

Tensor* Program::leaf(int index, std::span<Tensor* const> arguments) const {
  const Leaf& found = tape_->leaves[static_cast<size_t>(index)];
  return found.argument < 0 ? as_tensor(found.tensor)
                            : arguments[static_cast<size_t>(found.argument)];
}

// Whether a leaf has lost the gradient that it had when a slot is written: who fails before leaves
// it as it was.
bool Program::is_lost_before(int leaf, size_t slot) const {
  const auto& changes = tape_->leaves[static_cast<size_t>(leaf)].changes;
  return !changes.empty() && changes[0].after <= first_writes_[slot].instruction;
}

// The memory of a gradient that a call leaves: that of the former one, if only its leaf holds it,
// the program does not read it, and it is lost by then; else new memory, where the leaf's is.
Buffer* Program::gradient_buffer(const SlotPlan& plan, size_t slot,
                                 std::span<Tensor* const> arguments) {
  const Tensor* of = leaf(plan.leaf, arguments);
  const Place& before = tape_->leaves[static_cast<size_t>(plan.leaf)].before;
  bool is_read =
      before.slot >= 0 && plans_[static_cast<size_t>(before.slot)].source == Source::gradient;
  size_t bytes = tape_->slots[slot].bytes;
  if (of->grad && !is_read && is_lost_before(plan.leaf, slot) && is_own(of->grad) &&
      as_tensor(of->grad)->has_memory() && as_tensor(of->grad)->buffer->bytes == bytes &&
      !as_tensor(of->grad)->requires_grad)
    return retain(as_tensor(of->grad)->buffer);
  Allocator* own = of->buffer->allocator;
  return make_buffer_in(own ? *own : heap(), bytes, Kind::gradients);
}

void Program::prepare() {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].source != Source::result || plans_[i].leaf >= 0) continue;
    Buffer*& kept = results_[static_cast<size_t>(plans_[i].index)];
    if (!kept) kept = make_buffer_in(heap(), tape_->slots[i].bytes, Kind::tensors);
  }
  starts.reserve(generators_.size());
  for (Step& step : steps_)
    if (step.instruction->prepare) step.instruction->prepare(step.operands.data());
}

size_t Program::scratch_bytes() const {
  size_t most = tape_->scratch.most;
  for (const Step& step : steps_)
    if (step.group)
      most = std::max(
          most, step.group->scratch_bytes() + (step.is_product ? tape_->scratch.most : size_t{0}));
  return most;
}

size_t Program::rehearsed_scratch_bytes() const {
  size_t most = 0;
  for (const Step& step : steps_) {
    bool has_own = !step.group || step.is_product;
    size_t bytes = step.group ? step.group->scratch_bytes() : 0;
    most = std::max(most, bytes + (has_own ? step.instruction->scratch : 0));
  }
  return most;
}

Buffer* Program::result_buffer(const SlotPlan& plan, size_t slot) {
  Buffer*& kept = results_[static_cast<size_t>(plan.index)];
  bool is_heap = !current_allocator || current_allocator == &heap();
  if (kept && kept->refs == 1 && kept->pins == 0 && is_heap) return retain(kept);
  Buffer* buffer = make_buffer(tape_->slots[slot].bytes);
  if (is_heap) {
    if (kept) release(kept);
    kept = retain(buffer);
  }
  return buffer;
}

// One reference to the buffer of a slot that does not lie in the arena.
Buffer* Program::source_buffer(const SlotPlan& plan, size_t slot,
                               std::span<Tensor* const> arguments) {
  switch (plan.source) {
    case Source::argument:
      return retain(arguments[static_cast<size_t>(plan.index)]->buffer);
    case Source::captured:
      return retain(tape_->slots[slot].buffer);
    case Source::gradient:
      return retain(as_tensor(leaf(plan.index, arguments)->grad)->buffer);
    default:
      return plan.leaf < 0 ? result_buffer(plan, slot) : gradient_buffer(plan, slot, arguments);
  }
}

void Program::aim(size_t slot, char* data) {
  stand_ins_[slot]->data = data;
  stand_ins_[slot]->device = Device::cpu;
}

// Between steps that are each too short to let go of the interpreter's lock: other threads get it,
// and Ctrl-C is answered as long as nothing outside was changed.
void Program::let_others_in() {
  {
    LongWork gap(SHORT_WORK + 1, {});
  }
  Repeating handlers(false);  // of signals may compute
  if (!has_written && PyErr_CheckSignals() < 0) throw PythonError{};
}

void Program::run_steps(Clock* clock, std::span<Tensor* const> arguments) {
  constexpr int64_t LONGEST = 1 << 20;  // elements between two gaps: half a millisecond or so
  int64_t since = 0;
  size_t at = 0;
  if (clock) clock->push_back(std::chrono::steady_clock::now());
  try {
    Repeating repeating(true, is_short_);  // not what is done after a failure
    for (; at < steps_.size(); ++at) {
      Step& step = steps_[at];
      Draw draw = step.instruction->draw;
      if (step.draw.generator >= 0) {
        draw = starts[static_cast<size_t>(step.draw.generator)];
        draw.counter += step.draw.delta;
      }
      if ((since += step.work) > LONGEST) let_others_in(), since = 0;
      has_written |= step.writes_outside;
      if (step.is_product)
        step.group->run_after(*step.instruction, step.operands.data(), step.writes_outside);
      else if (step.group)
        step.group->run();
      else
        step.instruction->repeat(step.operands.data(), draw);
      if (clock) clock->push_back(std::chrono::steady_clock::now());
    }
  } catch (const Error& error) {
    stop(at, arguments);
    if (!has_written) throw;  // the function itself explains
    raise_in_python(error);
    explain(*steps_[at].instruction);
    throw PythonError{};
  } catch (...) {
    stop(at, arguments);
    throw;
  }
}

void Program::forget_data() {
  for (size_t i : used_) stand_ins_[i]->data = nullptr, stand_ins_[i]->device = Device::none;
  arena_seen_ = nullptr;
}

// Takes the memory of a slot from outside for the time of a run.
void Program::take(size_t slot, std::span<Tensor* const> arguments) {
  const SlotPlan& plan = plans_[slot];
  try {
    real_[slot] = source_buffer(plan, slot, arguments);
  } catch (const MemoryEnds& ends) {
    fail_out_of_memory(ends, "a result");
  }
  if (!is_short_) ++real_[slot]->pins;
  char* data = real_[slot]->host_ptr();
  if (plan.source == Source::argument) {
    const Tensor* x = arguments[static_cast<size_t>(plan.index)];
    data += x->offset * itemsize(x->dtype) - plan.offset;
  }
  aim(slot, data);
}

// The buffer of a slot that does not lie in the arena.
Buffer* Program::real(size_t slot) const {
  return plans_[slot].source == Source::captured ? tape_->slots[slot].buffer : real_[slot];
}

void Program::mark_writes() {
  for (size_t i : outside_)
    if (is_written_[i] && real_[i]) mark_written(real_[i]);
  for (const Captured& each : captured_)
    if (each.is_written) mark_written(each.buffer);
}

void Program::give_back() {
  auto let_go = [&](size_t slot) {
    Buffer* buffer = std::exchange(real_[slot], nullptr);
    if (!buffer) return;
    if (!is_short_) --buffer->pins;
    release(buffer);
  };
  for (size_t i : outside_) let_go(i);
  if (is_short_) return;  // what it captured it has not taken
  for (const Captured& each : captured_) let_go(each.slot);
  forget_data();  // nobody reads them between runs
}

PyObject* Program::run(std::span<Tensor* const> arguments, Buffer* arena, Given given,
                       const std::vector<Draw>* drawn, Clock* clock) {
  struct InUse {  // until all is done, or has failed
    Program& program;
    ~InUse() { program.give_back(); }
  } in_use{*this};
  has_written = false;
  ++runs;
  if (arena->data != arena_seen_)
    for (size_t i : used_)
      if (plans_[i].source == Source::arena) aim(i, arena->data + plans_[i].offset);
  arena_seen_ = arena->data;
  for (size_t i : outside_) take(i, arguments);
  for (const Captured& each : captured_) {
    if (!is_short_)
      take(each.slot, arguments);
    else if (each.buffer->data != stand_ins_[each.slot]->data)
      aim(each.slot, each.buffer->data);
  }
  starts.clear();
  if (drawn) starts = *drawn;
  is_call_ = !drawn;
  if (is_call_) take_numbers();
  run_steps(clock, arguments);
  mark_writes();
  bool is_one = given == Given::one;
  Owned out(is_one ? one_output(arguments) : list_outputs(arguments));
  leave_gradients(arguments);
  return out.release();
}

}  // namespace tessella
