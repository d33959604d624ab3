// Keeping Python's collector away: it runs whatever code garbage leads to, in the middle of things.
#pragma once

#include <Python.h>

namespace tessella {

// There is no collection in this thread while it lives.
class NoCollection {
 public:
  NoCollection() : was_enabled_(PyGC_Disable()) {}
  ~NoCollection() {
    if (was_enabled_) PyGC_Enable();
  }
  NoCollection(const NoCollection&) = delete;
  NoCollection& operator=(const NoCollection&) = delete;

 private:
  int was_enabled_;
};

// A new list or tuple that is not full: nobody finds it through the collector until it is shown,
// or gone.
class Unseen {
 public:
  explicit Unseen(PyObject* object)
      : object_(object), was_seen_(object && PyObject_GC_IsTracked(object)) {
    if (was_seen_) PyObject_GC_UnTrack(object_);
  }
  void show() const {
    if (was_seen_) PyObject_GC_Track(object_);
  }

 private:
  PyObject* object_;
  bool was_seen_;
};

}  // namespace tessella
