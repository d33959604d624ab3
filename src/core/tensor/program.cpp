// See program.h.
#include "program.h"

#include "../memory/allocators.h"
#include "gradients.h"
#include "lines.h"
#include "result.h"

namespace tessella {

namespace {

// The numbers of a generator, which is a Python object.
uint64_t read_word(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (!value) throw PythonError{};
  uint64_t word = PyLong_AsUnsignedLongLong(value);
  Py_DECREF(value);
  if (PyErr_Occurred()) throw PythonError{};
  return word;
}

void write_word(PyObject* object, const char* name, uint64_t word) {
  PyObject* value = PyLong_FromUnsignedLongLong(word);
  int failed = value ? PyObject_SetAttrString(object, name, value) : -1;
  Py_XDECREF(value);
  if (failed) throw PythonError{};
}

// Whether a gradient can be written where it lies: only its leaf holds it.
bool is_held_by_leaf(const Tensor* leaf) {
  const Tensor* gradient = as_tensor(leaf->grad);
  return Py_REFCNT(leaf->grad) == 1 && gradient->buffer->refs == 1 && gradient->buffer->pins == 0;
}

bool has_layout(const Tensor* x, const Place& place) {
  const Layout& layout = place.layout;
  if (x->dtype != place.dtype || x->ndim != layout.ndim || x->offset != layout.offset) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != layout.shape[i] || x->strides()[i] != layout.strides[i]) return false;
  return true;
}

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
  stand_ins_.resize(plans_.size());
  real_.resize(plans_.size());
  is_written_.resize(plans_.size());
  int results = 0;
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].source == Source::result) results = std::max(results, plans_[i].index + 1);
    if (plans_[i].source == Source::unused) continue;
    stand_ins_[i] = make_virtual_buffer(tape_->slots[i].bytes);
  }
  results_.resize(static_cast<size_t>(results));
  for (const std::vector<int>& numbers : steps) {
    const Instruction& first = tape_->instructions[static_cast<size_t>(numbers[0])];
    Step step{&first, {}, {}, false, false, 0, nullptr};
    for (int at : numbers) {
      const Instruction& each = tape_->instructions[static_cast<size_t>(at)];
      note_writes(each, &step);
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
    steps_.push_back(std::move(step));
  }
}

void Program::note_writes(const Instruction& instruction, Step* step) {
  for (int k = 0; k < instruction.written; ++k) {
    auto slot = static_cast<size_t>(instruction.operands[static_cast<size_t>(k)].slot);
    Source source = plans_[slot].source;
    bool is_inside =
        source == Source::arena || source == Source::result || source == Source::unused;
    step->writes_outside |= !is_inside;
    is_written_[slot] = true;
  }
}

Program::~Program() {
  for (Step& step : steps_)
    for (Tensor* x : step.operands) Py_DECREF(as_object(x));
  for (Buffer* buffer : stand_ins_)
    if (buffer) release(buffer);
  for (Buffer* buffer : results_)
    if (buffer) release(buffer);
  for (Output& output : outputs_) Py_XDECREF(output.node);
  for (GeneratorUse& each : generators_) Py_DECREF(each.object);
  drop_guard();
}

void Program::set_draw(int instruction, PlannedDraw draw) {
  for (Step& step : steps_)
    if (step.instruction == &tape_->instructions[static_cast<size_t>(instruction)])
      step.draw = draw;
}

void Program::add_generator(PyObject* generator, uint64_t used) {
  generators_.push_back({Py_NewRef(generator), used});
}

Tensor* Program::leaf(int index, std::span<Tensor* const> arguments) const {
  const Leaf& found = tape_->leaves[static_cast<size_t>(index)];
  return found.argument < 0 ? as_tensor(found.tensor)
                            : arguments[static_cast<size_t>(found.argument)];
}

uint64_t changes_count;

PyObject* Watched::now() const {
  if (PyDict_Check(holder)) return PyDict_GetItem(holder, name);
  if (PyCell_Check(holder)) return PyCell_GET(holder);
  bool is_named = PyUnicode_CompareWithASCIIString(name, "__kwdefaults__") == 0;
  PyObject* found = is_named ? PyFunction_GetKwDefaults(holder) : PyFunction_GetDefaults(holder);
  return found ? found : Py_None;
}

void Program::drop_guard() {
  for (Watched& each : places_) {
    Py_DECREF(each.holder);
    Py_XDECREF(each.name);
    Py_DECREF(each.value);
  }
  places_.clear();
  Py_CLEAR(holds_);
}

void Program::set_guard(uint64_t changes, std::vector<Watched> places, PyObject* holds,
                        bool is_partial) {
  drop_guard();
  changes_ = changes;
  places_ = std::move(places);
  holds_ = Py_NewRef(holds);
  is_partial_ = is_partial;
}

