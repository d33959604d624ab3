// See rehearsal.h.
#include "rehearsal.h"

#include "../error.h"
#include "../threads.h"
#include "gradients.h"
#include "tape.h"

namespace tessella {

thread_local Rehearsal* rehearsal;

Rehearsal::~Rehearsal() {
  if (is_running_) end();
}

void Rehearsal::begin() {
  if (rehearsal || is_running_) fail_capture("a rehearsal inside of a rehearsal", nullptr);
  rehearsal = this;
  ghosts = &ghosts_;
  is_running_ = true;
  thread_ = std::this_thread::get_id();
}

void Rehearsal::end() {
  if (rehearsal == this) rehearsal = nullptr, ghosts = nullptr;  // not paused
  forget_paused(this);
  is_running_ = false;
  for (Gradient& each : gradients_) {
    set_gradient(each.leaf, each.was);
    Py_XDECREF(each.was);
    Py_DECREF(as_object(each.leaf));
  }
  gradients_.clear();
  for (auto& [real, ghost] : stand_ins_) release(ghost);
  stand_ins_.clear();
  static auto* kept = new Ghosts;  // buffers outlive statics
  while (!ghosts_.empty()) {
    Buffer* ghost = *ghosts_.begin();
    if (!ghost->pins) {
      make_virtual(ghost);
      continue;
    }
    ghosts_.erase(ghost);  // an operation of another thread uses it: it stays mapped until it goes
    ghost->others = kept;
    kept->insert(ghost);
  }
}

Buffer* Rehearsal::ghost_of(Buffer* buffer) {
  if (buffer->is_ghost) return buffer;
  auto found = stand_ins_.find(buffer);
  if (found != stand_ins_.end() && found->second->bytes >= buffer->bytes) return found->second;
  if (found != stand_ins_.end()) release(found->second), stand_ins_.erase(found);
  try {
    Allocator* own = buffer->allocator;
    return stand_ins_[buffer] = make_ghost_buffer(own ? *own : heap(), buffer->bytes);
  } catch (const MemoryEnds& ends) {
    stand_ins_.erase(buffer);
    fail_out_of_memory(ends, "a stand-in");
  }
}

Tensor* Rehearsal::stand_in(const Tensor* x) {
  return make_over(retain(ghost_of(x->buffer)), x->dtype, x->layout());
}

void Rehearsal::measure(const Instruction& instruction, std::span<Tensor* const> written,
                        std::span<Tensor* const> read) {
  struct Stage {
    std::vector<Tensor*> operands;
    bool before = skips_chunks;
    Stage() { skips_chunks = true; }
    ~Stage() {
      skips_chunks = before;
      for (Tensor* x : operands) Py_DECREF(as_object(x));
    }
  } stage;
  for (auto part : {written, read})
    for (Tensor* x : part) {
      stage.operands.push_back(stand_in(x));
      PyObject_GC_UnTrack(as_object(stage.operands.back()));
    }
  instruction.repeat(stage.operands.data(), Draw{});
}

void Rehearsal::keep_gradient(Tensor* leaf) {
  if (leaf->buffer->is_ghost) return;
  for (const Gradient& each : gradients_)
    if (each.leaf == leaf) return;
  Py_INCREF(as_object(leaf));
  gradients_.push_back({leaf, Py_XNewRef(leaf->grad)});
}

}  // namespace tessella
