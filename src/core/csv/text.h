// Text of comma-separated values: what separates fields and records, and how one field is read.
// The bytes end with a newline of their own behind the last one, so that no loop over a field needs
// to know where they end. Nothing here allocates or knows Python.
#pragma once

#include <stdint.h>
#include <string.h>

namespace tessella::csv {

constexpr int NONE = -1;

struct Format {
  int delimiter;
  int quote;    // or NONE
  int comment;  // lines that begin with it are left out; or NONE
};

enum class Flaw : uint8_t { none, unclosed_quote, after_quote, ragged, not_a_number };

// Where something is wrong; `count` is that of the fields, or the column.
struct Wrong {
  Flaw flaw = Flaw::none;
  int64_t offset = 0;
  int64_t count = 0;
};

// The content of one field, without the quotes around it.
struct Field {
  const char* begin;
  const char* end;
  bool has_escapes;  // doubled quotes inside
};

inline bool is_newline(char c) { return c == '\n' || c == '\r'; }

class Text {
 public:
  // data[size] is a newline.
  Text(const char* data, int64_t size, const Format& format);

  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  const char* at(int64_t offset) const { return data_ + offset; }
  int64_t offset(const char* p) const { return p - data_; }
  const Format& format() const { return format_; }

  bool ends_field(const char* p) const { return ends_[static_cast<uint8_t>(*p)]; }
  bool is_delimiter(const char* p) const { return *p == static_cast<char>(format_.delimiter); }
  bool is_quote(const char* p) const {
    return format_.quote != NONE && *p == static_cast<char>(format_.quote);
  }

  // Behind the newline at p, which may be of two bytes.
  const char* next_line(const char* p) const {
    if (*p == '\r' && p + 1 < end() && p[1] == '\n') ++p;
    return p < end() ? p + 1 : p;
  }

  // The first record at or behind p: blank lines and comments are passed over.
  const char* skip_blank(const char* p) const;

  // Reads the field at p; gives where it ends: at a delimiter, a newline or the end of the text.
  // nullptr: `wrong` says why.
  const char* read_field(const char* p, Field* field, Wrong* wrong) const {
    if (is_quote(p) && p < end()) return read_quoted(p, field, wrong);
    const char* first = p;
    while (!ends_field(p)) ++p;
    *field = {first, p, false};
    return p;
  }

  // The number of the line that holds an offset, from 1 on, and where it begins.
  int64_t line_at(int64_t offset, const char** begin) const;

 private:
  const char* read_quoted(const char* p, Field* field, Wrong* wrong) const;

  const char* data_;
  int64_t size_;
  Format format_;
  bool ends_[256] = {};  // delimiter and newlines
};

// Behind the record at p: its newline is passed. nullptr: `wrong` says why.
const char* skip_record(const Text& text, const char* p, bool has_quotes, Wrong* wrong);

// Cuts a text into blocks of whole records: marks[b] is {offset, number of the row} of the first
// record that begins in the b-th BLOCK bytes behind `start` or later, and the last mark is {size,
// rows}. Gives the number of rows.
constexpr int64_t BLOCK = 1 << 18;
struct Mark {
  int64_t offset, row;
};
inline int64_t mark_count(int64_t bytes) { return (bytes + BLOCK - 1) / BLOCK + 1; }
int64_t mark_blocks(const Text& text, int64_t start, Mark* marks, Wrong* wrong);

}  // namespace tessella::csv