bool Program::is_unchanged() const {
  if (changes_ != changes_count) return false;
  bool is_same = !is_partial_;
  for (size_t i = 0; is_same && i < places_.size(); ++i)
    is_same = places_[i].now() == places_[i].value;
  if (is_same || !holds_) return true;
  PyObject* answer = PyObject_CallNoArgs(holds_);
  if (!answer) throw PythonError{};
  is_same = answer == Py_True;
  Py_DECREF(answer);
  return is_same;
}

int Program::visit(visitproc visit, void* arg) const {
  Py_VISIT(holds_);
  for (const Watched& each : places_) {
    Py_VISIT(each.holder);
    Py_VISIT(each.value);
  }
  return 0;
}

bool Program::accepts(std::span<Tensor* const> arguments) const {
  if (!is_unchanged()) return false;  // may run Python, so it comes first
  for (size_t i = 0; i < homes_.size() && i < arguments.size(); ++i) {
    const Tensor* x = arguments[i];
    std::pair home{reinterpret_cast<uintptr_t>(x->buffer), x->offset * itemsize(x->dtype)};
    if (homes_[i].first && homes_[i] != home) return false;
  }
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (!tape_->slots[i].is_placed || plans_[i].source != Source::argument) continue;
    const Tensor* x = arguments[static_cast<size_t>(plans_[i].index)];
    if (x->offset * itemsize(x->dtype) != plans_[i].offset) return false;
  }
  if (!tape_->asked_alike() || !has_gradients(arguments) || !can_run(arguments)) return false;
  for (size_t i = 0; i < plans_.size(); ++i) {
    bool is_fixed = plans_[i].source == Source::captured;
    bool is_gradient = plans_[i].source == Source::gradient;
    if (!is_fixed && !is_gradient) continue;
    const Buffer* buffer = is_fixed ? tape_->slots[i].buffer
                                    : as_tensor(leaf(plans_[i].index, arguments)->grad)->buffer;
    for (const Tensor* x : arguments)
      if (may_overlap(x->buffer, buffer)) return false;
  }
  return true;
}

// Whether leaves have gradients where they had, and nobody else sees those that are written.
bool Program::has_gradients(std::span<Tensor* const> arguments) const {
  for (size_t i = 0; i < tape_->leaves.size(); ++i) {
    const Tensor* of = leaf(static_cast<int>(i), arguments);
    const Place& before = tape_->leaves[i].before;
    if ((before.slot >= 0) != (of->grad != nullptr)) return false;
    if (before.slot >= 0 && is_written_[static_cast<size_t>(before.slot)] && !is_held_by_leaf(of))
      return false;
    int number = tape_->leaves[i].argument;
    if (number < 0) continue;
    uintptr_t object = objects_.empty() ? 0 : objects_[static_cast<size_t>(number)];
    if (of->hooks || (object && object != reinterpret_cast<uintptr_t>(of))) return false;
  }
  return true;
}

bool Program::can_run(std::span<Tensor* const> arguments) const {
  for (const Tensor* x : arguments)
    if (!x->has_memory()) return false;
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (plans_[i].source == Source::captured && !tape_->slots[i].buffer->has_memory()) return false;
    if (plans_[i].source != Source::gradient) continue;
    const Leaf& of = tape_->leaves[static_cast<size_t>(plans_[i].index)];
    PyObject* held = leaf(plans_[i].index, arguments)->grad;
    if (!held) return false;
    const Tensor* gradient = as_tensor(held);
    if (!gradient->has_memory() || gradient->requires_grad || !has_layout(gradient, of.before))
      return false;
  }
  return true;
}

// The memory of a gradient that a call leaves: that of the former one, if only its leaf holds it
// and the program does not read it; else new memory, where the leaf's is.
Buffer* Program::gradient_buffer(const SlotPlan& plan, size_t slot,
                                 std::span<Tensor* const> arguments) {
  const Tensor* of = leaf(plan.leaf, arguments);
  const Place& before = tape_->leaves[static_cast<size_t>(plan.leaf)].before;
  bool is_read =
      before.slot >= 0 && plans_[static_cast<size_t>(before.slot)].source == Source::gradient;
  size_t bytes = tape_->slots[slot].bytes;
  if (of->grad && !is_read && is_held_by_leaf(of) && as_tensor(of->grad)->has_memory() &&
      as_tensor(of->grad)->buffer->bytes == bytes && !as_tensor(of->grad)->requires_grad)
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
}

