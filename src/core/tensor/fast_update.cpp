// The fast path of optimizers' updates: it writes parameters and states where they lie, as inside
// no_grad, and has no result.
#include <algorithm>
#include <memory>

#include "anomaly.h"
#include "guard.h"
#include "lines.h"
#include "run.h"
#include "tape.h"
#include "updates.h"

namespace tessella {

namespace {

using Extent = Updates::Extent;

Extent extent_of(const Tensor* x) {
  auto start = reinterpret_cast<uintptr_t>(x->data());
  int64_t first = 0, last = x->size - 1;
  if (x->size == 0) return {start, start};
  if (!x->is_contiguous) {
    x->layout().extent(&first, &last);
    first -= x->offset, last -= x->offset;
  }
  auto bytes = itemsize(x->dtype);
  return {start + static_cast<uintptr_t>(first * bytes),
          start + static_cast<uintptr_t>((last + 1) * bytes)};
}

bool overlap(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

bool is_writable_place(const Tensor* x) {
  return x->has_memory() && !x->buffer->is_readonly &&
         (x->is_contiguous || !x->layout().overlaps_itself());
}

bool is_number(PyObject* object) {
  return is_tensor(object) && as_tensor(object)->dtype == DType::float64 &&
         as_tensor(object)->ndim == 0 && as_tensor(object)->has_memory();
}

double number_of(PyObject* object) {
  double value;
  memcpy(&value, as_tensor(object)->data(), sizeof value);
  return value;
}

bool is_constant(PyObject* object, double* value) {
  if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !PyBool_Check(object))
    return false;
  *value = PyFloat_AsDouble(object);
  return !PyErr_Occurred() || (PyErr_Clear(), false);
}

bool are_alike(const Tensor* x, const Tensor* y) {
  if (x->ndim != y->ndim || x->dtype != y->dtype) return false;
  for (int i = 0; i < x->ndim; ++i)
    if (x->shape()[i] != y->shape()[i]) return false;
  return true;
}

bool is_listed(PyObject* list, Py_ssize_t length) {
  return PyList_CheckExact(list) && PyList_GET_SIZE(list) == length;
}

DType real_dtype(DType dtype) {
  if (kind(dtype) != DKind::complex) return dtype;
  return dtype == DType::complex64 ? DType::float32 : DType::float64;
}

}  // namespace

bool do_overlap(const Tensor* x, const Tensor* y) { return overlap(extent_of(x), extent_of(y)); }

bool Updates::add_settings(const UpdateInfo& info, PyObject* const* args) {
  UpdateSettings settings{};
  for (int i = 0; i < info.numbers; ++i) {
    if (!is_number(args[i])) return false;
    settings.numbers[i] = number_of(args[i]);
  }
  for (int i = 0; i < info.constants; ++i)
    if (!is_constant(args[info.numbers + i], &settings.constants[i])) return false;
  settings_.push_back(settings);
  for (int i = 0; is_repeated_ && i < info.numbers; ++i)
    numbers_.push_back({as_tensor(args[i]), &settings_.back().numbers[i]});
  return true;
}

bool Updates::add_counters(launch::UpdateItem* item, int count, PyObject* const* lists,
                           Py_ssize_t i) {
  for (int k = 0; k < count; ++k) {
    if (lists[k] == Py_None) continue;
    PyObject* counter = PyList_GET_ITEM(lists[k], i);
    if (!is_number(counter) || !is_writable_place(as_tensor(counter))) return false;
    item->counters[k] = as_tensor(counter)->data();
    tensors_.push_back(as_tensor(counter));
    written_.push_back(as_tensor(counter)->buffer);
  }
  return true;
}

// Contiguous operands are one run; of others, and of complex ones among them, the axes are kept.
void Updates::lay_out(launch::UpdateItem* item, Tensor* const* operands) {
  const Tensor* p = operands[0];
  int64_t parts = itemsize(p->dtype) / itemsize(item->dtype);  // 2 of a complex number
  bool is_contiguous = true;
  for (int k = 0; k < UPDATE_OPERANDS; ++k)
    is_contiguous &= !operands[k] || operands[k]->is_contiguous;
  item->size = p->size * parts;
  item->ndim = 1;
  if (is_contiguous) return;
  item->ndim = p->ndim + (parts > 1);
  auto append = [&](const int64_t* numbers, int64_t factor, int64_t last) {
    for (int i = 0; i < p->ndim; ++i) dims_.push_back(numbers[i] * factor);
    if (parts > 1) dims_.push_back(last);
  };
  append(p->shape(), 1, parts);
  for (int k = 0; k < UPDATE_OPERANDS; ++k)
    append((operands[k] ? operands[k] : p)->strides(), parts, 1);
  item->shape = dims_.data();  // known to have some: where they are is set before they are used
}

bool Updates::add_item(const UpdateInfo& info, UpdateOp op, PyObject* const* lists, Py_ssize_t i) {
  launch::UpdateItem item{};
  item.op = op;
  item.settings = &settings_.back();
  Tensor* operands[UPDATE_OPERANDS] = {};
  Extent extents[UPDATE_OPERANDS];
  for (int k = 0; k < 2 + info.states; ++k) {
    if (lists[k] == Py_None) continue;
    PyObject* object = PyList_GET_ITEM(lists[k], i);
    if (!is_tensor(object)) return false;
    Tensor* x = operands[k] = as_tensor(object);
    bool is_written = k != 1;
    if (!x->has_memory() || !are_alike(operands[0], x)) return false;
    if (is_written && !is_writable_place(x)) return false;
    extents[k] = extent_of(x);
    for (int j = 0; j < k; ++j)
      if (operands[j] && overlap(extents[j], extents[k])) return false;
    item.data[k] = x->data();
    tensors_.push_back(x);
    if (is_written) written_.push_back(x->buffer);
  }
  DKind of = kind(operands[0]->dtype);
  if (of != DKind::floating && of != DKind::complex) return false;
  item.dtype = real_dtype(operands[0]->dtype);
  if (of == DKind::complex && operands[0]->ndim == MAX_NDIM) return false;
  if (!add_counters(&item, info.counters, lists + 2 + info.states, i)) return false;
  lay_out(&item, operands);
  total_ += item.size;
  items_.push_back(item);
  if (!is_repeated_) return true;
  launch::UpdateItem& kept = items_.back();
  for (int k = 0; k < UPDATE_OPERANDS; ++k)
    if (operands[k]) aims_.push_back({operands[k], &kept.data[k]});
  for (int k = 0; k < info.counters; ++k)
    if (kept.counters[k])
      aims_.push_back(
          {as_tensor(PyList_GET_ITEM(lists[2 + info.states + k], i)), &kept.counters[k]});
  return true;
}

bool Updates::add(const UpdateCall& call) {
  auto [function, args, count] = call;
  const UpdateInfo& info = UPDATES[function->opcode];
  int lists = 2 + info.states + info.counters;
  if (count != lists + info.numbers + info.constants || !PyList_CheckExact(args[0])) return false;
  Py_ssize_t length = PyList_GET_SIZE(args[0]);
  for (int k = 1; k < lists; ++k)
    if (!is_listed(args[k], length) && (k == 1 || args[k] != Py_None)) return false;
  if (!add_settings(info, args + lists)) return false;
  auto more = static_cast<size_t>(length);
  items_.reserve(items_.size() + more);
  tensors_.reserve(tensors_.size() + more * static_cast<size_t>(lists));
  written_.reserve(written_.size() + more * static_cast<size_t>(lists - 1));
  for (Py_ssize_t i = 0; i < length; ++i) {
    if (PyList_GET_ITEM(args[1], i) == Py_None) continue;
    if (!add_item(info, static_cast<UpdateOp>(function->opcode), args, i)) return false;
  }
  return true;
}

// Whether what one item writes may be what another reads or writes.
bool Updates::are_entangled() {
  extents_.clear();
  for (const Tensor* x : tensors_) extents_.push_back(extent_of(x));
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < extents_.size(); ++i)
    if (overlap(extents_[i - 1], extents_[i])) return true;
  return false;
}

