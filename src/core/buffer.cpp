// Making and freeing buffers.
#include "buffer.h"

#include <new>

namespace tessella {

namespace {

constexpr size_t HEADER = (sizeof(Buffer) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

Buffer* make_header(size_t bytes, size_t inline_bytes) {
  void* block = allocate_within_limit(heap(), HEADER + inline_bytes);
  return new (block) Buffer{.refs = 1,
                            .version = 0,
                            .device = Device::cpu,
                            .is_readonly = false,
                            .bytes = bytes,
                            .data = static_cast<char*>(block) + HEADER,
                            .allocator = &heap(),
                            .release = nullptr,
                            .owner = nullptr};
}

}  // namespace

Buffer* make_buffer(size_t bytes) { return make_header(bytes, bytes); }

Buffer* make_virtual_buffer(size_t bytes) {
  Buffer* buffer = make_header(bytes, 0);
  buffer->device = Device::none;
  buffer->data = nullptr;
  return buffer;
}

Buffer* wrap_foreign(void* data, size_t bytes, bool is_readonly) {
  Buffer* buffer = make_header(bytes, 0);
  buffer->data = static_cast<char*>(data);
  buffer->is_readonly = is_readonly;
  buffer->allocator = nullptr;
  return buffer;
}

void destroy_buffer(Buffer* buffer) {
  if (buffer->release) buffer->release(buffer->owner);
  bool owns_data = buffer->allocator && buffer->device == Device::cpu;
  free_counted(heap(), buffer, HEADER + (owns_data ? buffer->bytes : 0));
}

}  // namespace tessella
