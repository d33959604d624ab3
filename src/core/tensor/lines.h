// The user's lines that made buffers: kept for those that are made while somebody asks for it.
#pragma once

#include "../buffer.h"

namespace tessella {

void record_lines(bool is_wanted);
std::string line_of(const Buffer* buffer);  // "train.py:12", "" if it is not known

}  // namespace tessella
