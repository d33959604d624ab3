// What the operating system gives: memory, processors, threads, libraries. There is one file for
// each system, of which the build takes one; nothing else in the core knows which it is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>

namespace tessella::system {

// --- memory --------------------------------------------------------------------------------------

// `bytes` is a multiple of the alignment; nullptr where there is no memory.
void* allocate_aligned(size_t alignment, size_t bytes);
void free_aligned(void* block);

// Large pages for a block that will be used as a whole, where the system has them: advice only.
void ask_for_huge_pages(void* block, size_t bytes);

// Lets the C library give back what it keeps.
void trim();

// Addresses that nothing else has, with no memory behind them; nullptr where there are none.
void* reserve_addresses(size_t bytes);
void release_addresses(void* address, size_t bytes);

int64_t machine_bytes();

// --- processors ----------------------------------------------------------------------------------

// How many this thread may run on, and where it runs now; 0 and -1 where that is not told.
int allowed_cpus();
int current_cpu();

// --- threads -------------------------------------------------------------------------------------

// A thread that is never joined, and that takes no signals but faults.
class Helper {
 public:
  bool start(void (*work)(int id), int id);  // false where it cannot be; throws nothing

  // Keeps it off one processor until it is let back; false where that cannot be.
  bool keep_off(int cpu);
  void let_back();

 private:
  static constexpr int WORDS = 16;  // of a mask of 1,024 processors

  uintptr_t thread_ = 0;
  uint64_t allowed_[WORDS] = {};
};

// Has a function called in children of a fork, where there are any.
void call_after_fork(void (*in_child)());

// --- libraries -----------------------------------------------------------------------------------

// nullptr, and why, where it cannot be loaded.
void* open_library(const char* path, std::string& why);
void* find_symbol(void* library, const char* name);
void close_library(void* library);

}  // namespace tessella::system
