// The rules of gradients: Python functions, called with what they ask for by name.
#pragma once

#include "function.h"
#include "node.h"

namespace tessella {

// From a tuple with an entry for each rule: None, or a callable and what it asks for: a string is a
// parameter, a number 256 * source + index. nullptr with a Python error set.
std::vector<Rule>* read_rules(PyObject* source);
void forget_rules(std::vector<Rule>& rules);

// What a rule gives for the gradient g of the node's result: a new reference. Saved tensors are
// attached to who made them if the call is to be recorded. Throws PythonError.
PyObject* call_rule(Node* node, const Rule& rule, PyObject* g, bool attaches);

}  // namespace tessella