void Updates::reserve(size_t parameters, size_t operands) {
  items_.reserve(parameters);
  plans_.reserve(parameters);
  tensors_.reserve(operands);
  written_.reserve(operands);
  extents_.reserve(operands);
  aims_.reserve(operands);
  numbers_.reserve(operands);
}

void Updates::aim() {
  for (const Aim& each : aims_) *each.place = each.tensor->data();
  for (const Number& each : numbers_)
    memcpy(each.place, each.tensor->data(), sizeof(double));  // a 0-d float64
}

void Updates::run() {
  const int64_t* dims = dims_.data();
  for (launch::UpdateItem& item : items_) {
    if (!item.shape) continue;
    item.shape = dims;
    item.strides = dims + item.ndim;
    dims += item.ndim * (1 + UPDATE_OPERANDS);
  }
  plans_.resize(items_.size());
  bool in_order = total_ > launch::UPDATE_SHARED && are_entangled();
  for (Buffer* buffer : written_) mark_written(buffer);
  LongWork work(total_, {}, tensors_);
  launch::update(items_, plans_.data(), in_order);
}

namespace {

// Calls as they are repeated: tuples of arguments with other tensors in the places of those that
// were given, made once for a program.
class RepeatedUpdates {
 public:
  RepeatedUpdates(std::span<const UpdateCall> calls, std::vector<Tensor*>* written,
                  std::vector<Tensor*>* read)
      : updates_(calls.size(), true) {
    for (const UpdateCall& call : calls) {
      functions_.push_back(call.function);
      const UpdateInfo& info = UPDATES[call.function->opcode];
      int lists = 2 + info.states + info.counters;
      for (Py_ssize_t k = 0; k < call.count; ++k)
        keep(call.args[k], k < lists && k != 1 ? written : read, k < lists && k != 1);
      counts_.push_back(call.count);
    }
  }
  ~RepeatedUpdates() {
    for (Part& part : parts_) Py_XDECREF(part.plain);
    for (PyObject* argument : made_) Py_DECREF(argument);
  }
  RepeatedUpdates(const RepeatedUpdates&) = delete;
  RepeatedUpdates& operator=(const RepeatedUpdates&) = delete;

