// A program: instructions of a tape with a place for each of the memories that they use. Its run
// repeats them, in order, on stand-ins: tensors whose buffers are given their data at each call.
// What lies in the arena costs nothing; results are made anew, or lie where a former result lay
// that nobody holds any more.
#pragma once

#include <chrono>
#include <memory>

#include "tape.h"
#include "tile_group.h"

namespace tessella {

// Where the memory of a slot comes from.
enum class Source : uint8_t { unused, arena, argument, captured, gradient, result };
constexpr const char* SOURCE_NAMES[] = {"unused",   "arena",    "argument",
                                        "captured", "gradient", "result"};

struct SlotPlan {
  Source source = Source::unused;
  int index = 0;       // of the argument, the leaf or the result
  int64_t offset = 0;  // bytes: in the arena; of the argument when it was recorded
  int leaf = -1;       // whose gradient a result is
};

// A place in Python that a function reads: a key of a dict, a cell (without a name), a list (whose
// value is the tuple of its items), or the code or defaults of a function; all owned.
enum class WatchedKind : uint8_t { dict, cell, list, code, defaults, keyword_defaults };
struct Watched {
  WatchedKind kind;
  PyObject *holder, *name, *value;

  bool is_same() const;

 private:
  PyObject* now() const;
};

// How often modules, parameter groups and hooks were changed so far.
extern uint64_t changes_count;

// A tensor that a call gives: over memory of its own, or over that of another slot.
struct Output {
  Place place;
  PyObject* node;  // who made it, if its graph is used up; or nullptr
  int base = -1;   // what it is a view of
  bool is_blind = false;
};

// What outputs are views of: one of them, an argument or what that is a view of, a tensor that was
// there, or else one that nobody else holds.
struct OutputBase {
  Place place;
  int output, argument;  // -1: none
  PyObject* object;      // nullptr: none
};

// Counters of a generator from where it stands at the call.
struct PlannedDraw {
  int generator = -1;  // -1: the numbers are fixed
  uint64_t delta = 0;
};

using Clock = std::vector<std::chrono::steady_clock::time_point>;

struct Release {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

// How a run gives its outputs: in a new list, or itself if it is the only one.
enum class Given : uint8_t { list, one };

bool has_layout(const Tensor* x, const Place& place);

class Program {
 public:
  // Each step is one instruction, or several that run as one.
  Program(std::shared_ptr<Tape> tape, const std::vector<std::vector<int>>& steps,
          std::vector<SlotPlan> slots, int64_t arena_bytes);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // These throw if it does not fit what is recorded.
  void add_base(const OutputBase& base);
  void add_output(const Output& output);
  void add_gradient(int leaf, const Place& place);
  void add_removal(int leaf) { note_leaf(leaf), removals_.push_back(leaf); }
  void set_draw(int instruction, PlannedDraw draw);
  void add_generator(PyObject* generator, uint64_t used);

  // When it may be repeated: while nothing of what it was made from has changed. `holds` is a
  // Python function that compares all places, or those that are not in `places` alone (True); it
  // is called if one of `places` has another object than before, or if there are others
  // (`is_partial`).
  void set_guard(uint64_t changes, std::vector<Watched> places, PyObject* holds, bool is_partial);
  // Arguments that must lie where they lay: a buffer and a place in it; 0: anywhere.
  void set_homes(std::vector<std::pair<uintptr_t, int64_t>> homes) { homes_ = std::move(homes); }
  // Arguments whose gradients it reads or writes that must be the same tensors; 0: any.
  void set_leaves(std::vector<uintptr_t> objects) { objects_ = std::move(objects); }
  // Likewise the memory of the gradients that leaves have at the call; 0: any.
  void set_gradient_homes(std::vector<uintptr_t> homes) { gradient_homes_ = std::move(homes); }
  // Objects that the function may compare arguments with, sorted; and for each way in which it was
  // recorded which of them each argument was; 0: none.
  void set_named(std::vector<uintptr_t> named, std::vector<std::vector<uintptr_t>> ways) {
    named_ = std::move(named);
    ways_ = std::move(ways);
  }
  // What it holds of Python that may lead back to it.
  int visit(visitproc visit, void* context) const;
  void drop_guard();

  // Throws Error if there are too few arguments or starts, in a call by Python: others have a key.
  void check_call(size_t arguments, const std::vector<Draw>* starts) const;
  size_t output_count() const { return outputs_.size(); }
  // Whether it is what these arguments and the state of things ask for.
  bool accepts(std::span<Tensor* const> arguments) const;
  // Whether all memory that it uses is there, and large enough.
  bool can_run(std::span<Tensor* const> arguments) const;

  // The outputs, for arguments that it can run with; the arena is at least as large as was said.
  // Throws what an instruction throws; `has_written` then tells whether something
  // outside was changed before, and the exception says which instruction it was. With `starts` it
  // draws from where generators stood then, and does not move them. `clock` gets the time before
  // the first step and after each.
  PyObject* run(std::span<Tensor* const> arguments, Buffer* arena, Given given,
                const std::vector<Draw>* starts = nullptr, Clock* clock = nullptr);

