// Programs.
#include "../tensor/program.h"

#include <nanobind/stl/pair.h>

#include <memory>
#include <string_view>
#include <unordered_map>

#include "../memory/allocators.h"
#include "../tensor/anomaly.h"
#include "../tensor/node.h"
#include "call_lock.h"
#include "recording.h"

namespace tessella {

namespace {

std::vector<Tensor*> tensors_of(nb::list given) {
  std::vector<Tensor*> out;
  for (nb::handle each : given) out.push_back(tensor_of(each));
  return out;
}

// What programs of one function compute in. One call is inside at a time.
struct ProgramArena {
  Buffer* buffer = nullptr;
  Buffer* scratch = nullptr;
  ScratchReserve reserve;

  ~ProgramArena() {
    if (buffer) release(buffer);
    if (scratch) release(scratch);
  }
  static void grow(Buffer** at, size_t bytes) {
    if (*at && (*at)->bytes >= bytes) return;
    if (*at) release(*at);
    *at = nullptr;
    *at = make_buffer_in(heap(), bytes, Kind::programs);
  }

  // Enough for a program, and for what earlier runs would have needed.
  void ensure(const Program& program) {
    grow(&buffer, static_cast<size_t>(program.arena_bytes));
    if (reserve.most <= reserve.bytes) return;
    grow(&scratch, reserve.most);
    reserve.data = scratch->host_ptr(), reserve.bytes = scratch->bytes;
  }
  void prepare(Program& program) {
    try {
      program.prepare();
      reserve.most = std::max(reserve.most, program.scratch_bytes());
      ensure(program);
    } catch (const MemoryEnds& ends) {
      fail_out_of_memory(ends, "a compiled function");
    }
  }

  // Where nobody has asked yet whether it can run.
  PyObject* ask_and_run(Program& program, std::span<Tensor* const> arguments,
                        const std::vector<Draw>* starts = nullptr, Clock* clock = nullptr) {
    program.check_call(arguments.size(), starts);
    if (!program.can_run(arguments)) fail_capture("memory that was taken away", nullptr);
    return run(program, arguments, Given::list, starts, clock);
  }
  PyObject* run(Program& program, std::span<Tensor* const> arguments, Given given,
                const std::vector<Draw>* starts = nullptr, Clock* clock = nullptr) {
    program.has_written = false;
    try {
      ensure(program);
    } catch (const MemoryEnds& ends) {
      fail_out_of_memory(ends, "a compiled function");
    }
    struct Reserving {
      ScratchReserve* before = scratch_reserve;
      ~Reserving() { scratch_reserve = before; }
    } reserving;
    reserve.used = 0;
    scratch_reserve = &reserve;
    return program.run(arguments, buffer, given, starts, clock);
  }
};

// Shapes, strides and dtypes of tensors, whether gradients flow to them, which share memory, and
// whether gradients are recorded.
// Whether writes to a view, or to what it is a view of, become part of a graph.
int64_t view_bits(const Tensor* x) {
  if (!x->base) return 0;
  const Tensor* base = as_tensor(x->base);
  return 1 | x->is_blind << 1 | is_outdated(x) << 2 | base->requires_grad << 3 | !base->node << 4;
}

void append_key(std::span<Tensor* const> all, std::vector<int64_t>* key) {
  auto put = [&](int64_t number) { key->push_back(number); };
  put(is_grad_enabled());
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor* x = all[i];
    put(static_cast<int64_t>(x->dtype) | x->requires_grad << 8 | x->ndim << 9 |
        (x->node != nullptr) << 17 | x->buffer->is_readonly << 18 | (x->hooks != nullptr) << 19 |
        (x->offset * itemsize(x->dtype) & 15) << 20 | view_bits(x) << 24);
    put(static_cast<int64_t>(
        reinterpret_cast<uintptr_t>(Py_TYPE(as_object(const_cast<Tensor*>(x))))));
    for (int k = 0; k < x->ndim; ++k) put(x->shape()[k]), put(x->strides()[k]);
    for (size_t j = 0; j < i; ++j)
      if (may_overlap(all[j]->buffer, x->buffer)) {
        put(static_cast<int64_t>(j));
        put(x->data() - all[j]->data());
        put(x == all[j]);  // which Python can tell
      }
  }
}

std::string_view bytes_of(const std::vector<int64_t>& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(int64_t)};
}

nb::bytes key_of(nb::list given) {
  std::vector<int64_t> key;
  append_key(tensors_of(given), &key);
  return nb::bytes(bytes_of(key).data(), bytes_of(key).size());
}

