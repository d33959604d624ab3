// Who uses a buffer's memory beside tensors: others that it was shared with, and operations that
// run without the interpreter's lock. Such memory is neither taken back nor moved.
#pragma once

#include "../buffer.h"
#include "site.h"

namespace tessella {

// One share of a buffer's memory, from begin to end, with the line that asked for it.
struct Pin {
  Buffer* buffer;
  const char* how;
  Site site;
  Pin *next, *previous;
};
void begin_pin(Pin* pin, Buffer* buffer, const char* how);
void end_pin(Pin* pin);

// Whether an operation that runs without the lock uses a buffer.
bool is_worked_on(const Buffer* buffer);

// "a NumPy array or memoryview, since train.py:12", for a buffer that is pinned.
std::string who_pins(const Buffer* buffer);

}  // namespace tessella