size_t Program::scratch_bytes() const {
  size_t most = tape_->scratch.most;
  for (const Step& step : steps_)
    if (step.group)
      most = std::max(
          most, step.group->scratch_bytes() + (step.is_product ? tape_->scratch.most : size_t{0}));
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

void Program::run_steps(Clock* clock) {
  constexpr int64_t LONGEST = 1 << 20;  // elements between two gaps: half a millisecond or so
  Repeating repeating(true);
  int64_t since = 0;
  size_t done = 0;
  if (clock) clock->push_back(std::chrono::steady_clock::now());
  try {
    for (Step& step : steps_) {
      Draw draw = step.instruction->draw;
      if (step.draw.generator >= 0) {
        draw = starts[static_cast<size_t>(step.draw.generator)];
        draw.counter += step.draw.delta;
      }
      if ((since += step.work) > LONGEST) let_others_in(), since = 0;
      has_written |= step.writes_outside;
      done = static_cast<size_t>(step.instruction - tape_->instructions.data());
      if (step.is_product)
        step.group->run_after(*step.instruction, step.operands.data());
      else if (step.group)
        step.group->run();
      else
        step.instruction->repeat(step.operands.data(), draw);
      if (clock) clock->push_back(std::chrono::steady_clock::now());
    }
  } catch (...) {
    // As far as the function would have got: what was drawn before stays drawn, and what may have
    // been written counts as written.
    if (has_written) {
      for (size_t i = 0; i < plans_.size(); ++i)
        if (real_[i] && is_written_[i]) mark_written(real_[i]);
      advance(done);
    }
    throw;
  }
}

// Moves the generators to where they stand before an instruction.
void Program::advance(size_t instruction) {
  for (size_t i = 0; i < generators_.size(); ++i) {
    uint64_t used = 0, first = 0;
    bool is_first = true;
    for (const Drawing& each : tape_->drawings) {
      if (each.generator != generators_[i].object) continue;
      if (is_first) first = each.from.counter;
      is_first = false;
      if (each.after <= instruction) used = each.from.counter + each.used - first;
    }
    write_word(generators_[i].object, "counter", starts[i].counter + used);
  }
}

PyObject* Program::run(std::span<Tensor* const> arguments, Buffer* arena,
                       const std::vector<Draw>* given, Clock* clock) {
  struct InUse {  // until all is done, or has failed
    std::vector<Buffer*>& real;
    std::vector<Buffer*>& stand_ins;
    ~InUse() {
      for (Buffer*& buffer : real) {
        if (!buffer) continue;
        --buffer->pins;
        release(buffer);
        buffer = nullptr;
      }
      for (Buffer* buffer : stand_ins)  // nobody reads them between runs
        if (buffer) buffer->data = nullptr, buffer->device = Device::none;
    }
  } in_use{real_, stand_ins_};
  has_written = false;
  ++runs;
  if (!can_run(arguments)) fail_capture("memory that was taken away", nullptr);
  for (size_t i = 0; i < plans_.size(); ++i) {
    const SlotPlan& plan = plans_[i];
    if (plan.source == Source::unused) continue;
    if (plan.source == Source::arena) {
      aim(i, arena->data + plan.offset);
      continue;
    }
    try {
      real_[i] = source_buffer(plan, i, arguments);
    } catch (const MemoryEnds& ends) {
      fail_out_of_memory(ends, "a result");
    }
    ++real_[i]->pins;
    char* data = real_[i]->host_ptr();
    if (plan.source == Source::argument) {
      const Tensor* x = arguments[static_cast<size_t>(plan.index)];
      data += x->offset * itemsize(x->dtype) - plan.offset;
    }
    aim(i, data);
  }
  starts.clear();
  if (given) starts = *given;
  for (const GeneratorUse& each : generators_)
    if (!given)
      starts.push_back({read_word(each.object, "seed"), read_word(each.object, "counter")});
  run_steps(clock);
  for (size_t i = 0; i < plans_.size(); ++i)
    if (real_[i] && is_written_[i]) mark_written(real_[i]);
  for (size_t i = 0; !given && i < generators_.size(); ++i)
    write_word(generators_[i].object, "counter", starts[i].counter + generators_[i].used);
  return give(arguments);
}

// What the call leaves: results, gradients.
PyObject* Program::give(std::span<Tensor* const> arguments) {
  auto make = [&](const Place& place) {
    auto slot = static_cast<size_t>(place.slot);
    Layout layout = place.layout;
    if (plans_[slot].source == Source::argument) {
      const Tensor* x = arguments[static_cast<size_t>(plans_[slot].index)];
      layout.offset +=
          (x->offset * itemsize(x->dtype) - plans_[slot].offset) / itemsize(place.dtype);
    }
    return make_over(retain(real_[slot]), place.dtype, layout);
  };
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(outputs_.size()));
  if (!list) throw PythonError{};
  struct Owner {  // until it is given
    PyObject* list;
    ~Owner() { Py_XDECREF(list); }
  } owner{list};
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Tensor* out = make(outputs_[i].place);
    if (outputs_[i].node) {
      out->node = Py_NewRef(outputs_[i].node);
      out->requires_grad = true;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), as_object(out));
  }
  for (int index : removals_)
    if (leaf(index, arguments)->grad) set_gradient(leaf(index, arguments), nullptr);
  for (const NewGradient& each : gradients_) {
    Tensor* of = leaf(each.leaf, arguments);
    const Buffer* buffer = real_[static_cast<size_t>(each.place.slot)];
    bool stays = of->grad && as_tensor(of->grad)->buffer == buffer &&
                 has_layout(as_tensor(of->grad), each.place);
    if (stays) continue;
    Result gradient(make(each.place));
    set_gradient(of, as_object(gradient.get()));
  }
  owner.list = nullptr;
  return list;
}

}  // namespace tessella
