// Short lines, many at a time: a tile holds as many lines side by side as a row of it has words,
// and a network sorts all its columns at once.
#pragma once

#include "sort_coding.h"

namespace tessella::launch {

template <class W>
class TileSorter {
 public:
  static constexpr int64_t columns = sort_columns<W>;

  // Where lines lie side by side, a row of one tile is a small part of a row in memory: several
  // tiles are filled together.
  static constexpr int64_t most_tiles = 4;

  TileSorter(const SortTask& task, const SortLines& lines, char* memory)
      : task_(task),
        lines_(lines),
        coding_(task, lines.n),
        words_(reinterpret_cast<W*>(memory)),
        elements_(memory + most_tiles * padded(lines.n) * row_bytes),
        indices_(reinterpret_cast<int64_t*>(elements_ + padded(lines.n) * columns * 8)),
        room_(room(lines)) {}

  // How many lines are taken together.
  static int64_t room(const SortLines& lines) {
    return columns * (lines.line_step(0) == 1 ? most_tiles : 1);
  }

  // Words, elements, and indices or one line of words.
  static int64_t scratch_bytes(int64_t n) {
    return padded(n) * (most_tiles * row_bytes + 2 * columns * 8);
  }

  // The lines first … last-1.
  void operator()(int64_t first, int64_t last) {
    lines_.lines.walk(first, last, [&](const int64_t (&offsets)[3], int64_t count) {
      int64_t at[3] = {offsets[0], offsets[1], offsets[2]};
      while (count > 0) {
        int64_t taken = std::min(count, columns - filled_ % columns);
        W* words = words_ + filled_ / columns * padded(lines_.n) * columns + filled_ % columns;
        parts_[part_count_++] = {{at[0], at[1], at[2]}, words, taken};
        filled_ += taken;
        if (filled_ == room_) sort_tiles();
        for (int k = 0; k < 3; ++k) at[k] += taken * lines_.lines.inner_stride(k);
        count -= taken;
      }
    });
    if (filled_ > 0) sort_tiles();
  }

 private:
  static constexpr int64_t row_bytes = 64;

  // Neighbouring lines: their places in x, values and indices, and their columns in a tile.
  struct Part {
    int64_t offsets[3];
    W* words;
    int64_t count;
  };

  static int64_t padded(int64_t n) { return (n + SORT_BLOCK - 1) / SORT_BLOCK * SORT_BLOCK; }

  int64_t line_step(int k) const { return lines_.line_step(k); }
  const char* x(const Part& part) const { return task_.x + part.offsets[0] * coding_.item; }

  void sort_tiles() {
    int64_t tiles = (filled_ + columns - 1) / columns, size = padded(lines_.n) * columns;
    if (filled_ % columns != 0) std::fill_n(words_ + (tiles - 1) * size, size, 0);
    KeysFound found = load();
    auto held = coding_.hold(found);
    for (int64_t i = 0; i < tiles; ++i) {
      W* tile = words_ + i * size;
      if (coding_.is_indexed)
        coding_.kernel.pack(lines_.n, columns, tile, columns, held.packing, Number::row, 0);
      coding_.kernel.columns(lines_.n, tile);
      if (coding_.is_indexed && !held.is_whole() &&
          coding_.kernel.has_ties(lines_.n, tile, coding_.bits))
        settle(tile, held);
    }
    store(found.has_negative_zero);
    part_count_ = 0;
    filled_ = 0;
  }

  // Rows far apart are asked for before they are needed: those of the next block, of which there
  // are `left` from this one on.
  template <int IsWrite>
  static void fetch(const char* rows, int64_t step, int64_t left) {
    for (int64_t i = SORT_BLOCK; i < std::min(2 * SORT_BLOCK, left); ++i)
      __builtin_prefetch(rows + i * step, IsWrite);
  }