  // Makes memory for results and instructions, so that the first run needs none.
  void prepare();
  size_t scratch_bytes() const;            // as far as it is known
  size_t rehearsed_scratch_bytes() const;  // of its own steps, where they were rehearsed

  bool has_written = false;
  uint64_t runs = 0;         // so far
  std::vector<Draw> starts;  // where the generators stood at the last run
  int64_t arena_bytes;

 private:
  struct NewGradient {
    int leaf;
    Place place;
  };
  struct Writing {
    size_t step, instruction;  // that write a slot first
  };
  struct Step {
    const Instruction* instruction;  // the first
    std::vector<Tensor*> operands;   // owned
    PlannedDraw draw;
    bool writes_outside;
    bool is_product;                   // with a group that takes its elements
    int64_t work;                      // about so many elements
    std::unique_ptr<TileGroup> group;  // of several
  };
  struct Captured {
    size_t slot;
    Buffer* buffer;  // that the tape holds
    bool is_written;
  };
  // The bytes of an argument or a gradient that are used, from its place on: they may lie outside
  // of its layout, as memory has to be no larger than that.
  struct Reach {
    size_t slot;
    int64_t first, end;
  };
  struct GeneratorUse {
    PyObject* object;
    uint64_t used;
    uint64_t end;  // where it stands when its numbers are taken
  };

  void check(const std::vector<std::vector<int>>& steps);
  void check_place(const Place& place) const;
  void note_leaf(int leaf);
  Buffer* source_buffer(const SlotPlan& plan, size_t slot, std::span<Tensor* const> arguments);
  Buffer* gradient_buffer(const SlotPlan& plan, size_t slot, std::span<Tensor* const> arguments);
  bool is_lost_before(int leaf, size_t slot) const;
  Buffer* result_buffer(const SlotPlan& plan, size_t slot);
  void note_writes(const Instruction& instruction, Step* step);
  void widen(const Place& place);
  void aim(size_t slot, char* data);
  void forget_data();
  void take(size_t slot, std::span<Tensor* const> arguments);
  void give_back();
  void mark_writes();
  Buffer* real(size_t slot) const;
  void run_steps(Clock* clock, std::span<Tensor* const> arguments);
  void let_others_in();
  void stop(size_t step, std::span<Tensor* const> arguments);
  void leave_gradient(size_t leaf, size_t step, std::span<Tensor* const> arguments);
  void explain(const Instruction& failed) const;
  void take_numbers();
  uint64_t drawn_before(size_t instruction, const PyObject* generator) const;
  void give_numbers_back(size_t instruction);
  Tensor* make(const Place& place, std::span<Tensor* const> arguments) const;
  void put_gradient(const NewGradient& each, std::span<Tensor* const> arguments);
  Tensor* make_output(const Output& output, std::span<Tensor* const> arguments) const;
  PyObject* base_of(const OutputBase& base, PyObject* const* outs,
                    std::span<Tensor* const> arguments) const;
  void link_views(PyObject* const* outs, std::span<Tensor* const> arguments) const;
  PyObject* one_output(std::span<Tensor* const> arguments) const;
  PyObject* list_outputs(std::span<Tensor* const> arguments) const;
  void leave_gradients(std::span<Tensor* const> arguments);
  Tensor* leaf(int index, std::span<Tensor* const> arguments) const;
  bool has_gradients(std::span<Tensor* const> arguments) const;
  bool are_apart(std::span<Tensor* const> arguments) const;
  bool are_named_alike(std::span<Tensor* const> arguments) const;
  bool is_unchanged() const;

  std::shared_ptr<Tape> tape_;
  std::vector<SlotPlan> plans_;
  std::vector<char> is_written_;  // of each slot, by this program
  std::vector<Writing> first_writes_;
  std::vector<Buffer*> stand_ins_;  // of each slot that is used; else nullptr
  std::vector<Buffer*> real_;       // while it runs: whose data they have, retained and pinned
  std::vector<Buffer*> results_;    // of former calls, retained
  std::vector<Step> steps_;
  // Slots that have a source; of these the ones that neither lie in the arena nor are captured; and
  // of those the gradients that were there before.
  std::vector<size_t> used_, outside_, given_;
  std::vector<Captured> captured_;
  std::vector<Reach> reaches_;
  int arguments_ = -1;  // the last that is used
  // So little work that it keeps the interpreter's lock: nobody can take memory away meanwhile.
  bool is_short_ = false;
  const char* arena_seen_ = nullptr;  // where stand-ins for its memory point
  std::vector<Output> outputs_;
  std::vector<OutputBase> bases_;
  std::vector<NewGradient> gradients_;
  std::vector<int> removals_;
  std::vector<GeneratorUse> generators_;
  bool is_call_ = false;  // what is run; else it is a gradient of a former call
  uint64_t changes_ = 0;
  std::vector<Watched> places_;
  PyObject* holds_ = nullptr;
  bool is_partial_ = false;
  std::vector<std::pair<uintptr_t, int64_t>> homes_;
  std::vector<uintptr_t> objects_, gradient_homes_, named_;
  std::vector<std::vector<uintptr_t>> ways_;
};

}  // namespace tessella
