// A rehearsal: calls of functions that are recorded (tape.h) and not done. What they make are
// ghosts (memory/ghosts.h). An operation notes itself, is measured on stand-ins with its kernels
// skipped, and returns: nothing that was there before is written. At the end gradients are what
// they were, and ghosts that somebody still holds are virtual.
#pragma once

#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tensor.h"

namespace tessella {

struct Instruction;

class Rehearsal {
 public:
  Rehearsal() = default;
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  void begin();  // in this thread
  void end();
  bool is_running() const { return is_running_; }
  bool is_here() const { return thread_ == std::this_thread::get_id(); }  // if it runs

  // A new tensor over a ghost, with the layout and dtype of x: those that share memory share it.
  Tensor* stand_in(const Tensor* x);
  // Does what an instruction does but for its kernels, on stand-ins.
  void measure(const Instruction& instruction, std::span<Tensor* const> written,
               std::span<Tensor* const> read);
  // The gradient of a leaf is about to be another.
  void keep_gradient(Tensor* leaf);

 private:
  Buffer* ghost_of(Buffer* buffer);

  struct Gradient {
    Tensor* leaf;
    PyObject* was;  // or nullptr
  };

  bool is_running_ = false;
  std::thread::id thread_;
  Ghosts ghosts_;
  // Ghosts, retained, for buffers, which are not: another one may have the address of one that is
  // gone, and its stand-in, if that is large enough.
  std::unordered_map<const Buffer*, Buffer*> stand_ins_;
  std::vector<Gradient> gradients_;  // both owned
};

// That of this thread, or nullptr.
extern thread_local Rehearsal* rehearsal __attribute__((tls_model("initial-exec")));

}  // namespace tessella
