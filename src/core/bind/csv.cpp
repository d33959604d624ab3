// Comma-separated values, for data/delimited.py, which builds the tables and the messages.
#include <nanobind/stl/tuple.h>

#include <memory>

#include "../csv/codes.h"
#include "../csv/columns.h"
#include "../tensor/result.h"
#include "../tensor/run.h"
#include "bind.h"

namespace tessella {

namespace {

using csv::Text;

// --- operands ------------------------------------------------------------------------------------

// A vector of a dtype that lies in memory without gaps.
Tensor* vector_of(nb::handle object, DType dtype) {
  Tensor* x = tensor_of(object);
  bool fits = x->dtype == dtype && x->ndim == 1 && x->is_contiguous && x->has_memory();
  if (!fits) throw nb::type_error("expected a contiguous vector");
  return x;
}

// The bytes of a text and the newline behind them.
Text text_of(nb::handle object, const Sizes& format) {
  Tensor* x = vector_of(object, DType::uint8);
  bool is_ended = x->size > 0 && x->data()[x->size - 1] == '\n';
  if (!is_ended || format.size() != 3) throw nb::type_error("expected a text and its format");
  auto byte = [&](size_t i) { return static_cast<int>(format[i]); };
  return Text(x->data(), x->size - 1, {byte(0), byte(1), byte(2)});
}

int64_t checked_offset(const Text& text, int64_t offset) {
  if (offset < 0 || offset > text.offset(text.end())) throw nb::index_error("no such offset");
  return offset;
}

std::span<csv::Mark> marks_of(nb::handle object) {
  Tensor* x = vector_of(object, DType::int64);
  return {reinterpret_cast<csv::Mark*>(x->data()), static_cast<size_t>(x->size) / 2};
}

void check_marks(const Text& text, std::span<const csv::Mark> marks, int64_t rows) {
  csv::Mark before{0, 0};
  for (const csv::Mark& mark : marks) {
    bool fits = mark.offset >= before.offset && mark.row >= before.row && mark.row <= rows;
    if (!fits) throw nb::index_error("marks are not in order");
    checked_offset(text, mark.offset);
    before = mark;
  }
}

nb::object as_python(const csv::Wrong& wrong) {
  if (wrong.flaw == csv::Flaw::none) return nb::none();
  return nb::make_tuple(static_cast<int>(wrong.flaw), wrong.offset, wrong.count);
}

nb::bytes content_of(const Text& text, const csv::Field& field) {
  if (!field.has_escapes)
    return nb::bytes(field.begin, static_cast<size_t>(field.end - field.begin));
  std::string content;
  csv::for_each_byte(text, field, [&](char c) { content += c; });
  return nb::bytes(content.data(), content.size());
}

// --- functions -----------------------------------------------------------------------------------

// The fields of the first record at or behind an offset, and the offset behind it: ([], end) if
// there is none. Or what is wrong.
nb::tuple read_record(nb::handle object, const Sizes& format, int64_t offset, int64_t most) {
  Text text = text_of(object, format);
  const char* p = text.skip_blank(text.at(checked_offset(text, offset)));
  nb::list fields;
  csv::Wrong wrong;
  while (p < text.end()) {
    csv::Field field;
    p = text.read_field(p, &field, &wrong);
    if (!p) return nb::make_tuple(fields, 0, as_python(wrong));
    fields.append(content_of(text, field));
    bool is_last = p >= text.end() || !text.is_delimiter(p);
    if (is_last || static_cast<int64_t>(fields.size()) > most) {
      p = text.next_line(p);
      break;
    }
    if (++p == text.end()) fields.append(nb::bytes("", 0));
  }
  return nb::make_tuple(fields, text.offset(p), nb::none());
}

// The number of the line that holds an offset, and so many bytes of it.
nb::tuple read_line(nb::handle object, const Sizes& format, int64_t offset, int64_t most) {
  Text text = text_of(object, format);
  const char* begin;
  int64_t line = text.line_at(checked_offset(text, offset), &begin);
  const char* end = begin;
  while (end < text.end() && !csv::is_newline(*end) && end - begin < most) ++end;
  return nb::make_tuple(line, nb::bytes(begin, static_cast<size_t>(end - begin)));
}

// Marks the blocks behind an offset; gives the number of rows and what is wrong.
nb::tuple mark_blocks(nb::handle object, const Sizes& format, int64_t offset, nb::handle out) {
  Text text = text_of(object, format);
  std::span<csv::Mark> marks = marks_of(out);
  target_of(out);
  int64_t bytes = text.offset(text.end()) - checked_offset(text, offset);
  if (static_cast<int64_t>(marks.size()) != csv::mark_count(bytes))
    throw nb::type_error("expected room for the marks");
  csv::Wrong wrong;
  int64_t rows;
  {
    LongWork work(bytes, {tensor_of(object), tensor_of(out)});
    rows = csv::mark_blocks(text, offset, marks.data(), &wrong);
  }
  return nb::make_tuple(rows, as_python(wrong));
}

struct Outputs {
  std::vector<csv::Column> columns;
  std::vector<Tensor*> tensors;

