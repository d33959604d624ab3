// The account that stands above all allocators: the limit, exact counts of live bytes by kind, and
// the peak. Called with the interpreter's lock held.
#pragma once

#include "allocator.h"

namespace tessella {

// What memory is for: `saved` is kept for backward, `gradients` are those of leaves, `weights` are
// parameters and buffers of modules, `optimizer` is the state of one.
#define MEMORY_KINDS(F) \
  F(tensors) F(arrays) F(scratch) F(saved) F(gradients) F(weights) F(optimizer) F(programs)
#define MEMORY_KIND(name) name,
enum class Kind : uint8_t { MEMORY_KINDS(MEMORY_KIND) count };
#undef MEMORY_KIND

// Bytes, and how many rows they have, for a tensor.
struct Refusal {
  int64_t bytes = 0, rows = 0;
};

struct Account {
  Usage total;                                          // its peak is that since fold_peak
  int64_t by_kind[static_cast<int>(Kind::count)] = {};  // live bytes, but those of tensors
  int64_t limit = 0;
  int64_t ceiling = 0;   // the limit, or less than nothing while allocations are made to fail
  int64_t reserved = 0;  // taken from the system by arenas, pools and their like, and not in use
  int64_t kept = 0;      // freed blocks that the heap keeps for later: given back when needed
  int64_t foreign = 0;   // memory of others, shared; not under the limit
  Refusal refused;       // by the limit, last: asked for when its error is made

  // What is of no other kind is tensors'.
  int64_t live_of(Kind kind) const {
    int64_t bytes = kind == Kind::tensors ? total.live : by_kind[static_cast<int>(kind)];
    for (int i = 1; kind == Kind::tensors && i < static_cast<int>(Kind::count); ++i)
      bytes -= by_kind[i];
    return bytes;
  }
  void count(Kind kind, int64_t bytes) {
    if (kind != Kind::tensors) by_kind[static_cast<int>(kind)] += bytes;
  }
};
extern Account account;

void set_limit(int64_t bytes);
int64_t default_limit();  // what the machine and the cgroup allow, less a tenth

// What a process's cgroup and those above it allow, as cgroup_cpus; NO_LIMIT where they do not say.
int64_t cgroup_bytes(const char* membership, const char* mount);

// What happens to live bytes while it lives. Any number of them may overlap in any way: the account
// keeps one peak, which is handed out to all of them before one of them comes, goes or is asked.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  int64_t live() const { return account.total.live - live_; }  // more than at the start
  int64_t peak();                                              // the highest of live()
  int64_t allocations() const { return account.total.allocations - allocations_; }

 private:
  static void fold_peak();
  static Watch* first_;
  Watch* next_;
  int64_t live_, allocations_, highest_;
};

// From the n-th allocation on (the first is 1) every one fails; 0: none does.
void fail_allocations_from(int64_t n);

// Thrown where memory ends. Who knows what it was for makes an Error of it: see fail_memory.
struct MemoryEnds {
  Allocator& allocator;
  int64_t bytes;
};

// A block of an allocator within the limit, counted; throws MemoryEnds. Before its bytes there is
// room for a header, which does not count.
void* allocate_counted(Allocator& allocator, size_t bytes, Kind kind, size_t header = 0);
void free_counted(Allocator& allocator, void* block, size_t bytes, Kind kind, size_t header = 0);
// The block with `to` bytes in place of `from`, counted as an allocation; where it may not move, at
// its place. nullptr: nothing has changed.
void* reallocate_counted(Allocator& allocator, void* block, size_t from, size_t to, Kind kind,
                         bool may_move, size_t header = 0);
// The bytes are no longer in use; the allocator takes them back on its own.
void discount(Allocator& allocator, size_t bytes, Kind kind);

// Blocks that allocators take from the system: under the limit, reserved until they are in use.
// nullptr where they would go over it.
void* take_reserve(size_t bytes);
void give_reserve(void* block, size_t bytes);

// Kernel scratch, from the heap, freed at the end of the scope.
// Memory that Scratch takes before the heap's, while a program runs on this thread; `most` is what
// would have been enough so far.
struct ScratchReserve {
  char* data = nullptr;
  size_t bytes = 0, used = 0, most = 0;
};
extern thread_local ScratchReserve* scratch_reserve __attribute__((tls_model("initial-exec")));

class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  size_t bytes_;
  void* data_;
  ScratchReserve* reserve_ = nullptr;  // that counts it
  bool is_own_ = true;                 // else it lies in the reserve
  bool is_ghost_ = false;
};

}  // namespace tessella
