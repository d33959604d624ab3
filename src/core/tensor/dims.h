// A short list of int64 that keeps its first few numbers inline: what describes a tensor of rank 4
// and less takes no allocation of its own.
#pragma once

#include <Python.h>
#include <stdint.h>
#include <string.h>

namespace tessella {

template <int INLINE>
class Numbers {
 public:
  // Objects that hold one come from Python's allocator and run no constructor: set() or clear()
  // first, release() last.
  void clear() { count_ = 0; }
  bool set(const int64_t* first, int first_count, const int64_t* second, int second_count) {
    count_ = first_count + second_count;
    if (count_ > INLINE) {
      heap_ = static_cast<int64_t*>(PyMem_Malloc(sizeof(int64_t) * static_cast<size_t>(count_)));
      if (!heap_) return count_ = 0, PyErr_NoMemory(), false;
    }
    copy(data(), first, first_count);
    copy(data() + first_count, second, second_count);
    return true;
  }
  // As set() from all numbers of another list, in few instructions if they lie inline.
  bool set(const Numbers& other) {
    if (other.count_ > INLINE) return set(other.heap_, other.count_, nullptr, 0);
    memcpy(this, &other, sizeof *this);
    return true;
  }
  void release() {
    if (count_ > INLINE) PyMem_Free(heap_);
    count_ = 0;
  }
  int64_t* data() { return count_ > INLINE ? heap_ : inline_; }
  const int64_t* data() const { return count_ > INLINE ? heap_ : inline_; }

 private:
  // A loop would be vectorised, and its set-up costs more than the few copies.
  static void copy(int64_t* to, const int64_t* from, int count) {
    switch (count) {
      default:
        memcpy(to, from, sizeof(int64_t) * static_cast<size_t>(count));
        break;
      case 4:
        to[3] = from[3];
        [[fallthrough]];
      case 3:
        to[2] = from[2];
        [[fallthrough]];
      case 2:
        to[1] = from[1];
        [[fallthrough]];
      case 1:
        to[0] = from[0];
        [[fallthrough]];
      case 0:
        break;
    }
  }

  int count_;
  union {
    int64_t inline_[INLINE];
    int64_t* heap_;
  };
};

using Dims = Numbers<8>;   // shape and strides
using Sides = Numbers<4>;  // a shape alone

}  // namespace tessella
