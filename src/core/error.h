// Errors of the core: a code, what is wrong, and the cure. Thrown here, turned into the Python
// exception of the same code by the guard in bind/. The Python twin is errors.py, which adds the
// operation, its operands and the user's line. Messages are built in error.cpp and nowhere else.
#pragma once

#include <stdint.h>

#include <span>
#include <string>

#include "dtype.h"

namespace tessella {

enum class Code : uint8_t {
  shape,
  broadcast,
  invalid_argument,
  index_out_of_bounds,
  dtype_mismatch,
  out_of_memory,
  length_overflow,
  illegal_state,
  precondition_failed,
  use_after_free,
  argument,
  exchange,
  capacity_overflow,
  capture,
};

class Allocator;
struct MemoryEnds;

struct Error {
  Code code;
  std::string what;
  std::string hint;
};

using Shape = std::span<const int64_t>;

std::string to_text(Shape shape);          // "(2, 3)", "(4,)", "()"
std::string to_text_bytes(int64_t bytes);  // "96.0 MiB"

[[noreturn]] void fail_gradient_of_itself();
[[noreturn]] void fail_too_many_results(int64_t count);
[[noreturn]] void fail_graph_used(const std::string& name, const std::string& line);
[[noreturn]] void fail_gradient(Shape shape, const char* dtype, Shape target,
                                const char* target_dtype);
[[noreturn]] void fail_axis_out_of_range(int64_t axis, int ndim);
[[noreturn]] void fail_axis_repeated(int64_t axis);
[[noreturn]] void fail_axis_count(const char* what, int64_t got, int ndim);
[[noreturn]] void fail_axis_not_one(int64_t axis, int64_t size);
[[noreturn]] void fail_too_many_axes(int64_t ndim);
[[noreturn]] void fail_size_overflow(Shape shape);
[[noreturn]] void fail_size_negative(Shape shape);
[[noreturn]] void fail_reshape_size(Shape from, Shape to);
[[noreturn]] void fail_reshape_unknown(Shape from, Shape to);
[[noreturn]] void fail_view_needs_copy(Shape from, Shape to);
[[noreturn]] void fail_bitcast(Shape shape, int64_t from_size, int64_t to_size, const char* why);
[[noreturn]] void fail_bitcast_alignment(const char* dtype);
[[noreturn]] void fail_broadcast(Shape x, Shape y, int axis_from_end);
[[noreturn]] void fail_broadcast_to(Shape from, Shape to, int axis_from_end);
[[noreturn]] void fail_step_zero();
[[noreturn]] void fail_limits(const Error& text, int64_t value);  // which stands for {}
[[noreturn]] void fail_index_out_of_bounds(int64_t index, int axis, int64_t size);
[[noreturn]] void fail_class(int64_t value, Shape place, int64_t classes, int64_t ignored);
[[noreturn]] void fail_table_row(int64_t value, Shape place, int64_t rows);
[[noreturn]] void fail_window(int64_t window, int64_t step, int64_t size);
[[noreturn]] void fail_out_of_memory(const MemoryEnds& ends, const std::string& purpose,
                                     int64_t rows = 0);
[[noreturn]] void fail_use_after_free(const std::string& what, const Allocator& allocator);
[[noreturn]] void fail_pinned(const Allocator& allocator, const std::string& who);
[[noreturn]] void fail_in_making(const Allocator& allocator);
[[noreturn]] void fail_mark(const Allocator& allocator);
[[noreturn]] void fail_full(int64_t capacity, int64_t needed);
[[noreturn]] void fail_cannot_grow(const MemoryEnds& ends, const std::string& purpose);
[[noreturn]] void fail_growth_pinned(const std::string& who);
[[noreturn]] void fail_array_filled();
[[noreturn]] void fail_not_tensor(const char* type_name);
[[noreturn]] void fail_operands();
inline void require(bool fits) { fits ? void() : fail_operands(); }
[[noreturn]] void fail_tensor_arguments(int64_t count);
[[noreturn]] void fail_complex_value(const char* what);
[[noreturn]] void fail_not_one_element(const char* what, Shape shape);
[[noreturn]] void fail_not_index(const char* dtype, Shape shape);
[[noreturn]] void fail_virtual_value(const char* what);
[[noreturn]] void fail_length_of_scalar();
[[noreturn]] void fail_not_matrix(int ndim);
[[noreturn]] void fail_no_last_axes(int ndim);
[[noreturn]] void fail_item_arguments(int64_t count);
[[noreturn]] void fail_item_index(const char* type_name);
[[noreturn]] void fail_flat_index(int64_t index, int64_t size);
[[noreturn]] void fail_user_dtype(const char* dtype, const char* what = "");
[[noreturn]] void fail_export_user_dtype(const char* dtype);
[[noreturn]] void fail_export_dtype(const char* dtype);
[[noreturn]] void fail_export_virtual();
[[noreturn]] void fail_export_gradients();
[[noreturn]] void fail_export_readonly();
[[noreturn]] void fail_export_backwards();
[[noreturn]] void fail_export_gaps(const char* order);
[[noreturn]] void fail_import(const std::string& why);
[[noreturn]] void fail_import_format(const char* format, int64_t itemsize);
[[noreturn]] void fail_import_dtype(int code, int bits, int lanes);
[[noreturn]] void fail_import_device(int type, int id);
[[noreturn]] void fail_import_axes(int64_t ndim);
[[noreturn]] void fail_import_reach(Shape shape);
[[noreturn]] void fail_import_no_memory(Shape shape);
[[noreturn]] void fail_import_version(int64_t major, int64_t minor);
[[noreturn]] void fail_import_capsule(const char* name, bool is_used);
[[noreturn]] void fail_not_capsule(const char* type_name);
[[noreturn]] void fail_cannot_share(const char* why);
[[noreturn]] void fail_place_outside();
// `cure` is what to do instead; nullptr: do it outside of the function.
[[noreturn]] void fail_capture(const char* what, const char* cure);
[[noreturn]] void fail_isa(const char* wanted);
[[noreturn]] void fail_vnni(const char* wanted);
[[noreturn]] void fail_layout_outside(int64_t first, int64_t last, int64_t elements);

}  // namespace tessella
