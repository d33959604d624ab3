// Every message that the core can raise, in one place.
#include "error.h"

#include <stdio.h>

#include <cmath>

#include "memory/account.h"

namespace tessella {

namespace {

[[noreturn]] void fail(Code code, std::string what, std::string hint) {
  throw Error{code, std::move(what), std::move(hint)};
}

std::string number(int64_t value) { return std::to_string(value); }

}  // namespace

std::string to_text(Shape shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + number(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string to_text_bytes(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (std::abs(value) >= 1024 && unit < 6) value /= 1024, ++unit;
  char text[32];
  snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

void fail_graph_used(const std::string& name, const std::string& line) {
  std::string where = line.empty() ? "" : ", called at " + line + ",";
  fail(Code::illegal_state,
       "the graph was freed by an earlier backward: " + name + where +
           " no longer has what it saved",
       "give the earlier call retain_graph=True, or compute the result again");
}

void fail_too_many_results(int64_t count) {
  fail(Code::invalid_argument, number(count) + " results of one call have gradients",
       "at most 254 can; give them in fewer tensors, as ts.stack makes of them");
}

void fail_place_outside() {
  fail(Code::index_out_of_bounds, "a place is outside of its plane",
       "give places that a pool gave for planes of this size");
}

void fail_capture(const char* what, const char* cure) {
  fail(Code::capture, std::string(what) + " cannot be part of a compiled function",
       cure ? cure : "do it outside of the function, and pass or return tensors");
}

void fail_gradient_of_itself() {
  fail(Code::invalid_argument, "a tensor cannot be its own gradient", "give a copy: x.clone()");
}

void fail_gradient(Shape shape, const char* dtype, Shape target, const char* target_dtype) {
  bool is_shape = to_text(shape) != to_text(target);
  fail(is_shape ? Code::shape : Code::dtype_mismatch,
       std::string("a gradient of ") + dtype + " " + to_text(shape) + " for a tensor of " +
           target_dtype + " " + to_text(target),
       "a gradient has the shape and the dtype of its tensor");
}

void fail_axis_out_of_range(int64_t axis, int ndim) {
  std::string axes = ndim == 1 ? "1 axis" : number(ndim) + " axes";
  std::string range = ndim == 0 ? "a 0-d tensor has no axis to name; leave the axis out, or reshape"
                                : "axes run from " + number(-ndim) + " to " + number(ndim - 1);
  fail(Code::index_out_of_bounds,
       "axis " + number(axis) + " is out of range for a tensor of " + axes, range);
}

void fail_axis_repeated(int64_t axis) {
  fail(Code::invalid_argument, "repeated axis " + number(axis), "name each axis once");
}

void fail_axis_count(const char* what, int64_t got, int ndim) {
  fail(Code::shape,
       std::string(what) + " names " + number(got) + " axes, the tensor has " + number(ndim),
       "name every axis exactly once");
}

void fail_axis_not_one(int64_t axis, int64_t size) {
  fail(Code::shape,
       "axis " + number(axis) + " has size " + number(size) + " and cannot be squeezed",
       "only axes of size 1 can go; index or reduce the others");
}

void fail_too_many_axes(int64_t ndim) {
  fail(Code::shape, number(ndim) + " axes are too many", "a tensor has at most 64 axes");
}

void fail_size_overflow(Shape shape) {
  fail(Code::length_overflow, "shape " + to_text(shape) + " has more elements than can be counted",
       "a tensor has at most " + number(INT64_MAX / MOST_ITEM_BYTES) + " elements");
}

void fail_size_negative(Shape shape) {
  fail(Code::invalid_argument, "negative size in shape " + to_text(shape),
       "sizes are 0 or more (in reshape, one may be -1)");
}

void fail_reshape_size(Shape from, Shape to) {
  fail(Code::shape, "cannot reshape " + to_text(from) + " into " + to_text(to),
       "both must have the same number of elements");
}

void fail_reshape_unknown(Shape from, Shape to) {
  fail(Code::shape, "cannot infer -1 in reshape of " + to_text(from) + " into " + to_text(to),
       "at most one size is -1, and the other sizes must divide the number of elements");
}

void fail_view_needs_copy(Shape from, Shape to) {
  fail(Code::shape, "view of " + to_text(from) + " as " + to_text(to) + " would need a copy",
       "the strides do not allow it; use reshape, or contiguous() first");
}

void fail_bitcast(Shape shape, int64_t from_size, int64_t to_size, const char* why) {
  fail(Code::shape,
       "items of " + number(from_size) + " bytes in shape " + to_text(shape) +
           " cannot be seen as items of " + number(to_size) + ": " + why,
       "the last axis changes its size and must be contiguous; use contiguous() or reshape first");
}

void fail_bitcast_alignment(const char* dtype) {
  fail(Code::invalid_argument, std::string("the memory is not aligned for ") + dtype,
       "view a copy: x.clone()");
}

void fail_broadcast(Shape x, Shape y, int axis_from_end) {
  auto size = [&](Shape s) { return number(s[s.size() - static_cast<size_t>(axis_from_end)]); };
  fail(Code::broadcast,
       "shapes " + to_text(x) + " and " + to_text(y) + " do not broadcast: axis -" +
           number(axis_from_end) + " is " + size(x) + " and " + size(y),
       "sizes must be equal, or one of them 1; unsqueeze or reshape one operand");
}

void fail_broadcast_to(Shape from, Shape to, int axis_from_end) {
  std::string where = from.size() > to.size()
                          ? "the target has fewer axes"
                          : "axis -" + number(axis_from_end) + " is " +
                                number(from[from.size() - static_cast<size_t>(axis_from_end)]) +
                                " and cannot become " +
                                number(to[to.size() - static_cast<size_t>(axis_from_end)]);
  fail(Code::broadcast, "cannot broadcast " + to_text(from) + " to " + to_text(to) + ": " + where,
       "only axes of size 1 and missing leading axes can grow");
}

void fail_step_zero() {
  fail(Code::invalid_argument, "slice step is 0", "a step is a positive or negative integer");
}

void fail_limits(const Error& text, int64_t value) {
  Error error = text;
  for (std::string* part : {&error.what, &error.hint})
    for (size_t at; (at = part->find("{}")) != std::string::npos;)
      part->replace(at, 2, number(value));
  throw error;
}

void fail_index_out_of_bounds(int64_t index, int axis, int64_t size) {
  std::string range = size ? "valid indices run from " + number(-size) + " to " + number(size - 1)
                           : "the axis is empty: no index is valid";
  fail(Code::index_out_of_bounds,
       "index " + number(index) + " is out of bounds for axis " + number(axis) + " of size " +
           number(size),
       range);
}

// An element by its place: "target[1, 2]", or "target" of a tensor without axes.
static std::string element(const char* name, Shape place) {
  std::string at;
  for (size_t i = 0; i < place.size(); ++i) at += (i ? ", " : "") + number(place[i]);
  return name + (place.empty() ? "" : "[" + at + "]");
}

void fail_class(int64_t value, Shape place, int64_t classes, int64_t ignored) {
  std::string range = "classes run from 0 to " + number(classes - 1);
  fail(Code::index_out_of_bounds,
       element("target", place) + " is " + number(value) + ", of " + number(classes) + " classes",
       (classes ? range : "x has no classes") + "; " + number(ignored) + " is ignored");
}

void fail_table_row(int64_t value, Shape place, int64_t rows) {
  fail(Code::index_out_of_bounds,
       element("x", place) + " is " + number(value) + ", of " + number(rows) + " rows of weight",
       rows ? "rows run from 0 to " + number(rows - 1) : "weight has no rows");
}

void fail_window(int64_t window, int64_t step, int64_t size) {
  fail(Code::invalid_argument,
       "window of " + number(window) + " with step " + number(step) + " over an axis of size " +
           number(size),
       "0 <= window <= the axis's size, and the step is at least 1");
}

static std::string name_of(const Allocator& allocator) {
  return std::string(allocator.type) + " '" + allocator.name + "'";
}

// How many rows would have fitted, where that is fewer than were asked for.
static std::string fitting_rows(const MemoryEnds& ends, int64_t rows) {
  int64_t left = account.limit - account.total.live - account.reserved;
  if (rows < 2 || ends.bytes < rows || left < ends.bytes / rows || ends.bytes <= left) return "";
  return number(left / (ends.bytes / rows)) + " of its " + number(rows) + " rows fit; or ";
}

static std::string limit_text() {
  std::string text =
      "limit " + to_text_bytes(account.limit) + ", live " + to_text_bytes(account.total.live);
  if (account.reserved) text += ", reserved by allocators " + to_text_bytes(account.reserved);
  return text;
}

static std::string room_text(const Allocator& allocator) {
  Room room = allocator.room();
  return "has " + to_text_bytes(room.free) + " free of " + to_text_bytes(room.capacity) + ", " +
         to_text_bytes(room.largest) + " in one piece";
}

// From one that takes memory before it is asked for it.
[[noreturn]] static void fail_allocator(const MemoryEnds& ends, const std::string& what) {
  const Allocator& from = ends.allocator;
  std::string leave = "; or leave it: with memory.use(memory.heap)";
  if (ends.bytes > from.largest_block())
    fail(Code::out_of_memory,
         what + name_of(from) + " gives at most " + to_text_bytes(from.largest_block()) +
             " at a time",
         (from.takes_back ? "make it larger, or growable" : "make its blocks larger") + leave);
  if (from.grows())
    fail(Code::out_of_memory, what + name_of(from) + " cannot take more: " + limit_text(),
         "free tensors that are no longer needed, or let it take less at a time");
  fail(Code::out_of_memory, what + name_of(from) + " " + room_text(from),
       from.takes_back ? "reset() it, release_to() a mark, or make it growable"
                       : "free what is in it, or make it larger");
}

void fail_out_of_memory(const MemoryEnds& ends, const std::string& purpose, int64_t rows) {
  std::string what = "needs " + to_text_bytes(ends.bytes) + " for " + purpose + "; ";
  account.refused = {};
  if (ends.allocator.reserves) fail_allocator(ends, what);
  bool is_limited = ends.bytes > account.limit - account.total.live - account.reserved;
  if (!is_limited)
    fail(Code::out_of_memory, what + limit_text(), "the system has no more to give: others use it");
  account.refused = {ends.bytes, rows};
  std::string fits = fitting_rows(ends, rows);
  fail(Code::out_of_memory, what + limit_text(),
       fits + "free tensors that are no longer needed" +
           (fits.empty() ? ", or work in smaller pieces" : ""));
}

void fail_use_after_free(const std::string& what, const Allocator& allocator) {
  fail(Code::use_after_free,
       "the memory of " + what + " is gone: " + name_of(allocator) +
           " was reset, or released to an earlier mark",
       "carry it out before: x.clone() outside the arena's scope, or x.to(memory.heap)");
}

void fail_pinned(const Allocator& allocator, const std::string& who) {
  fail(Code::illegal_state, "memory of " + name_of(allocator) + " is in use by " + who,
       "let go of it first: delete the array or memoryview, or wait for the operation");
}

void fail_in_making(const Allocator& allocator) {
  fail(Code::illegal_state,
       "memory of " + name_of(allocator) + " is in use by an operation that is making a tensor",
       "a finalizer runs in the middle of it: reset and convert outside of __del__ and callbacks");
}

void fail_mark(const Allocator& allocator) {
  fail(Code::precondition_failed,
       "the mark is not one of " + name_of(allocator) + ", or what was before it is released",
       "take a new one with mark()");
}

void fail_full(int64_t capacity, int64_t needed) {
  fail(Code::capacity_overflow,
       "room for " + number(needed) + " items is needed, and there is room for " +
           number(capacity) + " and no growth",
       "make it with growth=True or a larger capacity, or pop items first");
}

void fail_cannot_grow(const MemoryEnds& ends, const std::string& purpose) {
  const Allocator& from = ends.allocator;
  std::string most = ends.bytes > from.largest_block()
                         ? "gives at most " + to_text_bytes(from.largest_block()) + " at a time"
                         : room_text(from);
  fail(Code::capacity_overflow,
       name_of(from) + " cannot grow: it " + most + ", and a " + purpose + " needs " +
           to_text_bytes(ends.bytes),
       "go on in another allocator: a.copy(allocator=memory.heap)");
}

void fail_growth_pinned(const std::string& who) {
  fail(Code::illegal_state, "its memory would move, and is in use by " + who,
       "let go of it first (delete the array or memoryview), or reserve(n) before sharing");
}

void fail_array_filled() {
  fail(Code::illegal_state, "another thread is adding items to it",
       "wait until that is done: one thread at a time adds, moves or takes out items");
}

void fail_not_tensor(const char* type_name) {
  fail(Code::argument, std::string("expected a Tensor, got ") + type_name,
       "make one with ts.tensor(...)");
}

void fail_tensor_arguments(int64_t count) {
  fail(Code::argument, "Tensor() takes one tensor, got " + number(count) + " arguments",
       "ts.empty(2, 3) makes one of a shape, ts.tensor([2, 3]) one of values");
}

void fail_complex_value(const char* what) {
  fail(Code::argument, std::string(what) + " of a complex number",
       "use complex(x), abs(x), x.real or x.imag");
}

void fail_operands() {
  fail(Code::invalid_argument, "the operands have other shapes, strides or dtypes than they tell",
       "a subclass of Tensor that overrides shape, ndim, strides or dtype must tell the true ones");
}

void fail_not_one_element(const char* what, Shape shape) {
  fail(Code::invalid_argument,
       std::string(what) + ": a tensor of shape " + to_text(shape) + " is not one number",
       "exactly one element is needed; index it, reduce it (any, all, sum), or use tolist()");
}

void fail_not_index(const char* dtype, Shape shape) {
  fail(Code::argument,
       std::string("a tensor of ") + dtype + " and shape " + to_text(shape) +
           " cannot be used as an integer",
       "only 0-d integer tensors can; use int(x), or x.item()");
}

void fail_virtual_value(const char* what) {
  fail(Code::illegal_state, std::string(what) + ": a virtual tensor has no values",
       "it has a shape and a dtype only; compute with a real tensor to read values");
}

void fail_length_of_scalar() {
  fail(Code::argument, "len() of a 0-d tensor", "it has no axis; x.size is 1");
}

void fail_not_matrix(int ndim) {
  fail(Code::shape, "x.T is for matrices; this tensor has " + number(ndim) + " axes",
       "use x.mT to transpose the last two axes, or permute");
}

void fail_no_last_axes(int ndim) {
  fail(Code::shape, "x.mT exchanges the last two axes; this tensor has " + number(ndim),
       "x.unsqueeze(0) makes a row of a vector, x.unsqueeze(1) a column");
}

void fail_item_arguments(int64_t count) {
  fail(Code::argument, "item() takes at most one index, got " + number(count),
       "item(flat), or x[i, j] for an index in several axes");
}

void fail_item_index(const char* type_name) {
  fail(Code::argument, std::string("item() takes an integer, got ") + type_name,
       "the flat row-major index of one element");
}

void fail_flat_index(int64_t index, int64_t size) {
  fail(Code::index_out_of_bounds,
       "flat index " + number(index) + " is out of bounds for " + number(size) + " elements",
       "flat indices run from -size to size - 1");
}

void fail_user_dtype(const char* dtype, const char* what) {
  std::string start = *what ? std::string(what) + ": " : "";
  fail(Code::dtype_mismatch, start + "not defined for " + dtype + ", a user dtype",
       "its items can be moved, indexed and compared with ==; x.view(ts.uint8) sees their bytes");
}

void fail_export_user_dtype(const char* dtype) {
  fail(Code::exchange, std::string(dtype) + " is a user dtype, which others do not know",
       "x.view(ts.uint8) shares its bytes, which NumPy's view reads as fields");
}

void fail_export_dtype(const char* dtype) {
  fail(Code::exchange, std::string(dtype) + " has no format in the buffer protocol",
       "x.view(ts.uint16) shares its bits, x.astype(ts.float32) converts it");
}

void fail_export_virtual() {
  fail(Code::exchange, "a virtual tensor has no memory to share",
       "it has a shape and a dtype only; compute with a real tensor");
}

void fail_export_gradients() {
  fail(Code::exchange, "x requires gradients, which nobody would record outside",
       "share x.detach()");
}

void fail_export_readonly() {
  fail(Code::exchange, "x is read-only, or its elements share memory, and would be writable",
       "share x.clone(), or ask for read-only memory (DLPack from version 1.0 has it)");
}

void fail_export_backwards() {
  fail(Code::exchange, "x has negative strides, on which some consumers of DLPack end the process",
       "share x.contiguous(); NumPy takes x as it is: np.asarray(x)");
}

void fail_export_gaps(const char* order) {
  fail(Code::exchange, std::string("x is not ") + order, "share x.contiguous()");
}

void fail_import(const std::string& why) {
  fail(Code::exchange, "the exporter describes no array: " + why,
       "this is an error of the library that it comes from");
}

void fail_import_format(const char* format, int64_t itemsize) {
  fail(Code::exchange,
       std::string("items of format '") + format + "' and " + number(itemsize) +
           " bytes are of no dtype",
       "bool, integers, floats and complex numbers of the machine's usual sizes are");
}

void fail_import_dtype(int code, int bits, int lanes) {
  fail(Code::exchange,
       "items of DLPack's kind " + number(code) + " with " + number(bits) + " bits in " +
           number(lanes) + " lanes are of no dtype",
       "one lane, and the kinds, widths and codes of Tessella's dtypes; convert it first");
}

void fail_import_device(int type, int id) {
  fail(Code::exchange,
       "the memory is on device (" + number(type) + ", " + number(id) + "), not on the CPU (1, 0)",
       "move it to the CPU first, or pass device=\"cpu\"");
}

void fail_import_axes(int64_t ndim) {
  fail_import("it has " + number(ndim) + " axes; 0 to 64 are possible");
}

void fail_import_reach(Shape shape) {
  fail_import("shape " + to_text(shape) + " with its strides reaches beyond memory");
}

void fail_import_no_memory(Shape shape) {
  fail_import("shape " + to_text(shape) + " has elements, and their address is null");
}

void fail_import_version(int64_t major, int64_t minor) {
  fail(Code::exchange, "DLPack " + number(major) + "." + number(minor) + " is not understood",
       "the exporter must give version 1 or an older one");
}

void fail_import_capsule(const char* name, bool is_used) {
  fail(Code::exchange, std::string("a capsule of ") + name + " holds no array to take",
       is_used ? "it was used before; ask x.__dlpack__() for a new one"
               : "x.__dlpack__() gives one of dltensor or dltensor_versioned");
}

void fail_not_capsule(const char* type_name) {
  fail(Code::argument, std::string("__dlpack__ must give a capsule, got ") + type_name,
       "this is an error of the library that x comes from");
}

void fail_cannot_share(const char* why) {
  fail(Code::exchange, std::string("a copy is needed: ") + why,
       "let it be copied: ts.asarray(x), without copy=False");
}

void fail_isa(const char* wanted) {
  fail(Code::invalid_argument, std::string("TESSELLA_ISA=") + wanted + " cannot run here",
       "one of baseline, avx2, avx512 that this build and this processor have; or leave it unset");
}

void fail_vnni(const char* wanted) {
  fail(Code::invalid_argument, std::string("TESSELLA_VNNI=") + wanted + " cannot run here",
       "0, or 1 where the processor has VNNI for the instruction set in use; or leave it unset");
}

void fail_layout_outside(int64_t first, int64_t last, int64_t elements) {
  fail(Code::invalid_argument,
       "layout reaches elements " + number(first) + " to " + number(last) + " of a buffer of " +
           number(elements),
       "offset and strides must stay inside the buffer");
}

}  // namespace tessella
