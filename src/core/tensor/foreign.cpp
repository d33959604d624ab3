// Checks what an exporter says, then shares its memory or copies its elements.
#include "foreign.h"

#include <string.h>

#include <algorithm>

#include "../threads.h"
#include "result.h"
#include "run.h"

namespace tessella {

namespace {

// Arrays over tensors over arrays … are freed on a list once they nest this deep: the stack is
// finite.
constexpr int DEEPEST = 32;
thread_local int depth;
thread_local Keeper* waiting;

void let_go_now(Keeper* keeper) {
  ++depth;
  keeper->let_go(keeper);
  --depth;
}

void let_go(void* owner) {
  auto* keeper = static_cast<Keeper*>(owner);
  if (depth >= DEEPEST) {
    keeper->next = waiting;
    waiting = keeper;
    return;
  }
  let_go_now(keeper);
  while (depth == 0 && waiting) {
    Keeper* next = waiting;
    waiting = next->next;
    let_go_now(next);
  }
}

// The bytes that the elements reach, from the first element: [low, high).
struct Extent {
  int64_t low, high;
};

Extent extent_of(const Foreign& array) {
  Extent extent{0, itemsize(array.dtype)};
  bool overflows = false;
  for (size_t i = 0; i < array.shape.size(); ++i) {
    int64_t reach, *end = array.byte_strides[i] < 0 ? &extent.low : &extent.high;
    overflows |= __builtin_mul_overflow(array.shape[i] - 1, array.byte_strides[i], &reach);
    overflows |= __builtin_add_overflow(*end, reach, end);
  }
  int64_t ignored, address = static_cast<int64_t>(reinterpret_cast<intptr_t>(array.data));
  overflows |= __builtin_add_overflow(address, extent.high, &ignored);
  overflows |= extent.low < -address;
  if (overflows) fail_import_reach(array.shape);
  return extent;
}

// Why the elements cannot be used where they lie, or nullptr.
const char* obstacle(const Foreign& array) {
  if (array.is_swapped) return "its bytes are in the order of another kind of machine";
  int64_t size = itemsize(array.dtype);
  for (size_t i = 0; i < array.shape.size(); ++i)
    if (array.shape[i] > 1 && array.byte_strides[i] % size)
      return "its strides are not multiples of the item size";
  if (reinterpret_cast<uintptr_t>(array.data) % static_cast<size_t>(alignment(array.dtype)))
    return "its memory is not aligned for its items";
  return nullptr;
}

void copy_element(char* to, const char* from, DType dtype, bool is_swapped) {
  int64_t size = itemsize(dtype), part = is_swapped ? alignment(dtype) : size;
  for (int64_t start = 0; start < size; start += part)
    for (int64_t i = 0; i < part; ++i)
      to[start + i] = from[start + (is_swapped ? part - 1 - i : i)];
}

// Row-major and in the machine's order, whatever the strides and the alignment.
Tensor* copy_elements(const Foreign& array) {
  Result out(make_tensor(array.dtype, array.shape));
  LongWork work(out->size, {out.get()});
  int64_t index[MAX_NDIM] = {};
  const char* from = array.data;
  char* to = out->data();
  auto copy_next = [&] {
    copy_element(to, from, array.dtype, array.is_swapped);
    to += itemsize(array.dtype);
    for (size_t axis = array.shape.size(); axis-- > 0;) {
      from += array.byte_strides[axis];
      if (++index[axis] < array.shape[axis]) break;
      from -= index[axis] * array.byte_strides[axis];
      index[axis] = 0;
    }
  };
  constexpr int64_t CHUNK = 1 << 16;  // elements between two looks for Ctrl-C
  int64_t size = out->size;
  auto copy_chunk = [&](int64_t chunk, int) {
    for (int64_t i = chunk * CHUNK; i < std::min(size, (chunk + 1) * CHUNK); ++i) copy_next();
  };
  parallel((size + CHUNK - 1) / CHUNK, 4 * CHUNK, true, copy_chunk, 1);
  return as_tensor(out.give());
}

Tensor* share_elements(const Foreign& array, const Extent& extent, Keeper* keeper) {
  int64_t strides[MAX_NDIM], size = itemsize(array.dtype);
  size_t ndim = array.shape.size();
  // The stride of an axis of size 1 is never used, and may be anything.
  for (size_t i = 0; i < ndim; ++i) {
    bool is_sane = array.byte_strides[i] % size == 0 && array.byte_strides[i] > INT64_MIN / 2 &&
                   array.byte_strides[i] < INT64_MAX / 2;
    strides[i] = is_sane ? array.byte_strides[i] / size : 0;
  }
  Layout layout = Layout::of(array.shape, {strides, ndim}, -extent.low / size);
  Buffer* buffer = wrap_foreign(array.data + extent.low,
                                static_cast<size_t>(extent.high - extent.low), array.is_readonly);
  Tensor* out = make_over(buffer, array.dtype, layout);
  // From here on nothing fails: the buffer may own the keeper.
  buffer->release = let_go;
  buffer->owner = keeper;
  return out;
}

}  // namespace

void fill_byte_strides(Shape shape, DType dtype, int64_t* byte_strides) {
  Layout layout = Layout::contiguous(shape);
  for (int i = 0; i < layout.ndim; ++i) byte_strides[i] = layout.strides[i] * itemsize(dtype);
}

Tensor* adopt(const Foreign& array, Keeper* keeper, bool may_copy) {
  Tensor* out = nullptr;
  if (size_of(array.shape) == 0) {
    out = make_tensor(array.dtype, array.shape);  // no element, nothing to share
  } else {
    if (!array.data) fail_import_no_memory(array.shape);
    Extent extent = extent_of(array);
    const char* why = obstacle(array);
    if (!why) return share_elements(array, extent, keeper);
    if (!may_copy) fail_cannot_share(why);
    out = copy_elements(array);
  }
  let_go(keeper);
  return out;
}

}  // namespace tessella
