// See lines.h.
#include "lines.h"

#include <unordered_map>
#include <vector>

namespace tessella {

namespace {

std::unordered_map<const Buffer*, Site>& lines() {
  static auto* sites = new std::unordered_map<const Buffer*, Site>;  // tensors outlive statics
  return *sites;
}

void remember_line(Buffer* buffer) {
  Site site = current_site();
  lines()[buffer] = site;
}

void forget_line(Buffer* buffer) {
  auto found = lines().find(buffer);
  if (found == lines().end()) return;
  PyCodeObject* code = found->second.code;
  lines().erase(found);
  Py_XDECREF(code);
}

constexpr BufferWatch LINES{remember_line, forget_line};

struct Write {
  uint32_t version;
  Site site;
};
constexpr size_t MOST_WRITES = 8;  // the first is what an error shows; later ones may be of others

std::unordered_map<const Buffer*, std::vector<Write>>& writes() {
  static auto* all = new std::unordered_map<const Buffer*, std::vector<Write>>;
  return *all;
}

}  // namespace

void record_lines(bool is_wanted) { watch_buffers(is_wanted ? &LINES : nullptr); }

std::string line_of(const Buffer* buffer) {
  auto found = lines().find(buffer);
  return found == lines().end() ? "" : to_text(found->second);
}

void remember_write(Buffer* buffer) {
  Site site = current_site();
  std::vector<Write>& known = writes()[buffer];
  buffer->has_writes = true;
  PyCodeObject* forgotten = nullptr;
  if (known.size() == MOST_WRITES) {
    forgotten = known.front().site.code;
    known.erase(known.begin());
  }
  known.push_back({buffer->version, site});
  Py_XDECREF(forgotten);  // last: the end of a code object may run any code
}

void forget_writes(Buffer* buffer) {
  buffer->has_writes = false;
  auto found = writes().find(buffer);
  if (found == writes().end()) return;
  std::vector<Write> gone = std::move(found->second);
  writes().erase(found);
  for (Write& write : gone) Py_XDECREF(write.site.code);
}

Site site_of_write(const Buffer* buffer, uint32_t version) {
  auto found = writes().find(buffer);
  if (found == writes().end()) return {nullptr, 0};
  for (const Write& write : found->second)
    if (write.version == version) return write.site;
  return {nullptr, 0};
}

}  // namespace tessella
