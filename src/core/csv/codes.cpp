// The different texts of a column. See codes.h.
#include "codes.h"

namespace tessella::csv {

namespace {

uint64_t hash_of(const Text& text, const Field& field) {
  uint64_t hash = 0x9e3779b97f4a7c15;  // 2 ** 64 over the golden ratio
  for_each_byte(text, field, [&](char c) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0xff51afd7ed558ccd;  // of MurmurHash3's mixer
    hash ^= hash >> 32;
  });
  return hash;
}

bool has_same_text(const Text& text, const Field& x, const Field& y) {
  if (x.has_escapes == y.has_escapes) {
    int64_t size = x.end - x.begin;
    return size == y.end - y.begin && memcmp(x.begin, y.begin, static_cast<size_t>(size)) == 0;
  }
  const char* p = y.begin;
  bool is_same = true;
  for_each_byte(text, x, [&](char c) {
    is_same = is_same && p < y.end && *p == c;
    if (is_same) p += y.has_escapes && text.is_quote(p) ? 2 : 1;
  });
  return is_same && p == y.end;
}

Field field_at(const Text& text, int64_t offset) {
  Field field{text.begin(), text.begin(), false};
  Wrong wrong;
  text.read_field(text.at(offset), &field, &wrong);
  return field;
}

// The slot of a text: that of its entry, or a free one.
template <class F>
int64_t find_slot(const Codes& codes, uint64_t hash, F&& is_same) {
  int64_t mask = codes.slots - 1;
  int64_t slot = static_cast<int64_t>(hash) & mask;
  while (codes.table[slot] != NONE && !is_same(codes.entries[codes.table[slot]]))
    slot = (slot + 1) & mask;
  return slot;
}

}  // namespace

void move_codes(const Codes& from, Codes* to) {
  for (int64_t slot = 0; slot < to->slots; ++slot) to->table[slot] = NONE;
  for (int64_t i = 0; i < from.count; ++i) {
    to->entries[i] = from.entries[i];
    to->table[find_slot(*to, from.entries[i].hash, [](const Entry&) { return false; })] = i;
  }
  to->count = from.count;
}

int64_t encode(const Text& text, int64_t* column, int64_t row, int64_t rows, Codes* codes) {
  for (; row < rows; ++row) {
    int64_t offset = column[row];
    if (offset < 0 || offset > text.offset(text.end())) continue;
    Field field = field_at(text, offset);
    uint64_t hash = hash_of(text, field);
    int64_t slot = find_slot(*codes, hash, [&](const Entry& entry) {
      return entry.hash == hash && has_same_text(text, field_at(text, entry.offset), field);
    });
    if (codes->table[slot] == NONE) {
      if (codes->count == codes->slots / 2) return row;
      codes->entries[codes->count] = {offset, hash};
      codes->table[slot] = codes->count++;
    }
    column[row] = codes->table[slot];
  }
  return row;
}

}  // namespace tessella::csv
