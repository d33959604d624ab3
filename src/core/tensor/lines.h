// The user's lines that made buffers, kept for those that are made while somebody asks for it; and
// that wrote into buffers which recorded operations keep.
#pragma once

#include "../buffer.h"
#include "site.h"

namespace tessella {

void record_lines(bool is_wanted);
std::string line_of(const Buffer* buffer);  // "train.py:12", "" if it is not known

// Counts a write, and remembers its line if a recorded operation keeps the buffer.
void remember_write(Buffer* buffer);
inline void mark_written(Buffer* buffer) {
  ++buffer->version;
  if (buffer->saves) remember_write(buffer);
}
void forget_writes(Buffer* buffer);
// Where this version of the buffer was written; no code if it is not known.
Site site_of_write(const Buffer* buffer, uint32_t version);

}  // namespace tessella
