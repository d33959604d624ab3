// Making and freeing buffers.
#include "buffer.h"

#include <new>
#include <unordered_map>

namespace tessella {

namespace {

constexpr size_t HEADER = ALIGNMENT;
static_assert(sizeof(Buffer) <= HEADER);

const BufferWatch* watch;
const BufferWatch* last_watch;  // that of buffers which are still watched
const BufferWatch* recorder;

Buffer initial(size_t bytes, char* data, Allocator* allocator, Kind kind) {
  return {.refs = 1,
          .version = 0,
          .device = Device::cpu,
          .is_readonly = false,
          .kind = kind,
          .is_watched = false,
          .has_writes = false,
          .is_ghost = false,
          .is_numbered = false,
          .bytes = bytes,
          .data = data,
          .allocator = allocator,
          .release = nullptr,
          .owner = nullptr,
          .pins = 0,
          .saves = 0};
}

Buffer* watched(Buffer* buffer) {
  if (watch) {
    buffer->is_watched = true;
    watch->made(buffer);
  }
  if (recorder) recorder->made(buffer);
  return buffer;
}

// On a heap: header and data in one block.
Buffer* make_whole(Allocator& allocator, size_t bytes, Kind kind) {
  void* block = allocate_counted(allocator, bytes, kind, HEADER);
  char* data = static_cast<char*>(block) + HEADER;
  return watched(new (block) Buffer(initial(bytes, data, &allocator, kind)));
}

// Headers without data, which count for nothing. Some are kept, so that a small tensor in a pool or
// an arena costs no more than one on the heap.
struct FreeHeader {
  FreeHeader* next;
};
constexpr int MOST_FREE_HEADERS = 4096;
FreeHeader* free_headers;
int free_header_count;

void* take_header() {
  if (!free_headers) return heap().allocate(HEADER);
  FreeHeader* header = free_headers;
  free_headers = header->next;
  --free_header_count;
  return header;
}

Buffer* make_header(size_t bytes, char* data, Allocator* allocator, Kind kind) {
  void* block = take_header();
  if (!block) throw std::bad_alloc();
  return new (block) Buffer(initial(bytes, data, allocator, kind));
}

void free_header(Buffer* buffer) {
  if (free_header_count == MOST_FREE_HEADERS) return heap().free(buffer, HEADER);
  free_headers = new (buffer) FreeHeader{free_headers};
  ++free_header_count;
}

// In an allocator that reserves: the header is apart.
Buffer* make_placed(Allocator& allocator, size_t bytes, Kind kind) {
  Buffer* buffer = make_header(bytes, nullptr, &allocator, kind);
  try {
    buffer->data = static_cast<char*>(allocate_counted(allocator, bytes, kind));
  } catch (...) {
    free_header(buffer);
    throw;
  }
  allocator.retain();
  if (allocator.takes_back) allocator.adopt(buffer);
  return watched(buffer);
}

void destroy_ghost(Buffer* buffer) {
  make_virtual(buffer);
  free_header(buffer);
}

void destroy_foreign(Buffer* buffer) {
  if (buffer->has_memory()) account.foreign -= static_cast<int64_t>(buffer->bytes);
  if (buffer->release) buffer->release(buffer->owner);
  free_header(buffer);
}

void destroy_placed(Buffer* buffer) {
  Allocator& allocator = *buffer->allocator;
  if (buffer->has_memory()) {
    if (allocator.takes_back) allocator.disown(buffer);
    free_counted(allocator, buffer->data, buffer->bytes, buffer->kind);
  }
  free_header(buffer);
}

}  // namespace

Buffer* make_buffer_in(Allocator& allocator, size_t bytes, Kind kind) {
  if (is_rehearsing()) return watched(make_ghost_buffer(allocator, bytes));
  if (allocator.reserves) return make_placed(allocator, bytes, kind);
  Buffer* buffer = make_whole(allocator, bytes, kind);
  if (&allocator != &heap()) allocator.retain();
  return buffer;
}

Buffer* make_buffer(size_t bytes) {
  if (!current_allocator && !is_rehearsing()) return make_whole(heap(), bytes, Kind::tensors);
  return make_buffer_in(current_allocator ? *current_allocator : heap(), bytes, Kind::tensors);
}

Buffer* make_virtual_buffer(size_t bytes) {
  Buffer* buffer = make_header(bytes, nullptr, nullptr, Kind::tensors);
  buffer->device = Device::none;
  return buffer;
}

Buffer* make_ghost_buffer(Allocator& allocator, size_t bytes) {
  Buffer* buffer = make_header(bytes, nullptr, &allocator, Kind::tensors);
  buffer->data = static_cast<char*>(map_ghost(bytes));
  if (!buffer->data) {
    free_header(buffer);
    throw MemoryEnds{allocator, static_cast<int64_t>(bytes)};
  }
  buffer->is_ghost = true;
  buffer->others = ghosts;
  ghosts->insert(buffer);
  if (&allocator != &heap()) allocator.retain();
  return buffer;
}

void make_virtual(Buffer* ghost) {
  unmap_ghost(ghost->data, ghost->bytes);
  ghost->others->erase(ghost);
  if (ghost->allocator != &heap()) ghost->allocator->release();
  ghost->is_ghost = false;
  ghost->allocator = nullptr;
  ghost->device = Device::none;
  ghost->data = nullptr;
  ghost->release = nullptr;
  ghost->owner = nullptr;
}

Buffer* wrap_foreign(void* data, size_t bytes, bool is_readonly) {
  Buffer* buffer = make_header(bytes, static_cast<char*>(data), nullptr, Kind::tensors);
  buffer->is_readonly = is_readonly;
  account.foreign += static_cast<int64_t>(bytes);
  if (recorder) recorder->made(buffer);
  return buffer;
}

namespace {

std::unordered_map<const Buffer*, uint64_t>& numbers() {
  static auto* all = new std::unordered_map<const Buffer*, uint64_t>;  // buffers go after main
  return *all;
}

}  // namespace

uint64_t number_of(Buffer* buffer) {
  static uint64_t last = 0;
  auto [at, is_new] = numbers().try_emplace(buffer, last + 1);
  if (is_new) ++last;
  buffer->is_numbered = true;
  return at->second;
}

void destroy_buffer(Buffer* buffer) {
  if (recorder) recorder->gone(buffer);
  if (buffer->is_watched || buffer->is_ghost || buffer->is_numbered) {
    if (buffer->is_numbered) numbers().erase(buffer);
    if (buffer->is_watched) last_watch->gone(buffer);
    if (buffer->is_ghost) return destroy_ghost(buffer);
  }
  Allocator* allocator = buffer->allocator;
  if (!allocator) return destroy_foreign(buffer);
  if (allocator->reserves)
    destroy_placed(buffer);
  else
    free_counted(*allocator, buffer, buffer->bytes, buffer->kind, HEADER);
  if (allocator == &heap()) return;
  allocator->vacate_if_unused();
  allocator->release();
}

Buffer* resize_buffer(Buffer* buffer, size_t bytes) {
  if (buffer->is_ghost || is_rehearsing()) return nullptr;
  Allocator& allocator = *buffer->allocator;
  bool may_move = buffer->refs == 1 && buffer->pins == 0 && !buffer->is_watched &&
                  !buffer->is_numbered && !recorder;
  bool is_placed = allocator.reserves;
  if (!is_placed && !may_move) return nullptr;
  void* block = is_placed ? static_cast<void*>(buffer->data) : buffer;
  size_t header = is_placed ? 0 : HEADER;
  void* now =
      reallocate_counted(allocator, block, buffer->bytes, bytes, buffer->kind, may_move, header);
  if (!now) return nullptr;
  if (!is_placed) buffer = static_cast<Buffer*>(now);
  if (is_placed && now != block) {  // the newest of its arena from now on
    allocator.disown(buffer);
    allocator.adopt(buffer);
  }
  buffer->data = static_cast<char*>(now) + header;
  buffer->bytes = bytes;
  return buffer;
}

void bury(Buffer* buffer) {
  discount(*buffer->allocator, buffer->bytes, buffer->kind);
  buffer->device = Device::freed;
  buffer->data = nullptr;
}

void change_kind(Buffer* buffer, Kind kind) {
  if (buffer->allocator && buffer->has_memory() && !buffer->is_ghost) {
    account.count(buffer->kind, -static_cast<int64_t>(buffer->bytes));
    account.count(kind, static_cast<int64_t>(buffer->bytes));
  }
  buffer->kind = kind;
}

void record_buffers(const BufferWatch* next) { recorder = next; }

void watch_buffers(const BufferWatch* next) {
  watch = next;
  if (next) last_watch = next;
}

}  // namespace tessella
