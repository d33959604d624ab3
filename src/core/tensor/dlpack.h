// DLPack's binary interface, version 1, and tensors through it. The structures have the fields of
// the standard in its order, under our names.
#pragma once

#include <stdint.h>

#include "tensor.h"

namespace tessella::dlpack {

constexpr int32_t CPU = 1;  // a kind of device
constexpr uint64_t READ_ONLY = 1, IS_COPIED = 2;

struct Place {
  int32_t type, id;
};

struct ElementType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Array {
  void* data;
  Place device;
  int32_t ndim;
  ElementType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; nullptr: row-major
  uint64_t byte_offset;
};

// Before version 1.0: nothing says that memory may not be written.
struct Managed {
  Array array;
  void* owner;
  void (*deleter)(Managed* self);
};

struct Version {
  uint32_t major, minor;
};

struct VersionedManaged {
  Version version;
  void* owner;
  void (*deleter)(VersionedManaged* self);
  uint64_t flags;
  Array array;
};

static_assert(sizeof(Array) == 48 && sizeof(Managed) == 64 && sizeof(VersionedManaged) == 80);

// A capsule over x's memory, which lives until the consumer is done with it. The flags say that the
// memory may not be written, and that it was copied; without a version there is no place for them.
PyObject* to_capsule(Tensor* x, bool is_versioned, bool is_copied);

// A tensor over the memory that a capsule describes, or a copy where it may be one; the capsule is
// then used. If it throws, the capsule is as it was.
Tensor* from_capsule(PyObject* capsule, bool may_copy);

}  // namespace tessella::dlpack
