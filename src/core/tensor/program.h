// A program: instructions of a tape with a place for each of the memories that they use. Its run
// repeats them, in order, on stand-ins: tensors whose buffers are given their data at each call.
// What lies in the arena costs nothing; results are made anew, or lie where a former result lay
// that nobody holds any more.
#pragma once

#include <memory>

#include "tape.h"

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

// A tensor that a call gives: over memory of its own, or over that of another slot.
struct Output {
  Place place;
  PyObject* node;  // who made it, if its graph is used up; or nullptr
};

// Counters of a generator from where it stands at the call.
struct PlannedDraw {
  int generator = -1;  // -1: the numbers are fixed
  uint64_t delta = 0;
};

class Program {
 public:
  Program(std::shared_ptr<Tape> tape, std::vector<int> kept, std::vector<SlotPlan> slots,
          int64_t arena_bytes);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add_output(Output output) { outputs_.push_back(output); }
  void add_gradient(int leaf, Place place) {
    gradients_.push_back({leaf, place});
    plans_[static_cast<size_t>(place.slot)].leaf = leaf;
  }
  void add_removal(int leaf) { removals_.push_back(leaf); }
  void set_draw(int instruction, PlannedDraw draw);
  void add_generator(PyObject* generator, uint64_t used);

  // Whether it is what these arguments and the state of things ask for.
  bool accepts(std::span<Tensor* const> arguments) const;

  // A new list of the outputs; the arena is at least as large as was said. Throws what an
  // instruction throws; `has_written` then tells whether something outside was changed before.
  // With `starts` it draws from where generators stood then, and does not move them.
  PyObject* run(std::span<Tensor* const> arguments, Buffer* arena,
                const std::vector<Draw>* starts = nullptr);

  bool has_written = false;
  std::vector<Draw> starts;  // where the generators stood at the last run
  int64_t arena_bytes;

 private:
  struct NewGradient {
    int leaf;
    Place place;
  };
  struct Step {
    const Instruction* instruction;
    std::vector<Tensor*> operands;  // owned
    PlannedDraw draw;
    bool writes_outside;
  };
  struct GeneratorUse {
    PyObject* object;
    uint64_t used;
  };

  Buffer* source_buffer(const SlotPlan& plan, size_t slot, std::span<Tensor* const> arguments);
  Buffer* gradient_buffer(const SlotPlan& plan, size_t slot);
  Buffer* result_buffer(const SlotPlan& plan, size_t slot);
  void aim(size_t slot, char* data);
  void run_steps();
  void advance(size_t instruction);
  PyObject* give(std::span<Tensor* const> arguments);
  Tensor* leaf(int index) const;

  std::shared_ptr<Tape> tape_;
  std::vector<SlotPlan> plans_;
  std::vector<bool> is_written_;    // of each slot, by this program
  std::vector<Buffer*> stand_ins_;  // of each slot that is used; else nullptr
  std::vector<Buffer*> real_;       // while it runs: whose data they have, retained and pinned
  std::vector<Buffer*> results_;    // of former calls, retained
  std::vector<Step> steps_;
  std::vector<Output> outputs_;
  std::vector<NewGradient> gradients_;
  std::vector<int> removals_;
  std::vector<GeneratorUse> generators_;
};

}  // namespace tessella
