// The tape: what operations a function does, noted while it runs, so that they can be repeated.
// Every function that writes the elements of tensors notes itself: its name, the tensors as places
// in memory, its parameters as text, and how to do the same with other tensors. What it calls
// meanwhile is part of it and is not noted. An operation is repeated by calling the same function,
// so a repetition has its bits.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "node.h"
#include "rehearsal.h"
#include "run.h"
#include "site.h"

namespace tessella {

// Where a generator stood when an operation drew from it.
struct Draw {
  uint64_t key, counter;
};

// Does an operation again. Operands are those that were noted, the written ones first.
using Repeat = std::function<void(Tensor* const* operands, const Draw& draw)>;

// A tensor as an instruction sees it: a layout over one of the memories that a function uses.
struct Place {
  int slot;
  DType dtype;
  Layout layout;
};

// An elementwise operation, for who runs several at once.
struct ElementwiseCall {
  Opcode opcode;
  DType dtype;
  int arity;
  bool interruptible;
  bool is_tensor[3];  // else it is a number
  DType dtypes[3];
  Scalar scalars[3];
};

// A reduction, likewise.
struct ReduceCall {
  launch::ReduceOp op;
  uint64_t axes;
  bool interruptible;
};

// Does a matrix product again, and something with its elements as they are done.
using RepeatProduct = std::function<void(Tensor* const* operands, const launch::MatmulTail* tail)>;

struct Instruction {
  std::string name, params;
  std::vector<Place> operands;
  int written = 0;
  bool draws = false;
  Draw draw{};
  Repeat repeat;
  Site site{};
  std::optional<ElementwiseCall> elementwise;
  std::optional<ReduceCall> reduce;
  std::optional<Scalar> fill;
  RepeatProduct product;  // if it is one
  // Takes what memory of its own a repetition needs; may be empty.
  std::function<void(Tensor* const* operands)> prepare;
  bool copies = false;  // element by element, perhaps into another dtype
  size_t scratch = 0;   // bytes, where it was rehearsed
  size_t at = 0;        // so many were noted before it
};

// Memory that a function uses.
struct Store {
  Buffer* buffer;  // nullptr: it is gone
  size_t bytes;
  bool is_made;     // by the function itself
  bool is_defined;  // something was written into it, or it was there before
  bool is_written;
  bool is_argument = false;  // it is only held while the function runs
  uint32_t version = 0;      // when it was first used
  bool is_placed = false;    // where in it a tensor lies was read as a number
};

// A tensor whose gradient was read or written.
struct Leaf {
  PyObject* tensor;  // nullptr: an argument, once the function has run
  Place before;      // its gradient when it was first touched; slot -1: it had none
  int argument = -1;
  Site site{};  // of the first touch
  struct Change {
    size_t after;  // how many instructions were noted before
    bool is_given;
  };
  // The memory of the gradient that it had, if others held it: the function may know it by a name.
  uintptr_t shared = 0;
  std::vector<Change> changes;  // each time that it got a gradient, or lost the one that it had
};

// How far a generator was moved: `used` numbers from `from` on.
struct Drawing {
  PyObject* generator;
  Draw from;
  uint64_t used;
  size_t after;  // how many instructions were noted before
};

// A tensor from outside that was an operand where gradients are recorded, and what it said then.
struct Asked {
  PyObject* tensor;
  bool requires_grad, is_leaf;
  PyObject* node;  // that made it, in a rehearsal, where it is owned
  uint8_t output;
};

class Tape {
 public:
  Tape() = default;
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void begin();
  void end();
  bool is_running() const { return is_running_; }
  bool is_here() const { return thread_ == std::this_thread::get_id(); }  // if it runs