  // For the operands of the runs that follow.
  void prepare(Tensor* const* operands, size_t written) {
    updates_ = Updates(functions_.size(), true);
    is_added_ = false;
    make(operands, written);
    size_t longest = 0;
    for (const Part& part : parts_) longest = std::max(longest, part.at.size());
    updates_.reserve(functions_.size() * longest, parts_.size() * longest);  // at the most
  }

  void run(Tensor* const* operands, size_t written) {
    if (operands[0] != made_for_) prepare(operands, written);  // of another program
    if (is_added_) updates_.aim();
    PyObject* const* args = made_.data();
    for (size_t i = 0; !is_added_ && i < functions_.size(); ++i) {
      if (!updates_.add({functions_[i], args, counts_[i]}))
        fail_capture("an update whose tensors have changed", nullptr);
      args += counts_[i];
    }
    is_added_ = true;
    updates_.run();
  }

  std::string params;  // of the constants

 private:
  static constexpr int NONE = -1;
  // An argument: a list of tensors or None, one tensor, or anything else as it is.
  struct Part {
    PyObject* plain;
    bool is_list, is_written;
    std::vector<int> at;  // among the written or the read operands, or NONE
  };

  int number(PyObject* object, std::vector<Tensor*>* tensors) {
    if (!is_tensor(object)) return NONE;
    tensors->push_back(as_tensor(object));
    return static_cast<int>(tensors->size()) - 1;
  }