  // A tensor, or None for a column that is skipped; its kind; whether that is fixed.
  void add(nb::handle object, int kind, bool is_fixed, int64_t rows) {
    if (object.is_none()) return columns.push_back({csv::Kind::skipped, true, nullptr});
    auto wanted = static_cast<csv::Kind>(kind);
    if (wanted < csv::Kind::integers || wanted > csv::Kind::texts)
      throw nb::value_error("no such kind");
    DType dtype = wanted == csv::Kind::floats ? DType::float64 : DType::int64;
    tensors.push_back(vector_of(object, dtype));
    target_of(object);
    if (tensors.back()->size != rows) throw nb::type_error("expected room for all rows");
    columns.push_back({wanted, is_fixed, tensors.back()->data()});
  }
};

// Columns are (tensor or None, kind, is_fixed). Gives the kinds that they need, and what is wrong.
nb::tuple parse_columns(nb::handle object, const Sizes& format, nb::handle marked, int64_t rows,
                        nb::list columns, nb::list missing) {
  Text text = text_of(object, format);
  std::span<const csv::Mark> marks = marks_of(marked);
  check_marks(text, marks, rows);
  Outputs outputs;
  for (nb::handle column : columns) {
    auto [tensor, kind, is_fixed] = nb::cast<std::tuple<nb::object, int, bool>>(column);
    outputs.add(tensor, kind, is_fixed, rows);
  }
  std::vector<std::string_view> words;
  for (nb::handle word : missing) {
    auto bytes = nb::cast<nb::bytes>(word);  // the list keeps it alive
    words.emplace_back(bytes.c_str(), bytes.size());
  }
  std::vector<csv::Kind> needed(outputs.columns.size());
  int workers = num_threads();
  auto count = static_cast<int64_t>(needed.size());
  Scratch scratch(static_cast<size_t>(csv::scratch_bytes(count, workers)));
  csv::Wrong wrong;
  {
    LongWork work(text.offset(text.end()), {tensor_of(object), tensor_of(marked)}, outputs.tensors);
    wrong = csv::parse_columns(text, marks, outputs.columns, csv::Missing(words), needed.data(),
                               scratch.data(), workers);
  }
  nb::list kinds;
  for (csv::Kind kind : needed) kinds.append(static_cast<int>(kind));
  return nb::make_tuple(kinds, as_python(wrong));
}

// A table of codes in counted memory.
class Table : public csv::Codes {
 public:
  explicit Table(int64_t slots)
      : memory_(static_cast<size_t>(slots) * (sizeof(int64_t) + sizeof(csv::Entry) / 2)) {
    this->slots = slots;
    entries = static_cast<csv::Entry*>(memory_.data());
    table = reinterpret_cast<int64_t*>(entries + slots / 2);
    csv::move_codes(csv::Codes{nullptr, nullptr, 0}, this);
  }

 private:
  Scratch memory_;
};

// Replaces the offsets in a column by codes; gives the different texts in the order of their codes.
nb::list encode_texts(nb::handle object, const Sizes& format, nb::handle column) {
  Text text = text_of(object, format);
  Tensor* out = vector_of(column, DType::int64);
  target_of(column);
  auto* values = reinterpret_cast<int64_t*>(out->data());
  auto table = std::make_unique<Table>(256);
  for (int64_t row = 0;;) {
    {
      LongWork work(out->size, {tensor_of(object), out});
      row = csv::encode(text, values, row, out->size, table.get());
    }
    if (row == out->size) break;
    auto larger = std::make_unique<Table>(table->slots * 4);
    csv::move_codes(*table, larger.get());
    table = std::move(larger);
  }
  nb::list texts;
  for (int64_t i = 0; i < table->count; ++i) {
    csv::Field field;
    csv::Wrong wrong;
    text.read_field(text.at(table->entries[i].offset), &field, &wrong);
    texts.append(content_of(text, field));
  }
  return texts;
}

}  // namespace

void init_csv(nb::module_& module) {
  module.def("csv_mark_count", csv::mark_count);
  module.def("csv_record", read_record);
  module.def("csv_line", read_line);
  module.def("csv_marks", mark_blocks);
  module.def("csv_columns", parse_columns);
  module.def("csv_codes", encode_texts);
}

}  // namespace tessella