  int slot_of(Buffer* buffer);
  void add_argument(Tensor* x) {
    slots[static_cast<size_t>(slot_of(x->buffer))].is_argument = true;
    arguments_.push_back(x);
  }
  int find(const Buffer* buffer) const;  // -1: it is not known
  Place place_of(const Tensor* x) { return {slot_of(x->buffer), x->dtype, x->layout()}; }
  void add(Instruction&& instruction);
  // For who changes what was noted: memory of the size of another, and an instruction again, in
  // other memories, to be run before the one at `at`.
  int add_slot(int like);
  int add_copy(int instruction, std::span<const int> slots, size_t at);
  void touch_leaf(Tensor* leaf);
  void note_gradient(const Tensor* leaf, bool is_given);
  void add_drawing(PyObject* generator, Draw from, uint64_t used);
  void note_asked(Tensor* x);
  void note_offset(const Tensor* x) {
    if (int slot = find(x->buffer); slot >= 0) slots[static_cast<size_t>(slot)].is_placed = true;
  }
  // The function does to a tensor what no operation notes: a hook, another place in a graph.
  void note_state(const Tensor* x);
  void note_node(const Node* node) { reaches_out |= node->sequence <= began_; }  // gone through
  bool holds(const Tensor* x) const;  // as one that was asked
  bool asked_alike() const;           // they say what they said
  // Tensors that were asked, and that nobody else holds, or that are results.
  void forget_temporaries(std::span<PyObject* const> results);

  std::deque<Instruction> instructions;  // programs refer to them
  std::vector<Store> slots;
  std::vector<Leaf> leaves;
  std::vector<Drawing> drawings;
  std::vector<Asked> asked;
  bool reaches_out = false;  // graphs or hooks from outside are used or changed
  ScratchReserve scratch;    // holds nothing: it tells how much would be enough

 private:
  void forget_writes();
  static void note_made(Buffer* buffer);
  static void note_gone(Buffer* buffer);

  static Tape* first_;  // of all that run, in any thread
  bool is_running_ = false;
  uint64_t began_ = 0;  // so many operations were recorded for gradients before
  std::thread::id thread_;
  std::vector<Tensor*> arguments_;  // while it runs
  Tape* next_ = nullptr;
  std::unordered_map<const Buffer*, int> known_;
};

// That of this thread; nullptr: nothing is noted, or what runs is part of what was noted.
extern thread_local Tape* tape __attribute__((tls_model("initial-exec")));
inline bool is_taping() { return __builtin_expect(tape != nullptr, false); }

// From one to the other nothing is noted or rehearsed, and what is made counts as having been there
// before: a module that is loaded at its first use keeps what it makes, whoever was first.
void pause_tape();
void resume_tape();
void forget_paused(const Rehearsal* ended);  // it is not resumed any more

// An operation that is running. Lives in a function that writes elements:
//   Noted noted;
//   if (is_taping()) noted.take(…);
//   if (noted.is_rehearsed()) return;
class Noted {
 public:
  Noted() = default;
  ~Noted() {
    if (tape_) finish();
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

  void take(const char* name, std::string params, std::span<Tensor* const> written,
            std::span<Tensor* const> read, Repeat repeat);
  void take(const char* name, std::string params, std::initializer_list<Tensor*> written,
            std::initializer_list<Tensor*> read, Repeat repeat) {
    take(name, std::move(params), std::span<Tensor* const>(written.begin(), written.size()),
         std::span<Tensor* const>(read.begin(), read.size()), std::move(repeat));
  }
  bool is_rehearsed() const { return tape_ && rehearsal; }  // it is not to be done
  // It takes random numbers; it is elementwise, a reduction, a matrix product, …
  void draw(Draw from);
  void is_elementwise(const ElementwiseCall& call) { instruction_->elementwise = call; }
  void is_reduction(const ReduceCall& call) { instruction_->reduce = call; }
  void is_product(RepeatProduct repeat) { instruction_->product = std::move(repeat); }
  void is_filling(const Scalar& number) { instruction_->fill = number; }
  void is_prepared_by(std::function<void(Tensor* const*)> prepare) {
    instruction_->prepare = std::move(prepare);
  }
  void is_copy() { instruction_->copies = true; }

 private:
  void finish();

  Tape* tape_ = nullptr;
  int exceptions_;
  std::unique_ptr<Instruction> instruction_;
};

// Throws the error of what cannot be repeated if something is noted: `what` is done, `cure` helps.
void refuse_capture(const char* what, const char* cure);

// --- parameters as text --------------------------------------------------------------------------

std::string name_value(const char* name, int64_t value);
std::string name_values(const char* name, Shape values);
std::string name_real(const char* name, double value);
std::string name_flag(const char* name, bool flag);  // "" if it is not set
std::string name_object(PyObject* object);           // as repr has it

}  // namespace tessella