// What a compiled function can repeat of calls whose arguments are tensors, without Python.
class Replay {
 public:
  Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // `finish` makes the result of the list of outputs and the arguments; None: it is the only
  // output.
  void add(nb::bytes key, nb::object program, nb::object finish) {
    auto* core = &nb::cast<Program&>(program);
    require(!finish.is_none() || core->output_count() == 1);
    entries_[std::string(key.c_str(), key.size())].push_back({program, core, finish});
    key_.reserve(key.size() / sizeof(int64_t));
  }
  void clear() {
    last_ = nullptr;
    auto before = std::move(entries_);  // what goes may come here again
    entries_.clear();
  }
  int visit(visitproc visit, void* arg) const {
    for (const auto& [key, several] : entries_)
      for (const Entry& each : several) {
        Py_VISIT(each.program.ptr());
        Py_VISIT(each.finish.ptr());
      }
    return 0;
  }

  // NotImplemented: it is to be done in Python.
  nb::object call(nb::tuple args) {
    if (is_taping() || watches_values || entries_.empty()) return nb::borrow(Py_NotImplemented);
    Tensor* tensors[MOST_ARGUMENTS];
    size_t count = args.size();
    if (count > MOST_ARGUMENTS) return nb::borrow(Py_NotImplemented);
    for (size_t i = 0; i < count; ++i) {
      PyObject* x = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
      if (Py_TYPE(x) != tensor_type) return nb::borrow(Py_NotImplemented);
      tensors[i] = as_tensor(x);
    }
    // Taken, as what runs below may come here again; given back for its memory.
    std::vector<int64_t> key = std::move(key_);
    key.clear();
    append_key({tensors, count}, &key);
    nb::object out = find({tensors, count}, args, bytes_of(key));
    key_ = std::move(key);
    return out;
  }

  ProgramArena arena;
  CallLock lock;

 private:
  static constexpr size_t MOST_ARGUMENTS = 16;
  struct Entry {
    nb::object program;
    Program* core;  // which the object holds
    nb::object finish;
  };
  // Keys are looked up as they are, without a string of their own.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Entries = std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>>;

  // Most calls have the key of the call before.
  Entries::value_type* look_up(std::string_view key) {
    if (last_ && last_->first == key) return last_;
    auto found = entries_.find(key);
    return last_ = found == entries_.end() ? nullptr : &*found;
  }

  nb::object find(std::span<Tensor* const> tensors, const nb::tuple& args, std::string_view key) {
    auto* found = look_up(key);
    if (!found || !lock.try_enter()) return nb::borrow(Py_NotImplemented);
    struct Leave {
      CallLock& lock;
      ~Leave() { lock.leave(); }
    } leave{lock};
    for (size_t i = 0; i < found->second.size(); ++i) {
      Entry entry = found->second[i];  // a copy: what runs below may change the list
      if (entry.core->accepts(tensors)) return run(*entry.core, entry.finish, args, tensors);
      found = look_up(key);
      if (!found) break;
    }
    return nb::borrow(Py_NotImplemented);
  }

  nb::object run(Program& program, const nb::object& finish, const nb::tuple& args,
                 std::span<Tensor* const> tensors) {
    nb::object outputs;
    try {
      outputs = nb::steal(arena.run(program, tensors, finish.is_none() ? Given::one : Given::list));
    } catch (const Error&) {
      if (program.has_written) throw;
      return nb::borrow(Py_NotImplemented);  // the function itself explains
    }
    return finish.is_none() ? outputs : finish(outputs, args);
  }

  std::vector<int64_t> key_;
  Entries entries_;
  Entries::value_type* last_ = nullptr;  // of entries_
};

// Python's collector finds its way through both: a watch may lead to the object whose method was
// compiled, and that to the compiled method.
template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->visit(visit, arg) : 0;
}

int clear_program(PyObject* self) {
  nb::inst_ptr<Program>(self)->drop_guard();
  return 0;
}

int clear_replay(PyObject* self) {
  nb::inst_ptr<Replay>(self)->clear();
  return 0;
}

PyType_Slot PROGRAM_SLOTS[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Program>)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_program)},
                               {0, nullptr}};
PyType_Slot REPLAY_SLOTS[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Replay>)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_replay)},
                              {0, nullptr}};

// What a compiled function derives from: a call goes to its replay, and to `_call_anew` if that
// does not know it. It adds no names, as those are for what was compiled.
struct CompiledCall {
  PyObject* replay = nullptr;  // owned
  Replay* core = nullptr;      // which that holds
  ~CompiledCall() { Py_XDECREF(replay); }

  int visit(visitproc visit, void* arg) const {
    Py_VISIT(replay);
    return 0;
  }
};

