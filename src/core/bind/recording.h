// Recordings and rehearsals as Python has them.
#pragma once

#include <memory>

#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

// Deletes what records or rehearses, but leaves it to another thread that is in the middle of it.
struct Delete {
  void operator()(auto* of) const {
    if (!of->is_running() || of->is_here()) delete of;
  }
};

void end_here(auto& of) {
  require(!of.is_running() || of.is_here());
  if (of.is_running()) of.end();
}

struct Recording {
  std::shared_ptr<Tape> tape{new Tape, Delete()};
};
struct Stage {
  std::unique_ptr<Rehearsal, Delete> core{new Rehearsal};
};

// (slot, dtype, offset, shape, strides)
nb::tuple to_python(const Place& place);
Place place_from(const nb::tuple& given);

}  // namespace tessella