  void keep(PyObject* argument, std::vector<Tensor*>* tensors, bool is_written) {
    Part part{nullptr, static_cast<bool>(PyList_CheckExact(argument)), is_written, {}};
    if (part.is_list)
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(argument); ++i)
        part.at.push_back(number(PyList_GET_ITEM(argument, i), tensors));
    else if (is_tensor(argument))
      part.at.push_back(number(argument, tensors));
    else
      part.plain = Py_NewRef(argument), params += name_object(argument);
    if (part.is_list)
      for (int at : part.at) params += at == NONE ? " None" : "";
    parts_.push_back(std::move(part));
  }

  PyObject* tensor_at(const Part& part, int at, Tensor* const* operands, size_t written) const {
    if (at == NONE) return Py_NewRef(Py_None);
    size_t place = static_cast<size_t>(at) + (part.is_written ? 0 : written);
    return Py_NewRef(as_object(operands[place]));
  }

  void make(Tensor* const* operands, size_t written) {
    for (PyObject* argument : made_) Py_DECREF(argument);
    made_.clear();
    for (const Part& part : parts_) {
      if (part.plain) {
        made_.push_back(Py_NewRef(part.plain));
      } else if (!part.is_list) {
        made_.push_back(tensor_at(part, part.at[0], operands, written));
      } else {
        PyObject* list = PyList_New(static_cast<Py_ssize_t>(part.at.size()));
        if (!list) throw PythonError{};
        for (size_t i = 0; i < part.at.size(); ++i)
          PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i),
                          tensor_at(part, part.at[i], operands, written));
        PyObject_GC_UnTrack(list);  // nobody else is to find it
        made_.push_back(list);
      }
    }
    made_for_ = operands[0];  // alive as long as what was made: no other has its address
  }

  std::vector<Function*> functions_;
  std::vector<Py_ssize_t> counts_;
  std::vector<Part> parts_;
  std::vector<PyObject*> made_;
  Tensor* made_for_ = nullptr;
  bool is_added_ = false;
  Updates updates_;  // kept, as is its memory
};

void note_updates(Noted* noted, std::span<const UpdateCall> calls) {
  std::vector<Tensor*> written, read;
  auto repeated = std::make_shared<RepeatedUpdates>(calls, &written, &read);
  std::string name = "update";
  for (const UpdateCall& call : calls)
    name += std::string("_") + UPDATES[call.function->opcode].name;
  noted->take(name.c_str(), repeated->params, written, read,
              [repeated, count = written.size()](Tensor* const* operands, const Draw&) {
                repeated->run(operands, count);
              });
  noted->is_prepared_by([repeated, count = written.size()](Tensor* const* operands) {
    repeated->prepare(operands, count);
  });
}

}  // namespace

bool run_updates(std::span<const UpdateCall> calls) {
  Updates updates(calls.size());
  for (const UpdateCall& call : calls)
    if (!updates.add(call)) return false;
  Noted noted;
  if (is_taping()) note_updates(&noted, calls);
  if (!noted.is_rehearsed()) updates.run();
  return true;
}

PyObject* fast_update(Function* function, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords) {
  if (keywords || watches_values) return nullptr;
  return attempted([&]() -> PyObject* {
    UpdateCall call{function, args, count};
    return run_updates({&call, 1}) ? Py_NewRef(Py_None) : nullptr;
  });
}

bool fast_updates(PyObject* calls) {
  if (modes || watches_values || !PyList_CheckExact(calls)) return false;
  std::vector<UpdateCall> all;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); ++i) {
    PyObject* call = PyList_GET_ITEM(calls, i);
    if (!PyTuple_CheckExact(call) || PyTuple_GET_SIZE(call) != 2) return false;
    PyObject *function = PyTuple_GET_ITEM(call, 0), *args = PyTuple_GET_ITEM(call, 1);
    if (Py_TYPE(function) != function_type || as_function(function)->kind != FastKind::update ||
        !PyTuple_CheckExact(args))
      return false;
    all.push_back({as_function(function), reinterpret_cast<PyTupleObject*>(args)->ob_item,
                   PyTuple_GET_SIZE(args)});
  }
  if (!run_updates(all)) return false;
  counts.fast += PyList_GET_SIZE(calls);
  return true;
}

}  // namespace tessella