PyObject* call_compiled(PyObject* self, PyObject* args, PyObject* keywords) {
  static PyObject* const anew = PyUnicode_InternFromString("_call_anew");
  auto* call = nb::inst_ready(self) ? nb::inst_ptr<CompiledCall>(self) : nullptr;
  if (call && call->replay && (!keywords || PyDict_GET_SIZE(keywords) == 0)) {
    PyObject* out = guarded([&]() -> PyObject* {
      nb::object kept = nb::borrow(call->replay);
      try {
        return call->core->call(nb::borrow<nb::tuple>(args)).release().ptr();
      } catch (nb::python_error& error) {  // of what makes the result
        error.restore();
        throw PythonError{};
      }
    });
    if (out != Py_NotImplemented) return out;
    Py_DECREF(out);
  }
  PyObject* method = PyObject_GetAttr(self, anew);
  if (!method) return nullptr;
  PyObject* out = PyObject_Call(method, args, keywords);
  Py_DECREF(method);
  return out;
}

int clear_call(PyObject* self) {
  Py_CLEAR(nb::inst_ptr<CompiledCall>(self)->replay);
  return 0;
}

PyType_Slot CALL_SLOTS[] = {{Py_tp_call, reinterpret_cast<void*>(call_compiled)},
                            {Py_tp_traverse, reinterpret_cast<void*>(traverse<CompiledCall>)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_call)},
                            {0, nullptr}};

WatchedKind watched_kind(PyObject* holder, PyObject* name, PyObject* value) {
  if (PyCell_Check(holder)) return WatchedKind::cell;
  if (PyList_Check(holder) && PyTuple_Check(value)) return WatchedKind::list;
  if (PyDict_Check(holder) && PyUnicode_Check(name)) return WatchedKind::dict;
  if (PyFunction_Check(holder) && PyUnicode_Check(name)) {
    auto is_named = [&](const char* text) {
      return PyUnicode_CompareWithASCIIString(name, text) == 0;
    };
    if (is_named("__code__")) return WatchedKind::code;
    if (is_named("__defaults__")) return WatchedKind::defaults;
    if (is_named("__kwdefaults__")) return WatchedKind::keyword_defaults;
  }
  throw nb::type_error("a dict and a key, a cell, a list, or a function and its code or defaults");
}

std::vector<Watched> watched_of(nb::list given) {
  std::vector<Watched> places;
  for (nb::handle each : given) {
    auto row = nb::cast<nb::tuple>(each);
    nb::handle holder = row[0], name = row[1], value = row[2];
    WatchedKind kind = watched_kind(holder.ptr(), name.ptr(), value.ptr());
    places.push_back({kind, Py_NewRef(holder.ptr()),
                      name.is_none() ? nullptr : Py_NewRef(name.ptr()), Py_NewRef(value.ptr())});
  }
  return places;
}

}  // namespace

