// Lines one by one, each by one thread. A few that follow one another are encoded and decoded
// together; those that are no runs in memory are brought into scratch for that, and their results
// are brought back.
#pragma once

#include "sort_coding.h"

namespace tessella::launch {

template <class W>
class LineSorter {
 public:
  LineSorter(const SortTask& task, const SortLines& lines, int64_t group, char* memory)
      : task_(task),
        lines_(lines),
        coding_(task, lines.n),
        group_(group),
        words_(reinterpret_cast<W*>(memory)),
        indices_(reinterpret_cast<int64_t*>(memory + word_bytes(lines, group))),
        elements_(reinterpret_cast<char*>(indices_ + group_ * lines.wanted)),
        values_(elements_ + group_ * lines.n * coding_.item) {}

  // How many lines are taken together. Of lines side by side, each cache line holds many.
  static int64_t group(const SortLines& lines, int workers) {
    if (are_runs(lines)) return std::max<int64_t>(1, run_elements / lines.n);
    int64_t fair = (lines.lines.size + workers - 1) / workers;
    return std::clamp<int64_t>(group_elements / lines.n, 1, std::min<int64_t>(16, fair));
  }

  // Words; indices, elements and values that are no runs where they are.
  static int64_t scratch_bytes(const SortLines& lines, int64_t item, int64_t group) {
    int64_t each = lines.wanted * (8 + item) + lines.n * item;
    return word_bytes(lines, group) + (are_runs(lines) ? 0 : (group * each + 63) / 64 * 64);
  }

  static bool are_runs(const SortLines& lines) {
    return lines.step[0] == 1 && lines.step[1] == 1 && lines.step[2] == 1;
  }

  // The lines first … last-1.
  void operator()(int64_t first, int64_t last) {
    bool is_direct = are_runs(lines_);
    lines_.lines.walk(first, last, [&](const int64_t (&offsets)[3], int64_t count) {
      for (int64_t i = 0; i < count; i += group_) {
        int64_t at[3];
        for (int k = 0; k < 3; ++k) at[k] = offsets[k] + i * lines_.line_step(k);
        Group group = placed(at, std::min(group_, count - i));
        is_direct ? sort(group) : sort_in_scratch(group);
      }
    });
  }

 private:
  static constexpr int64_t run_elements = 4096;
  static constexpr int64_t group_elements = 1 << 20;

  static int64_t word_bytes(const SortLines& lines, int64_t group) {
    return (group * lines.n * static_cast<int64_t>(sizeof(W)) + 63) / 64 * 64;
  }

  // Lines of x and of the results, and the distances between them in elements.
  struct Group {
    int64_t count;
    const char* x;
    char* values;
    int64_t* indices;
    int64_t x_row, values_row, indices_row;
  };

  Group placed(const int64_t (&offsets)[3], int64_t count) const {
    return {count,
            task_.x + offsets[0] * coding_.item,
            task_.values ? task_.values + offsets[1] * coding_.item : nullptr,
            task_.indices ? task_.indices + offsets[2] : nullptr,
            lines_.line_step(0),
            lines_.line_step(1),
            lines_.line_step(2)};
  }

  void sort_in_scratch(const Group& at) {
    int64_t n = lines_.n, wanted = lines_.wanted, item = coding_.item;
    const int64_t* step = lines_.step;
    copy_patch(item, n, at.count, elements_, {1, n}, at.x, {step[0], at.x_row});
    sort({at.count, elements_, at.values ? values_ : nullptr, at.indices ? indices_ : nullptr, n,
          wanted, wanted});
    if (at.values)
      copy_patch(item, wanted, at.count, at.values, {step[1], at.values_row}, values_, {1, wanted});
    if (at.indices)
      copy_patch(8, wanted, at.count, reinterpret_cast<char*>(at.indices),
                 {step[2], at.indices_row}, reinterpret_cast<const char*>(indices_), {1, wanted});
  }

  // Lines that are runs.
  void sort(const Group& at) {
    int64_t n = lines_.n, wanted = lines_.wanted;
    KeysFound found = coding_.encode(at.count, n, words_, n, at.x, at.x_row);
    auto held = coding_.hold(found);
    if (coding_.is_indexed)
      coding_.kernel.pack(at.count, n, words_, n, held.packing, Number::column, 0);
    for (int64_t i = 0; i < at.count; ++i) {
      W* words = words_ + i * n;
      coding_.kernel.sort(n, words, wanted);
      if (coding_.is_indexed && !held.is_whole())
        coding_.settle(words, coding_.include_tied(n, words, wanted), held, x(at, i), 1);
    }
    if (at.indices)
      coding_.kernel.numbers(at.count, wanted, at.indices, at.indices_row, words_, n, coding_.bits);
    if (!at.values) return;
    if (!coding_.is_indexed) coding_.decode(at.count, wanted, at.values, at.values_row, words_, n);
    for (int64_t i = 0; i < at.count; ++i) {
      char* values = at.values + i * at.values_row * coding_.item;
      if (coding_.is_indexed)
        coding_.gather(wanted, values, 1, words_ + i * n, 1, x(at, i), 1);
      else if (found.has_negative_zero)
        coding_.restore_zeros(n, x(at, i), 1, wanted, words_ + i * n, 1, values, 1);
    }
  }

  const char* x(const Group& at, int64_t line) const {
    return at.x + line * at.x_row * coding_.item;
  }

  const SortTask& task_;
  const SortLines& lines_;
  const Coding<W> coding_;
  const int64_t group_;
  W* words_;
  int64_t* indices_;
  char* elements_;
  char* values_;
};

}  // namespace tessella::launch
