// Strided runs in and out of contiguous tiles. Elements are moved as bytes of their size.
#include "tile.h"

namespace tessella::launch {

namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void copy_run(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T element;
    memcpy(&element, from + i * from_step * static_cast<int64_t>(sizeof(T)), sizeof(T));
    memcpy(to + i * to_step * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
  }
}

// Steps in elements.
void copy_steps(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t itemsize,
                int64_t count) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, static_cast<size_t>(count * itemsize));
    return;
  }
  switch (itemsize) {
    case 1:
      return copy_run<uint8_t>(to, to_step, from, from_step, count);
    case 2:
      return copy_run<uint16_t>(to, to_step, from, from_step, count);
    case 4:
      return copy_run<uint32_t>(to, to_step, from, from_step, count);
    case 8:
      return copy_run<uint64_t>(to, to_step, from, from_step, count);
    default:
      return copy_run<Bytes16>(to, to_step, from, from_step, count);
  }
}

// Calls body(offset of the run's first element, stride, tile position, length) for each run along
// the last axis.
template <class Body>
void for_runs(const Space& space, int operand, int64_t flat, int64_t count, Body body) {
  if (count == 0) return;
  if (space.ndim == 0) return body(0, 1, 0, count);
  Position at(space, flat);
  int last = space.ndim - 1;
  const int64_t* strides = space.strides[operand];
  int64_t offset = at.offset(space, operand), done = 0;
  while (true) {
    int64_t length = space.shape[last] - at.index[last];
    if (length > count - done) length = count - done;
    body(offset, strides[last], done, length);
    done += length;
    if (done == count) return;
    offset -= at.index[last] * strides[last];
    at.index[last] = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++at.index[axis] < space.shape[axis]) break;
      offset -= space.shape[axis] * strides[axis];
      at.index[axis] = 0;
    }
  }
}

}  // namespace

void gather_tile(const Space& space, int operand, const char* data, int64_t itemsize, int64_t flat,
                 int64_t count, char* tile) {
  for_runs(space, operand, flat, count,
           [&](int64_t offset, int64_t stride, int64_t done, int64_t length) {
             copy_steps(tile + done * itemsize, 1, data + offset * itemsize, stride, itemsize,
                        length);
           });
}

void scatter_tile(const Space& space, int operand, char* data, int64_t itemsize, int64_t flat,
                  int64_t count, const char* tile) {
  for_runs(space, operand, flat, count,
           [&](int64_t offset, int64_t stride, int64_t done, int64_t length) {
             copy_steps(data + offset * itemsize, stride, tile + done * itemsize, 1, itemsize,
                        length);
           });
}

void fill_tile(const char* element, int64_t itemsize, int64_t count, char* tile) {
  copy_steps(tile, 1, element, 0, itemsize, count);
}

}  // namespace tessella::launch