void init_program(nb::module_& module) {
  nb::class_<ProgramArena>(module, "ProgramArena")
      .def(nb::init<>())
      .def("prepare", &ProgramArena::prepare);
  // slots: (source, index, offset) for each slot of the recording
  nb::class_<Program>(module, "Program", nb::type_slots(PROGRAM_SLOTS))
      .def("__init__",
           [](Program* self, const Recording& recording, const std::vector<std::vector<int>>& steps,
              nb::list slots, int64_t arena_bytes) {
             std::vector<SlotPlan> plans;
             for (nb::handle each : slots) {
               auto row = nb::cast<nb::tuple>(each);
               require(row.size() == 3);
               int source = code_of(nb::cast<int>(row[0]), std::size(SOURCE_NAMES));
               plans.push_back(
                   {static_cast<Source>(source), nb::cast<int>(row[1]), nb::cast<int64_t>(row[2])});
             }
             new (self) Program(recording.tape, steps, std::move(plans), arena_bytes);
           })
      .def(
          "add_output",
          [](Program& self, nb::tuple place, nb::handle node, int base, bool is_blind) {
            require(node.is_none() || is_node(node.ptr()));
            self.add_output(
                {place_from(place), node.is_none() ? nullptr : node.ptr(), base, is_blind});
          },
          nb::arg("place"), nb::arg("node").none(), nb::arg("base") = -1,
          nb::arg("is_blind") = false)
      .def(
          "add_base",
          [](Program& self, std::optional<nb::tuple> place, int output, int argument,
             nb::handle object) {
            PyObject* held = object.is_none() ? nullptr : as_object(tensor_of(object));
            self.add_base({place ? place_from(*place) : Place{-1, DType::boolean, Layout()}, output,
                           argument, held});
          },
          nb::arg("place").none(), nb::arg("output"), nb::arg("argument"), nb::arg("object").none())
      .def("add_gradient", [](Program& self, int leaf,
                              nb::tuple place) { self.add_gradient(leaf, place_from(place)); })
      .def("add_removal", &Program::add_removal)
      .def("add_generator", [](Program& self, nb::handle generator,
                               uint64_t used) { self.add_generator(generator.ptr(), used); })
      .def("set_draw", [](Program& self, int instruction, int generator,
                          uint64_t delta) { self.set_draw(instruction, {generator, delta}); })
      .def("set_guard",
           [](Program& self, uint64_t changes, nb::list places, nb::handle holds, bool is_partial) {
             self.set_guard(changes, watched_of(places), holds.ptr(), is_partial);
           })
      .def("set_homes", &Program::set_homes)
      .def("set_leaves", &Program::set_leaves)
      .def("set_gradient_homes", &Program::set_gradient_homes)
      .def("set_named", &Program::set_named)
      .def("accepts",
           [](const Program& self, nb::list arguments) {
             self.check_call(arguments.size(), nullptr);
             return self.accepts(tensors_of(arguments));
           })
      .def("run",
           [](Program& self, nb::list arguments, ProgramArena& arena) {
             return nb::steal(arena.ask_and_run(self, tensors_of(arguments)));
           })
      // And how many nanoseconds each step took.
      .def("run_timed",
           [](Program& self, nb::list arguments, ProgramArena& arena) {
             Clock clock;
             nb::object results =
                 nb::steal(arena.ask_and_run(self, tensors_of(arguments), nullptr, &clock));
             nb::list times;
             for (size_t i = 1; i < clock.size(); ++i)
               times.append(std::chrono::nanoseconds(clock[i] - clock[i - 1]).count());
             return nb::make_tuple(results, times);
           })
      // As at a former run of another program of the recording: starts are its.
      .def("run_from",
           [](Program& self, nb::list arguments, ProgramArena& arena,
              const std::vector<std::pair<uint64_t, uint64_t>>& given) {
             std::vector<Draw> starts;
             for (auto [key, counter] : given) starts.push_back({key, counter});
             return nb::steal(arena.ask_and_run(self, tensors_of(arguments), &starts));
           })
      .def_prop_ro("starts",
                   [](const Program& self) {
                     std::vector<std::pair<uint64_t, uint64_t>> out;
                     for (const Draw& each : self.starts) out.push_back({each.key, each.counter});
                     return out;
                   })
      .def_ro("runs", &Program::runs)
      .def_prop_ro("has_written", [](const Program& self) { return self.has_written; })
      .def_prop_ro("scratch_bytes", &Program::scratch_bytes)
      .def_prop_ro("rehearsed_scratch_bytes", &Program::rehearsed_scratch_bytes)
      .def_prop_ro("arena_bytes", [](const Program& self) { return self.arena_bytes; });
  nb::class_<Replay>(module, "Replay", nb::type_slots(REPLAY_SLOTS))
      .def(nb::init<>())
      .def("add", &Replay::add, nb::arg("key"), nb::arg("program"), nb::arg("finish").none())
      .def("clear", &Replay::clear)
      .def("enter", [](Replay& self) { return self.lock.enter(); })
      .def("leave", [](Replay& self) { self.lock.leave(); })
      .def("call", &Replay::call)
      .def_prop_ro(
          "arena", [](Replay& self) -> ProgramArena& { return self.arena; },
          nb::rv_policy::reference_internal);
  // With None every call is made anew.
  nb::class_<CompiledCall>(module, "CompiledCall", nb::type_slots(CALL_SLOTS))
      .def(
          "__init__",
          [](CompiledCall* self, nb::handle replay) {
            if (replay.is_none()) {
              new (self) CompiledCall;
              return;
            }
            auto* core = &nb::cast<Replay&>(replay);
            new (self) CompiledCall{replay.inc_ref().ptr(), core};
          },
          nb::arg("replay").none());
  module.def("bump_changes", [](uint64_t by) { changes_count += by; }, nb::arg("by") = 1);
  module.def("count_changes", [] { return changes_count; });
  module.def("source_names", [] {
    nb::list names;
    for (const char* name : SOURCE_NAMES) names.append(name);
    return names;
  });
  // The longest row that a tile holds; the most reductions of a group of instructions.
  module.def("tile_limits",
             [] { return nb::make_tuple(launch::LONGEST_ROW, launch::MOST_REDUCTIONS); });
  module.def("is_recording", is_taping);
  module.def("call_key", key_of);
  // The memory of a tensor, its place there in bytes, and a number that tells this memory from
  // later one; also if it is gone.
  module.def("home_of", [](nb::handle given) {
    const Tensor* x = tensor_of(given);
    return nb::make_tuple(reinterpret_cast<uintptr_t>(x->buffer), x->offset * itemsize(x->dtype),
                          number_of(x->buffer));
  });
  // Throws if a function is recorded: what it does cannot be repeated.
  module.def(
      "refuse_capture",
      [](const char* what, const char* cure) { refuse_capture(what, *cure ? cure : nullptr); },
      nb::arg("what"), nb::arg("cure") = "");
}

}  // namespace tessella
