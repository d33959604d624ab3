// Fields, records and blocks of them. See text.h.
#include "text.h"

#include <initializer_list>

namespace tessella::csv {

Text::Text(const char* data, int64_t size, const Format& format)
    : data_(data), size_(size), format_(format) {
  for (char c : {static_cast<char>(format.delimiter), '\n', '\r'})
    ends_[static_cast<uint8_t>(c)] = true;
}

static const char* find_newline(const char* p) {
  while (!is_newline(*p)) ++p;
  return p;
}

const char* Text::skip_blank(const char* p) const {
  while (p < end()) {
    bool is_comment = format_.comment != NONE && *p == static_cast<char>(format_.comment);
    if (!is_comment && !is_newline(*p)) return p;
    p = next_line(find_newline(p));
  }
  return p;
}

const char* Text::read_quoted(const char* p, Field* field, Wrong* wrong) const {
  const char* first = p + 1;
  bool has_escapes = false;
  for (const char* from = first;;) {
    auto left = static_cast<size_t>(end() - from);
    auto* found = static_cast<const char*>(memchr(from, format_.quote, left));
    if (!found) {
      *wrong = {Flaw::unclosed_quote, offset(p), 0};
      return nullptr;
    }
    const char* next = found + 1;
    if (next < end() && is_quote(next)) {
      has_escapes = true;
      from = next + 1;
      continue;
    }
    if (!ends_field(next)) {
      *wrong = {Flaw::after_quote, offset(next), 0};
      return nullptr;
    }
    *field = {first, found, has_escapes};
    return next;
  }
}

int64_t Text::line_at(int64_t offset, const char** begin) const {
  int64_t line = 1;
  const char* start = data_;
  for (const char* p = data_; p < at(offset);) {
    if (!is_newline(*p)) {
      ++p;
      continue;
    }
    p = next_line(p);
    if (p > at(offset)) break;
    start = p;
    ++line;
  }
  *begin = start;
  return line;
}

const char* skip_record(const Text& text, const char* p, bool has_quotes, Wrong* wrong) {
  if (!has_quotes) return text.next_line(find_newline(p));
  Field field;
  for (;;) {
    p = text.read_field(p, &field, wrong);
    if (!p) return nullptr;
    if (p >= text.end() || !text.is_delimiter(p)) return text.next_line(p);
    ++p;
  }
}

int64_t mark_blocks(const Text& text, int64_t start, Mark* marks, Wrong* wrong) {
  const char* p = text.skip_blank(text.at(start));
  auto left = static_cast<size_t>(text.end() - p);
  bool has_quotes =
      text.format().quote != NONE && left && memchr(p, text.format().quote, left) != nullptr;
  int64_t row = 0, block = 0, count = mark_count(text.offset(text.end()) - start);
  for (; p < text.end(); ++row) {
    for (; block < count - 1 && text.offset(p) - start >= block * BLOCK; ++block)
      marks[block] = {text.offset(p), row};
    p = skip_record(text, p, has_quotes, wrong);
    if (!p) return 0;
    p = text.skip_blank(p);
  }
  for (; block < count; ++block) marks[block] = {text.offset(text.end()), row};
  return row;
}

}  // namespace tessella::csv
