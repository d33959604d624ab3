// Columns out of a text of comma-separated values, in parallel over its blocks.
#pragma once

#include <span>
#include <string_view>

#include "text.h"

namespace tessella::csv {

// What a column holds, the narrowest first: each holds all that those before it do.
enum class Kind : uint8_t { skipped, integers, floats, texts };

struct Column {
  Kind kind;
  bool is_fixed;  // what does not fit is wrong; otherwise `needed` says what would hold it
  void* out;  // a row is 8 bytes: an int64, a double, or the offset of the text; nullptr: skipped
};

// Fields that stand for no value: NaN among floats, -1 among texts. Integers have no such number.
class Missing {
 public:
  explicit Missing(std::span<const std::string_view> words) : words_(words) {
    for (std::string_view word : words) lengths_ |= bit(word.size());
  }
  bool holds(std::string_view field) const {
    if (!(lengths_ & bit(field.size()))) return false;
    for (std::string_view word : words_)
      if (word == field) return true;
    return false;
  }

 private:
  static uint64_t bit(size_t length) { return uint64_t{1} << (length < 63 ? length : 63); }
  std::span<const std::string_view> words_;
  uint64_t lengths_ = 0;
};

// The bytes that parse_columns needs beside its operands.
inline int64_t scratch_bytes(int64_t columns, int workers) { return columns * workers; }

// Fills the columns. needed[i] is the kind that column i must have to hold all its fields: where it
// is another one than the column's, the column holds nothing of use. Gives what is wrong first in
// the text, if something is.
Wrong parse_columns(const Text& text, std::span<const Mark> marks, std::span<const Column> columns,
                    const Missing& missing, Kind* needed, void* scratch, int workers);

}  // namespace tessella::csv
