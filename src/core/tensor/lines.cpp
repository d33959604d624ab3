// See lines.h.
#include "lines.h"

#include <unordered_map>

#include "site.h"

namespace tessella {

namespace {

std::unordered_map<const Buffer*, Site>& lines() {
  static auto* sites = new std::unordered_map<const Buffer*, Site>;  // tensors outlive statics
  return *sites;
}

void remember_line(Buffer* buffer) { lines()[buffer] = current_site(); }

void forget_line(Buffer* buffer) {
  auto found = lines().find(buffer);
  if (found == lines().end()) return;
  PyCodeObject* code = found->second.code;
  lines().erase(found);
  Py_XDECREF(code);
}

constexpr BufferWatch LINES{remember_line, forget_line};

}  // namespace

void record_lines(bool is_wanted) { watch_buffers(is_wanted ? &LINES : nullptr); }

std::string line_of(const Buffer* buffer) {
  auto found = lines().find(buffer);
  return found == lines().end() ? "" : to_text(found->second);
}

}  // namespace tessella