  // A few rows of all tiles at a time.
  KeysFound load() {
    KeysFound found;
    bool is_direct = line_step(0) == 1;
    int64_t rows = is_direct ? SORT_BLOCK : lines_.n;
    for (int64_t row = 0; row < lines_.n; row += rows)
      for (int i = 0; i < part_count_; ++i) {
        const Part& part = parts_[i];
        int64_t count = std::min(rows, lines_.n - row);
        const char* from = x(part) + row * lines_.step[0] * coding_.item;
        W* words = part.words + row * columns;
        if (is_direct) {
          fetch<0>(from, lines_.step[0] * coding_.item, lines_.n - row);
          found = coding_.join(
              found, coding_.encode(count, part.count, words, columns, from, lines_.step[0]));
        } else {
          copy_patch(coding_.item, count, part.count, elements_, {part.count, 1}, from,
                     {lines_.step[0], line_step(0)});
          found = coding_.join(
              found, coding_.encode(count, part.count, words, columns, elements_, part.count));
        }
      }
    return found;
  }

  void settle(const W* tile, const typename Coding<W>::Held& held) {
    int64_t n = lines_.n;
    W* line = reinterpret_cast<W*>(elements_);
    for (int i = 0; i < part_count_; ++i) {
      const Part& part = parts_[i];
      if (part.words < tile || part.words >= tile + columns) continue;
      for (int64_t j = 0; j < part.count; ++j) {
        W* column = part.words + j;
        for (int64_t k = 0; k < n; ++k) line[k] = column[k * columns];
        const char* from = x(part) + j * line_step(0) * coding_.item;
        coding_.settle(line, n, held, from, lines_.step[0]);
        for (int64_t k = 0; k < n; ++k) column[k * columns] = line[k];
      }
    }
  }

  void store(bool has_negative_zero) {
    bool is_direct = (!task_.values || line_step(1) == 1) && (!task_.indices || line_step(2) == 1);
    int64_t rows = is_direct ? SORT_BLOCK : lines_.wanted;
    for (int64_t row = 0; row < lines_.wanted; row += rows)
      for (int i = 0; i < part_count_; ++i) {
        int64_t count = std::min(rows, lines_.wanted - row);
        if (task_.indices) store_indices(parts_[i], row, count);
        if (task_.values && !coding_.is_indexed) store_values(parts_[i], row, count);
      }
    if (!task_.values || (!coding_.is_indexed && !has_negative_zero)) return;
    for (int i = 0; i < part_count_; ++i) store_from_x(parts_[i]);
  }

  void store_values(const Part& part, int64_t row, int64_t rows) {
    int64_t step = lines_.step[1], item = coding_.item;
    const W* words = part.words + row * columns;
    char* values = task_.values + (part.offsets[1] + row * step) * item;
    if (line_step(1) == 1) {
      fetch<1>(values, step * item, lines_.wanted - row);
      return coding_.decode(rows, part.count, values, step, words, columns);
    }
    coding_.decode(rows, part.count, elements_, part.count, words, columns);
    copy_patch(item, rows, part.count, values, {step, line_step(1)}, elements_, {part.count, 1});
  }

  void store_indices(const Part& part, int64_t row, int64_t rows) {
    int64_t step = lines_.step[2];
    const W* words = part.words + row * columns;
    int64_t* indices = task_.indices + part.offsets[2] + row * step;
    auto numbers = coding_.kernel.numbers;
    if (line_step(2) == 1)
      return numbers(rows, part.count, indices, step, words, columns, coding_.bits);
    numbers(rows, part.count, indices_, part.count, words, columns, coding_.bits);
    copy_patch(8, rows, part.count, reinterpret_cast<char*>(indices), {step, line_step(2)},
               reinterpret_cast<const char*>(indices_), {part.count, 1});
  }

  // Values that words do not tell: those of indices, or the signs of zeros.
  void store_from_x(const Part& part) {
    int64_t step = lines_.step[1], item = coding_.item;
    for (int64_t j = 0; j < part.count; ++j) {
      const char* from = x(part) + j * line_step(0) * item;
      char* to = task_.values + (part.offsets[1] + j * line_step(1)) * item;
      const W* words = part.words + j;
      if (coding_.is_indexed) {
        coding_.gather(lines_.wanted, to, step, words, columns, from, lines_.step[0]);
      } else {
        coding_.restore_zeros(lines_.n, from, lines_.step[0], lines_.wanted, words, columns, to,
                              step);
      }
    }
  }

  const SortTask& task_;
  const SortLines& lines_;
  const Coding<W> coding_;
  W* words_;
  char* elements_;
  int64_t* indices_;
  int64_t room_;  // for lines
  Part parts_[most_tiles * columns];
  int part_count_ = 0;
  int64_t filled_ = 0;
};

}  // namespace tessella::launch
