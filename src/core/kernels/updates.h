// The table of optimizers' updates. A kernel takes a contiguous run of a parameter, its gradient
// and its states, reads each once and writes what changes once. What all elements share is worked
// out before, in float64: it depends on the learning rate and the count of steps, which are
// tensors.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class UpdateOp : uint8_t {
#define UPDATE(name, states, counters, numbers, constants) name,
#include "updates.def"
};

struct UpdateInfo {
  const char* name;
  int states, counters, numbers, constants;
};

constexpr UpdateInfo UPDATES[] = {
#define UPDATE(name, states, counters, numbers, constants) \
  {#name, states, counters, numbers, constants},
#include "updates.def"
};
constexpr int UPDATE_COUNT = sizeof UPDATES / sizeof UPDATES[0];

constexpr int most_of(int UpdateInfo::* field) {
  int most = 0;
  for (const UpdateInfo& update : UPDATES)
    if (update.*field > most) most = update.*field;
  return most;
}
constexpr int UPDATE_STATES = most_of(&UpdateInfo::states);
constexpr int UPDATE_COUNTERS = most_of(&UpdateInfo::counters);
constexpr int UPDATE_OPERANDS = 2 + UPDATE_STATES;  // the parameter, its gradient, its states
constexpr int UPDATE_FACTORS = 10;

// What a call gives for all of its parameters.
struct UpdateSettings {
  double numbers[most_of(&UpdateInfo::numbers)];
  double constants[most_of(&UpdateInfo::constants)];
};

// What all elements of one parameter share.
struct UpdateFactors {
  double values[UPDATE_FACTORS];
  bool negates;     // the gradient: maximises
  bool decays;      // adds weight_decay * parameter to the gradient
  bool shrinks;     // scales the parameter: weight decay that the gradient does not see
  bool is_variant;  // what that is depends on the optimizer
};

// Advances a parameter's counters and gives the factors of this step.
using UpdatePrepare = void (*)(const UpdateSettings& settings, double* counters,
                               UpdateFactors* factors);
// The parameter, its gradient and its states, n elements each, contiguous. nullptr: it has no such
// state. They do not overlap.
using UpdateRun = void (*)(int64_t n, void* const* operands, const UpdateFactors& factors);

struct UpdateKernel {
  UpdatePrepare prepare;
  UpdateRun float32, float64;
};
struct UpdateKernels {
  UpdateKernel each[UPDATE_COUNT];
};
TS_KERNELS(UpdateKernels, update_kernels)

}  // namespace tessella
