// The different texts of a column, and for each row which of them it has.
#pragma once

#include "text.h"

namespace tessella::csv {

// A table of the texts that were met, open addressing; its memory is the caller's.
struct Entry {
  int64_t offset;  // of the field in which the text was met first
  uint64_t hash;
};
struct Codes {
  Entry* entries;  // slots / 2 of them
  int64_t* table;  // a slot holds the number of an entry, or NONE
  int64_t slots;   // a power of two
  int64_t count = 0;
};

// Takes over what `from` holds into a table with more slots.
void move_codes(const Codes& from, Codes* to);

// Replaces offsets of fields in column[row, rows) by the codes of their texts, in the order in
// which they are met; NONE stays. Gives the row where the table is full, or `rows`.
int64_t encode(const Text& text, int64_t* column, int64_t row, int64_t rows, Codes* codes);

// Calls take(byte) for each byte of a field, doubled quotes once.
template <class F>
void for_each_byte(const Text& text, const Field& field, F&& take) {
  for (const char* p = field.begin; p < field.end; ++p) {
    take(*p);
    if (field.has_escapes && text.is_quote(p)) ++p;
  }
}

}  // namespace tessella::csv
