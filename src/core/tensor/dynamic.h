// The type DynamicArray: items of one dtype and one shape behind each other in one buffer, which is
// replaced by a larger one when it is full. Tensors may share the buffer; one that did when the
// array moved keeps the old memory. What Python offers beyond the everyday is in dynamic.py.
#pragma once

#include <string.h>

#include "dims.h"
#include "tensor.h"

namespace tessella {

struct Array {
  PyObject_HEAD Buffer* buffer;
  int64_t length;      // items
  int64_t capacity;    // items
  int64_t item_size;   // elements of one item
  int64_t item_bytes;  // of one item
  Sides item_shape;
  uint8_t item_ndim;
  DType dtype;
  bool growth;
  bool is_filled;        // items are being added without the interpreter's lock: it stays as it is
  Allocator* allocator;  // where it grows
  PyObject* weakrefs;

  char* at(int64_t index) const { return buffer->host_ptr() + index * item_bytes; }
  Shape item_sizes() const { return {item_shape.data(), item_ndim}; }
};

extern PyTypeObject* array_type;

// Of nothing there need not be an address, which memmove asks for.
inline void move_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) memmove(to, from, static_cast<size_t>(bytes));
}

inline bool is_array(PyObject* object) { return PyObject_TypeCheck(object, array_type); }
inline Array* as_array(PyObject* object) { return reinterpret_cast<Array*>(object); }

// All of these throw Error, and the array is as it was then.

Array* make_array(PyTypeObject* type, DType dtype, int64_t capacity, bool growth, Shape item_shape,
                  Allocator& allocator);
// Throws if an arena took the memory back.
void check_alive(const Array* a);
// Throws also while another thread adds items.
void check_free(const Array* a);
// A recorded function would keep what it reads of an array, and repeat no change to it.
void refuse_recording();
// A tensor (count, *item_shape) over items from `start` on, or one (*item_shape) over one item.
Tensor* view_items(const Array* a, int64_t start, int64_t count);
Tensor* view_item(const Array* a, int64_t index);

// Room for so many more items, by the tiers of growth.
void make_room(Array* a, int64_t more);
// Room for exactly so many items, or as many as there are.
void set_capacity(Array* a, int64_t capacity);

// Items (count, *item_shape) of its dtype, of which it may share the memory, before an index.
void insert_items(Array* a, int64_t index, const Tensor* items);
void remove_items(Array* a, int64_t index, int64_t count);
void reverse_items(Array* a);
void clear_items(Array* a);  // with bytes of 0 wherever there was anything

// The allocator behind a Python object, or nullptr: bind/ knows its type.
extern Allocator* (*allocator_from)(PyObject* handle);

bool init_array_type(PyObject* module);

}  // namespace tessella
