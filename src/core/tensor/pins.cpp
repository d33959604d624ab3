// See pins.h.
#include "pins.h"

namespace tessella {

namespace {

Pin* first_pin;

// The memory of other tensors is never taken back, so nobody asks who shares it.
bool can_go(const Buffer* buffer) {
  return buffer->allocator && (buffer->allocator->reserves || buffer->kind == Kind::arrays);
}

}  // namespace

void begin_pin(Pin* pin, Buffer* buffer, const char* how) {
  ++buffer->pins;
  *pin = {buffer, how, can_go(buffer) ? current_site() : Site{}, first_pin, nullptr};
  if (first_pin) first_pin->previous = pin;
  first_pin = pin;
}

void end_pin(Pin* pin) {
  --pin->buffer->pins;
  if (pin->next) pin->next->previous = pin->previous;
  (pin->previous ? pin->previous->next : first_pin) = pin->next;
  Py_CLEAR(pin->site.code);
}

bool is_worked_on(const Buffer* buffer) {
  int32_t shares = 0;
  for (const Pin* pin = first_pin; pin && shares < buffer->pins; pin = pin->next)
    shares += pin->buffer == buffer;
  return shares < buffer->pins;
}

std::string who_pins(const Buffer* buffer) {
  for (const Pin* pin = first_pin; pin; pin = pin->next) {
    if (pin->buffer != buffer) continue;
    std::string line = to_text(pin->site);
    return line.empty() ? pin->how : std::string(pin->how) + ", since " + line;
  }
  return "an operation that runs in another thread";
}

}  // namespace tessella
