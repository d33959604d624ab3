// Counting, the limit, and the list of allocators.
#include "account.h"

#include "../cgroup.h"
#include "../error.h"
#include "../system/system.h"
#include "ghosts.h"

#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

namespace tessella {

Account account = [] {
  Account made;
  made.limit = made.ceiling = default_limit();
  return made;
}();

thread_local Allocator* current_allocator;

// --- the limit -----------------------------------------------------------------------------------

namespace {

int64_t failing_from;  // allocations until they fail, or 0
constexpr int64_t NOTHING = INT64_MIN / 2;

// Whether an allocation is to fail on purpose. Called for every one while some are.
bool fails_on_purpose() {
  if (failing_from == 0) return false;
  if (failing_from > 1) return --failing_from, false;
  return true;
}

bool fits(int64_t bytes, int64_t ceiling) {
  return bytes <= ceiling - account.total.live - account.reserved;
}

// Room under the limit; memory that is kept for later gives way.
bool make_room(int64_t bytes) {
  if (fails_on_purpose()) return false;
  if (bytes == 0) return true;  // also where the limit was set below what is live
  if (!fits(bytes, account.limit)) return false;
  if (!fits(bytes, account.limit - account.kept)) heap().trim();
  return true;
}

// A block of the system's; where it has none, what is kept for later is given back to it first.
void* take_from_system(Allocator& heap_like, size_t bytes) {
  if (void* block = heap_like.allocate(bytes)) return block;
  heap().trim();
  return heap_like.allocate(bytes);
}

int64_t folder_bytes(const std::string& folder, bool is_v2) {
  std::string path = folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes");
  FILE* file = fopen(path.c_str(), "r");
  if (!file) return NO_LIMIT;
  long long value = 0;
  int read = fscanf(file, "%lld", &value);
  fclose(file);
  return read == 1 && value > 0 ? value : NO_LIMIT;
}

}  // namespace

int64_t cgroup_bytes(const char* membership, const char* mount) {
  return cgroup_limit(membership, mount, "memory", folder_bytes);
}

int64_t default_limit() {
  int64_t machine = system::machine_bytes();
  int64_t cgroup = cgroup_bytes(CGROUP_MEMBERSHIP, CGROUP_MOUNT);
  return (cgroup < machine ? cgroup : machine) / 10 * 9;
}

void set_limit(int64_t bytes) {
  account.limit = bytes;
  if (failing_from == 0) account.ceiling = bytes;
}

void fail_allocations_from(int64_t n) {
  failing_from = n;
  account.ceiling = n ? NOTHING : account.limit;
}

// --- counting ------------------------------------------------------------------------------------

void* allocate_counted(Allocator& allocator, size_t bytes, Kind kind, size_t header) {
  auto wanted = static_cast<int64_t>(bytes);
  // What reserves is within the limit already; it asks for more through take_reserve.
  if (allocator.reserves) {
    if (fails_on_purpose()) throw MemoryEnds{allocator, wanted};
  } else if (!fits(wanted, account.ceiling - account.kept) && !make_room(wanted)) {
    throw MemoryEnds{allocator, wanted};
  }
  void* block = allocator.reserves ? allocator.allocate(header + bytes)
                                   : take_from_system(allocator, header + bytes);
  if (!block) throw MemoryEnds{allocator, wanted};
  allocator.counts.add(wanted);
  account.total.add(wanted);
  account.count(kind, wanted);
  if (allocator.reserves) account.reserved -= wanted;
  return block;
}

void discount(Allocator& allocator, size_t bytes, Kind kind) {
  auto gone = static_cast<int64_t>(bytes);
  allocator.counts.remove(gone);
  account.total.remove(gone);
  account.count(kind, -gone);
  if (allocator.reserves) account.reserved += gone;
}

void free_counted(Allocator& allocator, void* block, size_t bytes, Kind kind, size_t header) {
  discount(allocator, bytes, kind);
  allocator.free(block, header + bytes);
}

void* reallocate_counted(Allocator& allocator, void* block, size_t from, size_t to, Kind kind,
                         bool may_move, size_t header) {
  int64_t more = static_cast<int64_t>(to) - static_cast<int64_t>(from);
  // While it moves, both blocks may be there.
  int64_t needed = may_move ? static_cast<int64_t>(to) : more;
  if (allocator.reserves ? fails_on_purpose() : !make_room(needed)) return nullptr;
  void* now = block;
  if (may_move)
    now = allocator.reallocate(block, header + from, header + to);
  else if (!allocator.resize(block, header + from, header + to))
    return nullptr;
  if (!now) return nullptr;
  for (Usage* counts : {&allocator.counts, &account.total}) {
    if (now == block) counts->remove(static_cast<int64_t>(from));
    counts->add(static_cast<int64_t>(to));  // where it moved, both blocks were there
    if (now != block) counts->remove(static_cast<int64_t>(from));
  }
  account.count(kind, more);
  if (allocator.reserves) account.reserved -= more;
  return now;
}

void* take_reserve(size_t bytes) {
  if (!make_room(static_cast<int64_t>(bytes))) return nullptr;
  void* block = take_from_system(heap(), bytes);
  if (block) account.reserved += static_cast<int64_t>(bytes);
  return block;
}

void give_reserve(void* block, size_t bytes) {
  account.reserved -= static_cast<int64_t>(bytes);
  heap().free(block, bytes);
}

thread_local ScratchReserve* scratch_reserve = nullptr;

Scratch::Scratch(size_t bytes) : bytes_(bytes), data_(nullptr), reserve_(scratch_reserve) {
  if (!bytes) return;
  if (reserve_) {
    bytes_ = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t start = reserve_->used, end = start + bytes_;
    is_own_ = end > reserve_->bytes;
    if (!is_own_) data_ = reserve_->data + start;
    reserve_->used = end;
    reserve_->most = end > reserve_->most ? end : reserve_->most;
  }
  if (!is_own_) return;
  is_ghost_ = is_rehearsing();
  try {
    data_ = is_ghost_ ? map_ghost(bytes_) : allocate_counted(heap(), bytes_, Kind::scratch);
    if (!data_) throw MemoryEnds{heap(), static_cast<int64_t>(bytes_)};
  } catch (const MemoryEnds& ends) {
    if (reserve_) reserve_->used -= bytes_;
    fail_out_of_memory(ends, "scratch");
  }
}

Scratch::~Scratch() {
  if (!data_) return;
  if (is_ghost_)
    unmap_ghost(data_, bytes_);
  else if (is_own_)
    free_counted(heap(), data_, bytes_, Kind::scratch);
  if (reserve_) reserve_->used -= bytes_;
}

// --- watching ------------------------------------------------------------------------------------

Watch* Watch::first_;

Watch::Watch() {
  fold_peak();
  live_ = highest_ = account.total.live;
  allocations_ = account.total.allocations;
  next_ = first_;
  first_ = this;
}

Watch::~Watch() {
  Watch** link = &first_;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

void Watch::fold_peak() {
  for (Watch* watch = first_; watch; watch = watch->next_)
    if (account.total.peak > watch->highest_) watch->highest_ = account.total.peak;
  account.total.peak = account.total.live;
}

int64_t Watch::peak() {
  fold_peak();
  return highest_ - live_;
}

// --- the allocators ------------------------------------------------------------------------------

namespace {

std::vector<Allocator*>& enlisted() {
  static auto* all = new std::vector<Allocator*>;  // never destroyed: tensors outlive statics
  return *all;
}

}  // namespace

void enlist(Allocator& allocator) { enlisted().push_back(&allocator); }

void strike_off(Allocator& allocator) { std::erase(enlisted(), &allocator); }

void visit_allocators(void (*visit)(Allocator&, void*), void* context) {
  for (Allocator* allocator : enlisted()) visit(*allocator, context);
}

void* Allocator::reallocate(void* block, size_t from, size_t to) {
  if (resize(block, from, to)) return block;
  void* moved = allocate(to);
  if (!moved) return nullptr;
  memcpy(moved, block, from < to ? from : to);
  free(block, from);
  return moved;
}

void Allocator::release_handle() {
  --handles_;
  vacate_if_unused();
  release();
}

void Allocator::release() {
  if (--refs_ > 0) return;
  vacate();
  strike_off(*this);
  delete this;
}

}  // namespace tessella
