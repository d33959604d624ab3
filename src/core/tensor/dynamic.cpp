// The memory of dynamic arrays: making it, growing it, moving items in it.
#include "dynamic.h"

#include <string.h>

#include <algorithm>

#include "../launch/copy.h"
#include "guard.h"
#include "lines.h"
#include "pins.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

// The shape of so many items.
struct Sizes {
  int count;
  int64_t values[MAX_NDIM];

  Sizes(int64_t items, Shape item_shape) : count(static_cast<int>(item_shape.size()) + 1) {
    values[0] = items;
    std::copy(item_shape.begin(), item_shape.end(), values + 1);
  }
  Shape span() const { return {values, static_cast<size_t>(count)}; }
};

// "DynamicArray of float32 (1024, 3)".
std::string describe(DType dtype, Shape item_shape, int64_t items) {
  return std::string("DynamicArray of ") + info(dtype).name + " " +
         to_text(Sizes(items, item_shape).span());
}
std::string describe(const Array* a, int64_t items) {
  return describe(a->dtype, a->item_sizes(), items);
}

// So many items, which a tensor can show: their elements and bytes can be counted.
void check_countable(int64_t items, Shape item_shape, DType dtype) {
  Sizes sizes(items, item_shape);
  int64_t bytes;
  if (__builtin_mul_overflow(size_of(sizes.span()), itemsize(dtype), &bytes))
    fail_size_overflow(sizes.span());
}

size_t bytes_of(const Array* a, int64_t items) {
  return static_cast<size_t>(items * a->item_bytes);
}

// Amortised O(1) for each append: a constant part more at every size.
int64_t next_capacity(int64_t capacity) {
  if (capacity < 1024) return capacity * 2;
  int64_t more = capacity < 8192 ? capacity / 2 : capacity / 4;
  return capacity + std::min(more, INT64_MAX - capacity);
}

// What to grow to: the next tier, less where that cannot be counted or the allocator has no block
// of that size.
int64_t wanted_capacity(const Array* a, int64_t needed) {
  int64_t wanted = std::max(needed, next_capacity(a->capacity));
  if (!a->item_bytes) return wanted;
  int64_t most = a->allocator->largest_block() / a->item_bytes;
  return most < wanted ? std::max(needed, most) : wanted;
}

void replace_buffer(Array* a, Buffer* buffer, int64_t capacity) {
  Buffer* old = a->buffer;
  move_bytes(buffer->host_ptr(), old->host_ptr(), a->length * a->item_bytes);
  a->buffer = buffer;
  a->capacity = capacity;
  release(old);
}

// Where it lies, or moved without anybody who would notice.
bool resize_in_place(Array* a, int64_t capacity) {
  Buffer* resized = resize_buffer(a->buffer, bytes_of(a, capacity));
  if (!resized) return false;
  a->buffer = resized;
  a->capacity = capacity;
  return true;
}

Buffer* make_items(const Array* a, int64_t capacity) {
  return make_buffer_in(*a->allocator, bytes_of(a, capacity), Kind::arrays);
}

Buffer* make_first(DType dtype, int64_t capacity, Shape item_shape, int64_t item_bytes,
                   Allocator& allocator) {
  try {
    return make_buffer_in(allocator, static_cast<size_t>(capacity * item_bytes), Kind::arrays);
  } catch (const MemoryEnds& ends) {
    fail_out_of_memory(ends, describe(dtype, item_shape, capacity));
  }
}

// An allocator of a fixed size may have room for what is needed where it has none for the tier.
void grow(Array* a, int64_t wanted, int64_t needed) {
  bool is_fixed = a->allocator->largest_block() != INT64_MAX;
  if (resize_in_place(a, wanted) || (is_fixed && resize_in_place(a, needed))) return;
  if (a->buffer->pins) fail_growth_pinned(who_pins(a->buffer));
  for (int64_t capacity : {wanted, needed}) {
    try {
      return replace_buffer(a, make_items(a, capacity), capacity);
    } catch (const MemoryEnds& ends) {
      bool may_take_more = a->allocator->grows() && ends.bytes <= a->allocator->largest_block();
      if (!is_fixed || may_take_more) fail_out_of_memory(ends, describe(a, capacity));
      if (capacity == needed) fail_cannot_grow(ends, describe(a, capacity));
    }
  }
}

