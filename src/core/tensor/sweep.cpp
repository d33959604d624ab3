// See sweep.h.
#include "sweep.h"

#include <algorithm>
#include <map>
#include <vector>

#include "function.h"
#include "gradients.h"
#include "guard.h"
#include "operators.h"
#include "result.h"
#include "rules.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

uint32_t sweeps;  // so far; under the interpreter's lock

struct Root {
  PyObject* target;  // Node or leaf; owned
  int output;
};

struct Step {
  Node* node;  // owned until it was visited
  int inputs;  // when it was found
  int first_slot;
  int first_target;
  bool is_needed;  // its rules are to be called
};

class Sweep {
 public:
  // Where the roots come from is read once: a signal's handler may write into them meanwhile.
  explicit Sweep(const SweepRequest& request) : request_(request) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(request.roots); ++i) {
      Tensor* x = item(request.roots, i);
      roots_.push_back({Py_NewRef(x->node ? x->node : as_object(x)), x->output});
    }
  }
  ~Sweep() {
    forget();
    for (Root& root : roots_) Py_DECREF(root.target);
    for (PyObject* pairs : kept_) Py_DECREF(pairs);
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  PyObject* sources() {
    prepare();
    PyObject* found = PyList_New(0);
    if (!found) throw PythonError{};
    try {
      list_ends(found);
    } catch (...) {
      Py_DECREF(found);
      throw;
    }
    return found;
  }

  PyObject* run() {
    prepare();
    choose();
    begin();
    GradMode mode(request_.creates);
    for (size_t i = steps_.size(); i-- > 0;) visit(steps_[i]);
    return request_.wanted == Py_None ? update_leaves() : collect();
  }

 private:
  static Tensor* item(PyObject* tuple, Py_ssize_t i) {
    return as_tensor(PyTuple_GET_ITEM(tuple, i));
  }

  // --- the graph ---

  void list_ends(PyObject* found) {
    std::vector<bool> is_listed(slots_.size());
    for (const Step& step : steps_)
      for (int i = 0; i < step.inputs; ++i) {
        int target = targets_[static_cast<size_t>(step.first_target + i)];
        bool is_end = target >= static_cast<int>(inner_slots_);
        if (!is_end || is_listed[static_cast<size_t>(target)]) continue;
        if (step.node->inputs != step.inputs) fail_used(step.node);
        is_listed[static_cast<size_t>(target)] = true;
        Result stub(stand_in(step.node->edges[i]));
        if (PyList_Append(found, as_object(stub.get())) < 0) throw PythonError{};
      }
  }

  void forget() {
    for (Step& step : steps_) Py_XDECREF(step.node);
    for (PyObject* end : ends_) Py_DECREF(end);
    for (PyObject* gradient : slots_) Py_XDECREF(gradient);
    steps_.clear();
    targets_.clear();
    slots_.clear();
    ends_.clear();
    end_slots_.clear();
    root_slots_.clear();
  }

  // Nodes remember one sweep. One that a signal's handler began meanwhile has taken our marks.
  void prepare() {
    do {
      forget();
      discover();
      number_slots();
      connect();
    } while (sweeps != id_);
  }

  // Ctrl-C is answered also in a long graph.
  void look_at_signals() {
    constexpr uint32_t EACH = 1 << 14;
    if (++looks_ % EACH == 0 && PyErr_CheckSignals() < 0) throw PythonError{};
  }

  void enter(PyObject* object, std::vector<Node*>* pending) {
    Node* node = as_node(object);
    if (node->sweep == id_ || node->sequence <= request_.since) return;
    if (is_taping()) tape->note_node(node);
    if (node->is_used) fail_used(node);
    node->sweep = id_;
    steps_.push_back({as_node(Py_NewRef(object)), node->inputs, 0, 0, true});
    pending->push_back(node);
  }

  void discover() {
    id_ = ++sweeps ? sweeps : ++sweeps;  // 0 is that of new nodes
    std::vector<Node*> pending;
    for (const Root& root : roots_)
      if (is_node(root.target)) enter(root.target, &pending);
    while (!pending.empty()) {
      look_at_signals();
      Node* node = pending.back();
      pending.pop_back();
      for (int i = 0; i < node->inputs; ++i)
        if (node->edges[i].target && is_node(node->edges[i].target))
          enter(node->edges[i].target, &pending);
    }
    std::sort(steps_.begin(), steps_.end(),
              [](const Step& x, const Step& y) { return x.node->sequence < y.node->sequence; });
  }

  void number_slots() {
    int slots = 0, targets = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].node->place = static_cast<uint32_t>(i);
      steps_[i].first_slot = slots;
      steps_[i].first_target = targets;
      slots += steps_[i].node->outputs;
      targets += steps_[i].inputs;
    }
    slots_.resize(static_cast<size_t>(slots));
    inner_slots_ = slots_.size();
    targets_.reserve(static_cast<size_t>(targets));
  }

  int slot_of_end(PyObject* target, int output) {
    auto next = static_cast<int>(slots_.size());
    auto [found, is_new] = end_slots_.try_emplace({target, output}, next);
    if (is_new) {
      ends_.push_back(Py_NewRef(target));
      slots_.push_back(nullptr);
    }
    return found->second;
  }

  // -1: nothing flows there.
  int slot_of(PyObject* target, int output) {
    if (!target) return -1;
    if (!is_node(target)) return slot_of_end(target, 0);
    if (as_node(target)->sequence <= request_.since) return slot_of_end(target, output);
    if (as_node(target)->sweep != id_) return -1;
    return steps_[as_node(target)->place].first_slot + output;
  }
  int slot_of(Tensor* x) { return slot_of(x->node ? x->node : as_object(x), x->output); }

  void connect() {
    for (const Step& step : steps_) {
      look_at_signals();
      if (step.node->inputs != step.inputs) fail_used(step.node);  // a thread has freed it since
      for (int i = 0; i < step.inputs; ++i)
        targets_.push_back(slot_of(step.node->edges[i].target, step.node->edges[i].output));
    }
    for (const Root& root : roots_) root_slots_.push_back(slot_of(root.target, root.output));
  }

  // Where gradients of some tensors are wanted: what does not lead there need not be visited.
  void choose() {
    if (request_.wanted == Py_None) return;
    is_kept_.resize(slots_.size());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(request_.wanted); ++i) {
      int found = slot_of(item(request_.wanted, i));
      bool is_reached = found >= 0 && static_cast<size_t>(found) < is_kept_.size();
      wanted_slots_.push_back(is_reached ? found : -1);
      if (is_reached) is_kept_[static_cast<size_t>(found)] = true;
    }
    std::vector<bool> leads = is_kept_;  // those of `wanted` that nothing leads to came after
    for (Step& step : steps_) {
      step.is_needed = false;
      for (int i = 0; i < step.inputs; ++i) {
        int& target = targets_[static_cast<size_t>(step.first_target + i)];
        if (target >= 0 && !leads[static_cast<size_t>(target)]) target = -1;
        step.is_needed |= target >= 0;
      }
      for (int i = 0; step.is_needed && i < step.node->outputs; ++i)
        leads[static_cast<size_t>(step.first_slot + i)] = true;
    }
  }

  void begin() {
    for (size_t i = 0; i < root_slots_.size(); ++i) {
      PyObject* given = PyTuple_GET_ITEM(request_.gradients, static_cast<Py_ssize_t>(i));
      PyObject* gradient = given == Py_None
                               ? ones_like(item(request_.roots, static_cast<Py_ssize_t>(i)))
                               : Py_NewRef(given);
      arrive(root_slots_[i], gradient);
    }
  }

  static PyObject* ones_like(Tensor* x) {
    if (x->is_virtual()) {
      size_t bytes = static_cast<size_t>(x->size * itemsize(x->dtype));
      return as_object(
          make_over(make_virtual_buffer(bytes), x->dtype, Layout::contiguous(x->sizes())));
    }
    Result out(make_tensor(x->dtype, x->sizes()));
    Scalar one;
    store_scalar(Py_True, x->dtype, &one);
    run_fill(out.get(), one.bytes, true);
    return out.give();
  }

  PyObject*& slot(int number) { return slots_[static_cast<size_t>(number)]; }

  // The leaf of an edge, or a tensor without memory that stands for the result of its node.
  static Tensor* stand_in(const Edge& edge) {
    if (!is_node(edge.target)) return as_tensor(Py_NewRef(edge.target));
    Layout layout = Layout::contiguous({edge.shape.data(), edge.ndim});
    size_t bytes = static_cast<size_t>(layout.size() * itemsize(edge.dtype));
    Tensor* out = make_over(make_virtual_buffer(bytes), edge.dtype, layout);
    out->node = Py_NewRef(edge.target);
    out->output = edge.output;
    out->requires_grad = true;
    return out;
  }

  // --- one operation ---

  void visit(Step& step) {
    Node* node = step.node;
    if (node->is_used) fail_used(node);  // by another thread, since it was found
    {
      Visit visit(node);
      visit_alive(step);
      // What does not lead to what is wanted was not used: it stays for another sweep.
      if (!request_.retains && step.is_needed) node->is_used = true;
    }
    step.node = nullptr;
    Py_DECREF(node);
  }

  bool is_reached(const Step& step) {
    for (int i = 0; i < step.node->outputs; ++i)
      if (slot(step.first_slot + i)) return true;
    return false;
  }

  void visit_alive(Step& step) {
    Node* node = step.node;
    if (is_reached(step) && node->hooks) call_hooks(step);
    if (is_reached(step) && step.is_needed) pull(step);
    for (int i = 0; i < node->outputs; ++i)
      if (is_kept_.empty() || !is_kept_[static_cast<size_t>(step.first_slot + i)])
        Py_CLEAR(slot(step.first_slot + i));
  }

  PyObject* gradients_of(const Step& step) {
    PyObject* tuple = PyTuple_New(step.node->outputs);
    if (!tuple) throw PythonError{};
    for (int i = 0; i < step.node->outputs; ++i) {
      PyObject* gradient = slot(step.first_slot + i);
      PyTuple_SET_ITEM(tuple, i, Py_NewRef(gradient ? gradient : Py_None));
    }
    return tuple;
  }

  // Calls `callable(*first, gradients)`; gives a tuple or list with so many items.
  PyObject* call_with_gradients(const Step& step, PyObject* callable, PyObject* first,
                                Py_ssize_t count) {
    PyObject* gradients = gradients_of(step);
    PyObject* out = first ? PyObject_CallFunctionObjArgs(callable, first, gradients, nullptr)
                          : PyObject_CallOneArg(callable, gradients);
    Py_DECREF(gradients);
    if (!out) throw PythonError{};
    if ((PyTuple_Check(out) || PyList_Check(out)) && PySequence_Fast_GET_SIZE(out) == count)
      return out;
    Py_DECREF(out);
    PyErr_BadInternalCall();
    throw PythonError{};
  }

  void call_hooks(Step& step) {
    // The gradients, and last the pairs of results that keep theirs.
    PyObject* hooks = step.node->hooks;
    PyObject* given = call_with_gradients(step, hooks, nullptr, step.node->outputs + 1);
    kept_.push_back(Py_NewRef(PySequence_Fast_GET_ITEM(given, step.node->outputs)));
    for (int i = 0; i < step.node->outputs; ++i) {
      PyObject* gradient = PySequence_Fast_GET_ITEM(given, i);
      Py_XSETREF(slot(step.first_slot + i), gradient == Py_None ? nullptr : Py_NewRef(gradient));
    }
    Py_DECREF(given);
    for (int i = 0; i < step.node->outputs; ++i)
      if (PyObject* gradient = slot(step.first_slot + i)) check_gradient(gradient);
  }

  void pull(Step& step) {
    try {
      Function* function = as_function(step.node->function);
      if (!function->rules)
        pull_by_record(step);
      else if (function->rules->front().is_listed)
        pull_list(step, function->rules->front());
      else
        pull_each(step, *function->rules);
    } catch (const PythonError&) {
      add_context(step.node);
      throw;
    }
  }

  void pull_each(Step& step, const std::vector<Rule>& rules) {
    for (int i = 0; i < step.node->inputs; ++i) {
      int target = targets_[static_cast<size_t>(step.first_target + i)];
      const Rule& rule = rules[static_cast<size_t>(i)];
      if (target < 0 || !rule.callable) continue;
      give(step, i, call_rule(step.node, rule, slot(step.first_slot), request_.creates));
    }
  }

  void pull_list(Step& step, const Rule& rule) {
    give_all(step, call_rule(step.node, rule, slot(step.first_slot), request_.creates));
  }

  void pull_by_record(Step& step) {
    static PyObject* const name = PyUnicode_InternFromString("pull");
    PyObject* method = PyObject_GetAttr(as_function(step.node->function)->record, name);
    if (!method) throw PythonError{};
    PyObject* parts = nullptr;
    try {
      parts = call_with_gradients(step, method, reinterpret_cast<PyObject*>(step.node),
                                  step.node->inputs);
    } catch (...) {
      Py_DECREF(method);
      throw;
    }
    Py_DECREF(method);
    give_all(step, parts);
  }

  // Takes over a list or tuple of gradients, one for each input.
  void give_all(Step& step, PyObject* parts) {
    try {
      for (int i = 0; i < step.node->inputs; ++i)
        give(step, i, Py_NewRef(PySequence_Fast_GET_ITEM(parts, i)));
    } catch (...) {
      Py_DECREF(parts);
      throw;
    }
    Py_DECREF(parts);
  }

  // Takes over the gradient of input i.
  void give(Step& step, int i, PyObject* part) {
    int target = targets_[static_cast<size_t>(step.first_target + i)];
    if (target < 0 || part == Py_None) return Py_DECREF(part);
    const Edge& edge = step.node->edges[i];
    part = conform(part, {edge.shape.data(), edge.ndim}, edge.dtype);
    arrive(target, part);
  }

  // Takes over a gradient.
  void arrive(int target, PyObject* part) {
    if (!request_.in_parts || !is_kept_[static_cast<size_t>(target)])
      return add_gradient(&slot(target), part);
    PyObject*& list = slot(target);
    if (!list) list = PyList_New(0);
    int failed = list ? PyList_Append(list, part) : -1;
    Py_DECREF(part);
    if (failed) throw PythonError{};
  }

  // Says in whose gradient an error was raised.
  static void add_context(Node* node) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    auto* self = reinterpret_cast<PyObject*>(node);
    PyObject* done = PyObject_CallFunctionObjArgs(hook(Hook::context), self, value, nullptr);
    if (!done) PyErr_Clear();
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
  }

  // --- the end ---

  PyObject* update_leaves() {
    for_each_leaf([](Tensor* leaf, PyObject** gradient) { call_leaf_hooks(leaf, gradient); });
    LeafUpdates updates;
    std::vector<PyObject*> told;  // of ends_
    for_each_leaf([&](Tensor* leaf, PyObject** gradient) {
      PyObject* taken = *gradient;
      *gradient = nullptr;
      updates.prepare(leaf, taken);
      if (leaf->hooks) told.push_back(as_object(leaf));
    });
    prepare_kept(&updates);
    updates.commit();
    for (PyObject* leaf : told) {
      PyObject* hooks = as_tensor(leaf)->hooks;
      PyObject* done = hooks ? PyObject_CallMethod(hooks, "finish", "O", leaf) : Py_NewRef(Py_None);
      if (!done) throw PythonError{};
      Py_DECREF(done);
    }
    Py_RETURN_NONE;
  }

  void prepare_kept(LeafUpdates* updates) {
    for (PyObject* pairs : kept_) updates->prepare_pairs(pairs);
  }

  template <class F>
  void for_each_leaf(F&& body) {
    for (PyObject* end : ends_)
      if (is_tensor(end))
        if (PyObject** gradient = &slot(end_slots_[{end, 0}]); *gradient)
          body(as_tensor(end), gradient);
  }

  static void call_leaf_hooks(Tensor* leaf, PyObject** gradient) {
    if (!leaf->hooks) return;
    PyObject* changed = PyObject_CallOneArg(leaf->hooks, *gradient);
    if (!changed) throw PythonError{};
    Py_SETREF(*gradient, changed);
    check_gradient(changed);
  }

  PyObject* collect() {
    if (!request_.passes_on)
      for_each_leaf([](Tensor* leaf, PyObject** gradient) { call_leaf_hooks(leaf, gradient); });
    LeafUpdates updates;
    prepare_kept(&updates);
    updates.commit();
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(wanted_slots_.size()));
    if (!tuple) throw PythonError{};
    for (size_t i = 0; i < wanted_slots_.size(); ++i) {
      PyObject* gradient = wanted_slots_[i] < 0 ? nullptr : slot(wanted_slots_[i]);
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(gradient ? gradient : Py_None));
    }
    return tuple;
  }

  [[noreturn]] static void fail_used(Node* node) {
    std::string line = to_text(Site{node->code, node->instruction});
    const char* name = PyUnicode_AsUTF8(as_function(node->function)->name);
    fail_graph_used(name ? name : "", line);
  }

  const SweepRequest& request_;
  uint32_t id_ = 0, looks_ = 0;
  std::vector<Root> roots_;
  std::vector<PyObject*> kept_;  // pairs of a result that keeps its gradient, and the gradient
  std::vector<Step> steps_;
  std::vector<int> targets_;      // the slot of each input of each step
  std::vector<PyObject*> slots_;  // a gradient for each result of each step, then of each leaf
  std::vector<PyObject*> ends_;   // leaves, and operations that are not visited
  std::map<std::pair<PyObject*, int>, int> end_slots_;
  size_t inner_slots_ = 0;  // the slots of steps
  std::vector<int> root_slots_, wanted_slots_;
  std::vector<bool> is_kept_;  // gradients that are wanted
};

}  // namespace

PyObject* sweep(const SweepRequest& request) { return Sweep(request).run(); }

PyObject* sources_of(PyObject* roots, uint64_t since) {
  SweepRequest request{roots, roots, Py_None, true, false, since};
  return Sweep(request).sources();
}

}  // namespace tessella
