// Columns out of text. See columns.h.
#include "columns.h"

#include <atomic>
#include <limits>

#include "../threads.h"
#include "numbers.h"

namespace tessella::csv {

namespace {

constexpr int64_t BLOCK_NS = BLOCK * 3;  // about what a block takes

std::string_view trimmed(const Field& field) {
  const char *p = field.begin, *end = field.end;
  auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (p < end && is_space(*p)) ++p;
  while (p < end && is_space(end[-1])) --end;
  return {p, static_cast<size_t>(end - p)};
}

// One block: its rows, and the kinds that its worker has found to be needed.
class Block {
 public:
  Block(const Text& text, std::span<const Column> columns, const Missing& missing, Kind* kinds)
      : text_(text), columns_(columns), missing_(missing), kinds_(kinds) {}

  Wrong run(Mark mark, Mark next) {
    const char* p = text_.at(mark.offset);
    for (int64_t row = mark.row; row < next.row && p < text_.at(next.offset); ++row) {
      p = read_record(p, row);
      if (!p) break;
      p = text_.skip_blank(p);
    }
    return wrong_;
  }

 private:
  // Behind the record; nullptr: something is wrong with it.
  const char* read_record(const char* p, int64_t row) {
    const char* record = p;
    for (size_t i = 0; i < columns_.size(); ++i) {
      p = read(p, row, i);
      if (!p) return nullptr;
      bool is_last = p >= text_.end() || !text_.is_delimiter(p);
      if (is_last != (i + 1 == columns_.size())) return ragged(record);
      if (!is_last) ++p;
    }
    return text_.next_line(p);
  }

  const char* ragged(const char* record) {
    Field field;
    Wrong flaw;
    int64_t count = 1;
    for (const char* p = record; (p = text_.read_field(p, &field, &flaw)); ++p, ++count)
      if (p >= text_.end() || !text_.is_delimiter(p)) break;
    wrong_ = {Flaw::ragged, text_.offset(record), count};
    return nullptr;
  }

  // Reads a field into its column: plain numbers at once, all else when its end is known.
  const char* read(const char* p, int64_t row, size_t i) {
    const char* behind = nullptr;
    if (kinds_[i] == Kind::floats)
      behind = read_float(p, static_cast<double*>(columns_[i].out) + row);
    else if (kinds_[i] == Kind::integers)
      behind = read_integer(p, static_cast<int64_t*>(columns_[i].out) + row);
    if (behind && text_.ends_field(behind)) return behind;
    Field field;
    behind = text_.read_field(p, &field, &wrong_);
    if (behind && kinds_[i] != Kind::skipped && !store(field, text_.offset(p), row, i)) {
      wrong_ = {Flaw::not_a_number, text_.offset(p), static_cast<int64_t>(i)};
      return nullptr;
    }
    return behind;
  }

  // False: a fixed column cannot hold the field. Others get the next kind.
  bool store(const Field& field, int64_t offset, int64_t row, size_t i) {
    std::string_view content = trimmed(field);
    auto* integer = static_cast<int64_t*>(columns_[i].out) + row;
    auto* number = static_cast<double*>(columns_[i].out) + row;
    const char *begin = content.data(), *end = begin + content.size();
    if (kinds_[i] == Kind::integers) {
      if (parse_integer(begin, end, integer)) return true;
      if (columns_[i].is_fixed) return false;
      kinds_[i] = Kind::floats;
    }
    if (kinds_[i] == Kind::floats) {
      if (parse_float(begin, end, number)) return true;
      *number = std::numeric_limits<double>::quiet_NaN();
      if (missing_.holds(content)) return true;
      if (columns_[i].is_fixed) return false;
      kinds_[i] = Kind::texts;
    }
    *integer = missing_.holds(content) ? NONE : offset;
    return true;
  }

  const Text& text_;
  std::span<const Column> columns_;
  const Missing& missing_;
  Kind* kinds_;
  Wrong wrong_;
};

}  // namespace

Wrong parse_columns(const Text& text, std::span<const Mark> marks, std::span<const Column> columns,
                    const Missing& missing, Kind* needed, void* scratch, int workers) {
  auto* kinds = static_cast<Kind*>(scratch);
  for (int worker = 0; worker < workers; ++worker)
    for (size_t i = 0; i < columns.size(); ++i)
      kinds[static_cast<size_t>(worker) * columns.size() + i] = columns[i].kind;
  auto blocks = static_cast<int64_t>(marks.size()) - 1;
  std::atomic_flag lock;
  Wrong first;
  auto work = [&](int64_t b, int worker) {
    auto place = static_cast<size_t>(b);
    Block block(text, columns, missing, kinds + static_cast<size_t>(worker) * columns.size());
    Wrong wrong = block.run(marks[place], marks[place + 1]);
    if (wrong.flaw == Flaw::none) return;
    while (lock.test_and_set()) {
    }
    if (first.flaw == Flaw::none || wrong.offset < first.offset) first = wrong;
    lock.clear();
  };
  parallel(blocks, BLOCK_NS, true, work, workers);
  for (size_t i = 0; i < columns.size(); ++i) {
    needed[i] = columns[i].kind;
    for (int worker = 0; worker < workers; ++worker) {
      Kind found = kinds[static_cast<size_t>(worker) * columns.size() + i];
      if (found > needed[i]) needed[i] = found;
    }
  }
  return first;
}

}  // namespace tessella::csv
