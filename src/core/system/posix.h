// What Linux and macOS do alike. See system.h.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>
#include <new>

#include "system.h"

namespace tessella::system {

void* allocate_aligned(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

void free_aligned(void* block) { free(block); }

void* reserve_addresses(size_t bytes) {
  constexpr int FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* address = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

void release_addresses(void* address, size_t bytes) { munmap(address, bytes ? bytes : 1); }

namespace {

struct Start {
  void (*work)(int);
  int id;
};

void* run(void* given) {
  auto* start = static_cast<Start*>(given);
  auto [work, id] = *start;
  delete start;
  work(id);
  return nullptr;
}

}  // namespace

bool Helper::start(void (*work)(int), int id) {
  static_assert(sizeof(pthread_t) <= sizeof thread_);
  auto* start = new (std::nothrow) Start{work, id};
  if (!start) return false;
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  bool is_started = pthread_create(&thread, nullptr, run, start) == 0;
  if (is_started) {
    pthread_detach(thread);
    thread_ = reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(thread));
  } else {
    delete start;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

void call_after_fork(void (*in_child)()) { pthread_atfork(nullptr, nullptr, in_child); }

void* open_library(const char* path, std::string& why) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char* error = library ? nullptr : dlerror();
  if (!library) why = error ? error : "it cannot be loaded";
  return library;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

void close_library(void* library) { dlclose(library); }

}  // namespace tessella::system
