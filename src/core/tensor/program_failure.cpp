// What a run leaves that fails: what the function would have left that fails at the same place.
// Random numbers are taken before the run, and those that it has not drawn are given back here.
#include <algorithm>
#include <iterator>

#include "gradients.h"
#include "guard.h"
#include "program.h"

namespace tessella {

namespace {

// The numbers of a generator, which is a Python object.
uint64_t read_word(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (!value) throw PythonError{};
  uint64_t word = PyLong_AsUnsignedLongLong(value);
  Py_DECREF(value);
  if (PyErr_Occurred()) throw PythonError{};
  return word;
}

void write_word(PyObject* object, const char* name, uint64_t word) {
  PyObject* value = PyLong_FromUnsignedLongLong(word);
  int failed = value ? PyObject_SetAttrString(object, name, value) : -1;
  Py_XDECREF(value);
  if (failed) throw PythonError{};
}

}  // namespace

// Takes the numbers that a run draws before it draws them, as other threads may draw too.
void Program::take_numbers() {
  for (GeneratorUse& each : generators_) {
    uint64_t seed = read_word(each.object, "seed"), counter = read_word(each.object, "counter");
    starts.push_back({seed, counter});
    each.end = counter + each.used;
  }
  // Once all could be read.
  for (GeneratorUse& each : generators_) write_word(each.object, "counter", each.end);
}

// How many numbers of a generator are drawn before an instruction.
uint64_t Program::drawn_before(size_t instruction, const PyObject* generator) const {
  uint64_t used = 0;
  const Drawing* first = nullptr;
  for (const Drawing& each : tape_->drawings) {
    if (each.generator != generator) continue;
    if (!first) first = &each;
    if (each.after <= instruction) used = each.from.counter + each.used - first->from.counter;
  }
  return used;
}

// Moves the generators to where they stand at a failure: before an instruction if something was
// written, else where they stood at the call. One that others have drawn from stays.
void Program::give_numbers_back(size_t instruction) {
  for (size_t i = 0; i < generators_.size(); ++i) {
    PyObject* generator = generators_[i].object;
    if (read_word(generator, "counter") != generators_[i].end) continue;
    uint64_t used = has_written ? drawn_before(instruction, generator) : 0;
    write_word(generator, "counter", starts[i].counter + used);
  }
}

// As far as the function would have got, if it has written something: what was drawn before stays
// drawn, what may have been written counts as written, and leaves have the gradients that they had
// then. Else as if it had not been called.
void Program::stop(size_t step, std::span<Tensor* const> arguments) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);  // Ctrl-C, if it is what has stopped the run
  if (has_written) mark_writes();
  try {
    if (is_call_) give_numbers_back(steps_[step].instruction->at);
    for (size_t i = 0; is_call_ && has_written && i < tape_->leaves.size(); ++i)
      leave_gradient(i, step, arguments);
  } catch (...) {
    PyErr_Clear();  // what has stopped the run says more
  }
  PyErr_Restore(type, value, trace);
}

// Gives a leaf the gradient that it had before a step; none if that was replaced later, as its
// memory may be used again.
void Program::leave_gradient(size_t number, size_t step, std::span<Tensor* const> arguments) {
  const auto& changes = tape_->leaves[number].changes;
  auto is_later = [&](const Leaf::Change& each) {
    return each.after > steps_[step].instruction->at;
  };
  auto next = std::find_if(changes.begin(), changes.end(), is_later);
  if (next == changes.begin()) return;
  bool is_last = next == changes.end() && std::prev(next)->is_given, stays = is_last;
  for (const NewGradient& each : gradients_) {
    if (each.leaf != static_cast<int>(number)) continue;
    stays = is_last && first_writes_[static_cast<size_t>(each.place.slot)].step < step;
    if (stays) put_gradient(each, arguments);
  }
  Tensor* of = leaf(static_cast<int>(number), arguments);
  if (of->grad && !stays) set_gradient(of, nullptr);
}

// Tells the exception that was raised which instruction has failed, over what, and its line: a
// function that has written something cannot be called again to explain.
void Program::explain(const Instruction& failed) const {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* operands = PyList_New(0);
  for (const Place& place : failed.operands) {
    if (!operands) break;
    const SlotPlan& plan = plans_[static_cast<size_t>(place.slot)];
    PyObject* row = Py_BuildValue("siss", SOURCE_NAMES[static_cast<int>(plan.source)], plan.index,
                                  info(place.dtype).name, to_text(place.layout.sizes()).c_str());
    if (!row || PyList_Append(operands, row)) Py_CLEAR(operands);
    Py_XDECREF(row);
  }
  const Site& site = failed.site;
  PyObject* path = site.code ? site.code->co_filename : Py_None;
  int line = site.code ? PyCode_Addr2Line(site.code, site.instruction) : 0;
  PyObject* done = nullptr;
  if (operands && value)
    done = PyObject_CallMethod(value, "in_program", "sOiOi", failed.name.c_str(), operands,
                               failed.written, path, line);
  if (!done) PyErr_Clear();  // the error itself says more
  Py_XDECREF(done);
  Py_XDECREF(operands);
  PyErr_Restore(type, value, trace);
}

}  // namespace tessella