// Items (count, *item_shape) of any strides, to where nothing of them lies.
void copy_items(char* to, const Array* a, const Tensor* items) {
  int64_t bytes = items->size * itemsize(a->dtype);
  if (items->is_contiguous) {
    move_bytes(to, items->data(), bytes);
    return;
  }
  Layout out = Layout::contiguous(items->sizes());
  launch::copy(items->ndim, items->shape(), {to, a->dtype, out.strides},
               {items->data(), items->dtype, items->strides()}, false);
}

// Behind the last item, where nobody looks: copied without the interpreter's lock if there are
// many. Allocates nothing, as the array may have grown already.
class Filling {
 public:
  Filling(Array* a, const Tensor* items) : a_(a), buffers_{a->buffer, items->buffer} {
    if (items->size <= SHORT_WORK) return;
    for (Buffer* each : buffers_) ++retain(each)->pins;
    a->is_filled = true;
    state_ = PyEval_SaveThread();
  }
  ~Filling() {
    if (!state_) return;
    take_interpreter([this] { PyEval_RestoreThread(state_); });
    a_->is_filled = false;
    for (Buffer* each : buffers_) {
      --each->pins;
      release(each);
    }
  }
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;

 private:
  Array* a_;
  Buffer* buffers_[2];
  PyThreadState* state_ = nullptr;
};

// `copied`: the items, if they could not be read from where they lie.
void write_items(char* to, const Array* a, const Tensor* items, const void* copied) {
  if (copied)
    move_bytes(to, copied, items->size * itemsize(a->dtype));
  else
    copy_items(to, a, items);
}

template <class T>
void reverse_as(char* data, int64_t length) {
  T* items = reinterpret_cast<T*>(data);
  std::reverse(items, items + length);
}

struct Wide {
  int64_t parts[2];
};

}  // namespace

Array* make_array(PyTypeObject* type, DType dtype, int64_t capacity, bool growth, Shape item_shape,
                  Allocator& allocator) {
  check_countable(capacity, item_shape, dtype);
  int64_t item_bytes = size_of(item_shape) * itemsize(dtype);
  // Before the object, of which a subclass may see each that there is.
  Buffer* buffer = make_first(dtype, capacity, item_shape, item_bytes, allocator);
  Sides sides{};
  bool is_shaped = sides.set(item_shape.data(), static_cast<int>(item_shape.size()), nullptr, 0);
  allocator.retain_handle();  // making the object may run any code
  Array* a = is_shaped ? as_array(type->tp_alloc(type, 0)) : nullptr;
  if (!a) {
    if (!is_shaped) PyErr_NoMemory();
    sides.release();
    release(buffer);
    allocator.release_handle();
    throw PythonError{};
  }
  a->buffer = buffer;
  a->capacity = capacity;
  a->item_size = size_of(item_shape);
  a->item_bytes = item_bytes;
  a->item_shape = sides;
  a->item_ndim = static_cast<uint8_t>(item_shape.size());
  a->dtype = dtype;
  a->growth = growth;
  a->allocator = &allocator;
  return a;
}

void check_alive(const Array* a) {
  if (a->buffer->has_memory()) return;
  std::string line = line_of(a->buffer);
  std::string text = describe(a, a->length);
  fail_use_after_free(line.empty() ? text : text + ", made at " + line, *a->allocator);
}

void refuse_recording() {
  refuse_capture("a DynamicArray, whose length is read in Python",
                 "pass a.as_tensor(), or what is read of it, as an argument, and change it after "
                 "the call");
}

void check_free(const Array* a) {
  check_alive(a);
  if (a->is_filled) fail_array_filled();
  refuse_recording();
}

Tensor* view_items(const Array* a, int64_t start, int64_t count) {
  check_alive(a);
  refuse_recording();
  Layout layout = Layout::contiguous(Sizes(count, a->item_sizes()).span());
  layout.offset = start * a->item_size;
  return make_over(retain(a->buffer), a->dtype, layout);
}

