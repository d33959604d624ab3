// Windows. See system.h.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <malloc.h>
#include <windows.h>

#include <new>

#include "system.h"

namespace tessella::system {

void* allocate_aligned(size_t alignment, size_t bytes) { return _aligned_malloc(bytes, alignment); }

void free_aligned(void* block) { _aligned_free(block); }

void ask_for_huge_pages(void*, size_t) {}  // those need a privilege of the user's

void trim() { HeapCompact(GetProcessHeap(), 0); }

void* reserve_addresses(size_t bytes) {
  return VirtualAlloc(nullptr, bytes ? bytes : 1, MEM_RESERVE, PAGE_NOACCESS);
}

void release_addresses(void* address, size_t) { VirtualFree(address, 0, MEM_RELEASE); }

int64_t machine_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? static_cast<int64_t>(status.ullTotalPhys) : INT64_MAX;
}

int allowed_cpus() {
  DWORD_PTR own = 0, all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return 0;
  return __builtin_popcountll(static_cast<uint64_t>(own));
}

int current_cpu() { return static_cast<int>(GetCurrentProcessorNumber()); }

namespace {

struct Start {
  void (*work)(int);
  int id;
};

DWORD WINAPI run(void* given) {
  auto* start = static_cast<Start*>(given);
  auto [work, id] = *start;
  delete start;
  work(id);
  return 0;
}

HANDLE handle_of(uintptr_t thread) { return reinterpret_cast<HANDLE>(thread); }

}  // namespace

bool Helper::start(void (*work)(int), int id) {
  auto* start = new (std::nothrow) Start{work, id};
  if (!start) return false;
  HANDLE thread = CreateThread(nullptr, 0, run, start, 0, nullptr);
  if (!thread) delete start;
  thread_ = reinterpret_cast<uintptr_t>(thread);
  return thread != nullptr;
}

bool Helper::keep_off(int cpu) {
  DWORD_PTR own = 0, all = 0;
  if (cpu < 0 || cpu >= 64 || !GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
    return false;
  DWORD_PTR others = own & ~(DWORD_PTR{1} << cpu);
  allowed_[0] = own;
  return others && SetThreadAffinityMask(handle_of(thread_), others);
}

void Helper::let_back() {
  SetThreadAffinityMask(handle_of(thread_), static_cast<DWORD_PTR>(allowed_[0]));
}

void call_after_fork(void (*)()) {}  // there is no fork

void* open_library(const char* path, std::string& why) {
  HMODULE library = LoadLibraryA(path);
  if (!library) why = "Windows cannot load it: error " + std::to_string(GetLastError());
  return reinterpret_cast<void*>(library);
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}

void close_library(void* library) { FreeLibrary(reinterpret_cast<HMODULE>(library)); }

}  // namespace tessella::system
