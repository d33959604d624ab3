// See tape.h.
#include "tape.h"

#include <stdio.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "../error.h"
#include "gradients.h"

namespace tessella {

thread_local Tape* tape;

Tape* Tape::first_;

namespace {

thread_local Tape* running;  // also while a noted operation runs

struct Paused {
  Tape *tape, *running;
  ScratchReserve* scratch;
  Rehearsal* rehearsal;
  Ghosts* ghosts;
};
thread_local std::vector<Paused> paused;

}  // namespace

Tape::~Tape() {
  if (is_running_) end();
  for (Store& slot : slots)
    if (slot.buffer && !slot.is_made) release(slot.buffer);
  for (Leaf& leaf : leaves) Py_XDECREF(leaf.tensor), Py_XDECREF(leaf.site.code);
  for (Drawing& each : drawings) Py_DECREF(each.generator);
  for (Asked& each : asked) Py_DECREF(each.tensor), Py_XDECREF(each.node);
  for (Instruction& each : instructions) Py_XDECREF(each.site.code);
}

void Tape::begin() {
  static constexpr BufferWatch RECORDER{note_made, note_gone};
  if (running || is_running_) fail_capture("a recording inside of a recording", nullptr);
  tape = running = this;
  scratch_reserve = &scratch;
  is_running_ = true;
  thread_ = std::this_thread::get_id();
  began_ = recorded_nodes();
  next_ = first_;
  first_ = this;
  record_buffers(&RECORDER);
}

bool Tape::holds(const Tensor* x) const {
  for (const Asked& each : asked)
    if (each.tensor == as_object(const_cast<Tensor*>(x))) return true;
  return false;
}

bool Tape::asked_alike() const {
  return std::all_of(asked.begin(), asked.end(), [](const Asked& each) {
    const Tensor* x = as_tensor(each.tensor);
    return x->requires_grad == each.requires_grad && !x->node == each.is_leaf;
  });
}

void Tape::forget_temporaries(std::span<PyObject* const> results) {
  auto is_kept = [&](const Asked& each) {
    bool is_result = std::find(results.begin(), results.end(), each.tensor) != results.end();
    return Py_REFCNT(each.tensor) > 1 && !is_result;
  };
  auto first = std::partition(asked.begin(), asked.end(), is_kept);
  std::vector<Asked> alone(first, asked.end());
  asked.erase(first, asked.end());
  // Their ends run code of others, which may ask tensors and is not part of the function; a
  // rehearsal goes on, as nothing is to be done.
  if (!rehearsal) pause_tape();
  for (Asked& each : alone) Py_DECREF(each.tensor), Py_XDECREF(each.node);
  if (!rehearsal) resume_tape();
}

// What was rehearsed was not written: memory from outside, and tensors that became part of a graph.
void Tape::forget_writes() {
  std::vector<PyObject*> nodes;  // which end when all is as it was: their ends may ask tensors
  for (const Asked& each : asked) {
    Tensor* x = as_tensor(each.tensor);
    if (x->node != each.node) nodes.push_back(std::exchange(x->node, Py_XNewRef(each.node)));
    x->output = each.output;
    x->requires_grad = each.requires_grad;
  }
  for (PyObject* node : nodes) Py_XDECREF(node);
  for (auto [buffer, slot] : known_) {
    const Store& store = slots[static_cast<size_t>(slot)];
    if (!store.is_made) const_cast<Buffer*>(buffer)->version = store.version;
  }
}

void Tape::end() {
  if (rehearsal) forget_writes();
  if (running == this) tape = running = nullptr, scratch_reserve = nullptr;  // not paused
  is_running_ = false;
  for (Paused& each : paused)  // it is not resumed any more
    if (each.running == this) each.tape = each.running = nullptr, each.scratch = nullptr;
  Tape** place = &first_;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
  if (!first_) record_buffers(nullptr);
  arguments_.clear();
  for (Leaf& leaf : leaves)
    if (leaf.argument >= 0) Py_CLEAR(leaf.tensor);
  // From here on nobody tells that a buffer is gone.
  for (Store& slot : slots) {
    if (slot.is_argument && slot.buffer) release(slot.buffer);
    if (slot.is_made || slot.is_argument) slot.buffer = nullptr;
  }
}

void Tape::note_made(Buffer* buffer) {
  if (!running) return;
  running->known_[buffer] = static_cast<int>(running->slots.size());
  running->slots.push_back({buffer, buffer->bytes, true, buffer->bytes == 0, false});
}

// Another buffer may have its address soon.
void Tape::note_gone(Buffer* buffer) {
  for (Tape* each = first_; each; each = each->next_) {
    auto found = each->known_.find(buffer);
    if (found == each->known_.end()) continue;
    each->slots[static_cast<size_t>(found->second)].buffer = nullptr;
    each->known_.erase(found);
  }
}

int Tape::find(const Buffer* buffer) const {
  auto found = known_.find(buffer);
  return found == known_.end() ? -1 : found->second;
}

int Tape::slot_of(Buffer* buffer) {
  int found = find(buffer);
  if (found >= 0) return found;
  int slot = static_cast<int>(slots.size());
  known_[buffer] = slot;
  slots.push_back({retain(buffer), buffer->bytes, false, true, false, false, buffer->version});
  return slot;
}

void Tape::add(Instruction&& instruction) {
  for (int i = 0; i < instruction.written; ++i) {
    Store& slot = slots[static_cast<size_t>(instruction.operands[static_cast<size_t>(i)].slot)];
    slot.is_defined = slot.is_written = true;
  }
  instruction.at = instructions.size();
  instructions.push_back(std::move(instruction));
}

int Tape::add_slot(int like) {
  slots.push_back({nullptr, slots.at(static_cast<size_t>(like)).bytes, true, true, true});
  return static_cast<int>(slots.size()) - 1;
}

int Tape::add_copy(int instruction, std::span<const int> slots, size_t at) {
  Instruction copy = instructions.at(static_cast<size_t>(instruction));
  Py_XINCREF(copy.site.code);
  for (size_t i = 0; i < slots.size(); ++i) copy.operands.at(i).slot = slots[i];
  copy.at = at;
  instructions.push_back(std::move(copy));
  return static_cast<int>(instructions.size()) - 1;
}

void Tape::touch_leaf(Tensor* leaf) {
  int own = find(leaf->buffer);
  if (own >= 0 && slots[static_cast<size_t>(own)].is_made) return;  // it goes with its gradient
  for (const Leaf& each : leaves)
    if (each.tensor == as_object(leaf)) return;
  Place before{-1, leaf->dtype, Layout()};
  uintptr_t shared = 0;
  if (leaf->grad) {
    Tensor* gradient = as_tensor(leaf->grad);
    shared = is_own(leaf->grad) ? 0 : reinterpret_cast<uintptr_t>(gradient->buffer);
    before = {find(gradient->buffer), gradient->dtype, gradient->layout()};
    if (before.slot < 0) {  // not retained: whether others hold it decides how gradients are added
      before.slot = static_cast<int>(slots.size());
      known_[gradient->buffer] = before.slot;
      const Buffer* buffer = gradient->buffer;
      slots.push_back({nullptr, buffer->bytes, false, true, false, false, buffer->version});
    }
  }
  auto found = std::find(arguments_.begin(), arguments_.end(), leaf);
  int argument = found == arguments_.end() ? -1 : static_cast<int>(found - arguments_.begin());
  leaves.push_back({Py_NewRef(as_object(leaf)), before, argument, current_site(), shared, {}});
}

void Tape::note_gradient(const Tensor* leaf, bool is_given) {
  for (Leaf& each : leaves)
    if (as_tensor(each.tensor) == leaf) each.changes.push_back({instructions.size(), is_given});
}

void Tape::add_drawing(PyObject* generator, Draw from, uint64_t used) {
  drawings.push_back({Py_NewRef(generator), from, used, instructions.size()});
}

void Tape::note_asked(Tensor* x) {
  if (x->base) note_asked(as_tensor(x->base));  // what it is a view of
  int slot = find(x->buffer);
  if (slot >= 0 && slots[static_cast<size_t>(slot)].is_made) return;
  for (const Tensor* each : arguments_)  // the key tells of them
    if (each == x || each->base == as_object(x)) return;
  for (const Asked& each : asked)
    if (each.tensor == as_object(x)) return;
  PyObject* node = rehearsal ? Py_XNewRef(x->node) : nullptr;
  asked.push_back({Py_NewRef(as_object(x)), x->requires_grad, !x->node, node, x->output});
}

void Tape::note_state(const Tensor* x) {
  int slot = find(x->buffer);
  reaches_out |= slot < 0 || !slots[static_cast<size_t>(slot)].is_made;
}

void pause_tape() {
  paused.push_back({tape, running, scratch_reserve, rehearsal, ghosts});
  tape = running = nullptr;
  scratch_reserve = nullptr;
  rehearsal = nullptr;
  ghosts = nullptr;
}

void resume_tape() {
  if (paused.empty()) return;
  const Paused& before = paused.back();
  tape = before.tape;
  running = before.running;
  scratch_reserve = before.scratch;
  rehearsal = before.rehearsal;
  ghosts = before.ghosts;
  paused.pop_back();
}

void forget_paused(const Rehearsal* ended) {
  for (Paused& each : paused)
    if (each.rehearsal == ended) each.rehearsal = nullptr, each.ghosts = nullptr;
}

void Noted::finish() {
  tape = tape_;
  if (std::uncaught_exceptions() == exceptions_)
    tape_->add(std::move(*instruction_));
  else
    Py_XDECREF(instruction_->site.code);
}

void Noted::take(const char* name, std::string params, std::span<Tensor* const> written,
                 std::span<Tensor* const> read, Repeat repeat) {
  instruction_ = std::make_unique<Instruction>();
  instruction_->name = name;
  instruction_->params = std::move(params);
  instruction_->repeat = std::move(repeat);
  instruction_->written = static_cast<int>(written.size());
  for (Tensor* x : written) {
    check_values(x);
    instruction_->operands.push_back(tape->place_of(x));
  }
  for (Tensor* x : read) {
    check_values(x);
    Place place = tape->place_of(x);
    if (!tape->slots[static_cast<size_t>(place.slot)].is_defined && x->size > 0)
      refuse_capture("memory that no operation has written", nullptr);
    instruction_->operands.push_back(place);
  }
  instruction_->site = current_site();
  tape_ = tape;
  exceptions_ = std::uncaught_exceptions();
  tape = nullptr;
  if (!rehearsal) return;
  size_t most = std::exchange(tape_->scratch.most, 0);
  rehearsal->measure(*instruction_, written, read);
  instruction_->scratch = tape_->scratch.most;
  tape_->scratch.most = std::max(most, instruction_->scratch);
}

void Noted::draw(Draw from) {
  instruction_->draws = true;
  instruction_->draw = from;
}

void refuse_capture(const char* what, const char* cure) {
  if (is_taping()) fail_capture(what, cure);
}

std::string name_value(const char* name, int64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

std::string name_real(const char* name, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return std::string(" ") + name + "=" + text;
}

std::string name_values(const char* name, Shape values) {
  return std::string(" ") + name + "=" + to_text(values);
}

std::string name_flag(const char* name, bool flag) {
  return flag ? std::string(" ") + name : std::string();
}

std::string name_object(PyObject* object) {
  PyObject* text = PyObject_Repr(object);
  const char* bytes = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string out = bytes ? bytes : "?";
  Py_XDECREF(text);
  PyErr_Clear();
  return " " + out;
}

}  // namespace tessella