Tensor* view_item(const Array* a, int64_t index) {
  check_alive(a);
  Layout layout = Layout::contiguous(a->item_sizes());
  layout.offset = index * a->item_size;
  return make_over(retain(a->buffer), a->dtype, layout);
}

void make_room(Array* a, int64_t more) {
  check_free(a);
  int64_t needed = a->length + more;  // of two that a tensor can have
  if (needed <= a->capacity) return;
  check_countable(needed, a->item_sizes(), a->dtype);
  if (!a->growth) fail_full(a->capacity, needed);
  grow(a, wanted_capacity(a, needed), needed);
}

void set_capacity(Array* a, int64_t capacity) {
  check_free(a);
  capacity = std::max(capacity, a->length);
  if (capacity > a->capacity) {
    check_countable(capacity, a->item_sizes(), a->dtype);
    if (!a->growth) fail_full(a->capacity, capacity);
    return grow(a, capacity, capacity);
  }
  if (capacity == a->capacity) return;
  // Tensors may see items that were popped: memory that they share does not shrink.
  if (a->buffer->refs == 1 && !a->buffer->pins && resize_in_place(a, capacity)) return;
  if (a->buffer->pins) fail_growth_pinned(who_pins(a->buffer));
  try {
    replace_buffer(a, make_items(a, capacity), capacity);
  } catch (const MemoryEnds& ends) {
    fail_out_of_memory(ends, describe(a, capacity));
  }
}

void insert_items(Array* a, int64_t index, const Tensor* items) {
  if (!items->has_memory()) fail_no_values(items, "insert");
  check_free(a);
  if (index < 0 || index > a->length) fail_index_out_of_bounds(index, 0, a->length + 1);
  int64_t count = items->shape()[0], bytes = count * a->item_bytes;
  bool is_behind = index == a->length && items->is_contiguous;
  bool is_shared = may_overlap(items->buffer, a->buffer) && !is_behind;
  Scratch copied(is_shared ? static_cast<size_t>(bytes) : 0);
  if (is_shared) copy_items(static_cast<char*>(copied.data()), a, items);
  make_room(a, count);
  char* to = a->at(index);
  const void* from = is_shared ? copied.data() : nullptr;
  if (index == a->length) {
    Filling filling(a, items);
    write_items(to, a, items, from);
  } else {
    move_bytes(to + bytes, to, (a->length - index) * a->item_bytes);
    write_items(to, a, items, from);
  }
  a->length += count;
  ++a->buffer->version;
}

void remove_items(Array* a, int64_t index, int64_t count) {
  check_free(a);
  if (index < 0 || index > a->length) fail_index_out_of_bounds(index, 0, a->length);
  if (count < 0 || count > a->length - index) fail_index_out_of_bounds(a->length, 0, a->length);
  char* to = a->at(index);
  int64_t behind = a->length - index - count;
  move_bytes(to, to + count * a->item_bytes, behind * a->item_bytes);
  a->length -= count;
  ++a->buffer->version;
}

void reverse_items(Array* a) {
  check_free(a);
  ++a->buffer->version;
  char* data = a->at(0);
  switch (a->item_bytes) {
    case 0:  // of such items there can be more than can be walked over
      return;
    case 1:
      return reverse_as<uint8_t>(data, a->length);
    case 2:
      return reverse_as<uint16_t>(data, a->length);
    case 4:
      return reverse_as<uint32_t>(data, a->length);
    case 8:
      return reverse_as<uint64_t>(data, a->length);
    case 16:
      return reverse_as<Wide>(data, a->length);
    default:
      for (int64_t i = 0, j = a->length - 1; i < j; ++i, --j)
        std::swap_ranges(a->at(i), a->at(i) + a->item_bytes, a->at(j));
  }
}

void clear_items(Array* a) {
  check_free(a);
  if (a->buffer->bytes) memset(a->at(0), 0, a->buffer->bytes);
  a->length = 0;
  ++a->buffer->version;
}

}  // namespace tessella
