// A recording as Python has it.
#pragma once

#include <memory>

#include "../tensor/tape.h"
#include "bind.h"

namespace tessella {

struct Recording {
  std::shared_ptr<Tape> tape = std::make_shared<Tape>();
};

// (slot, dtype, offset, shape, strides)
nb::tuple to_python(const Place& place);
Place place_from(const nb::tuple& given);

}  // namespace tessella
