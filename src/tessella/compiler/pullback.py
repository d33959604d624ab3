"""pullback: the gradient of a recorded call, as a second program over the same recording.

A call whose results are part of a graph is recorded together with the gradients of its results by
what flows into it: arguments, and leaves that it captured. Its repetition is one node; what the
second program needs of the first is kept with that node.
"""

from __future__ import annotations

from tessella import _core
from tessella.compiler import capture_errors
from tessella.compiler.program import (
    ARENA,
    ARGUMENT,
    CAPTURED,
    GRADIENT,
    RESULT,
    Memory,
    Operand,
    Output,
    Program,
)
from tessella.dtypes import uint8
from tessella.functions import Call, Function
from tessella.hints import Any
from tessella.ops.creation import copy_of, ones

Tensor = _core.Tensor


class Pull:
    """The gradients of one recorded call."""

    def __init__(self, program: Program, inputs: list[Any], opened: int) -> None:
        self.program = program  # its arguments: those of the call, what was saved, the cotangent
        self.inputs = inputs  # the number of an argument, or a leaf
        self.opened = opened  # which output of the call has a gradient
        self.saved: list[int] = []  # memories of the first program that it reads
        self.captured: list[Any] = []  # memory that was there, as bytes: it must stay as it is

    def meaning(self) -> list[Any]:
        """Give what two recordings must agree in."""
        inputs = [each if isinstance(each, int) else id(each) for each in self.inputs]
        return [*self.program.meaning(), inputs, self.opened]


def is_open(x: Any) -> bool:
    """Tell whether gradients can still flow into a result."""
    return bool(x.requires_grad) and not (x.grad_fn is not None and x.grad_fn.is_used)


def sources_of(result: Any, since: int, tensors: list[Any]) -> list[Any] | None:
    """Find what gradients flow to: the number of an argument, or a leaf.

    None if the graph cannot be cut there: it goes on into what was recorded before the call, or
    somebody looks at the gradients inside of it.
    """
    if _is_looked_at(result, since):
        return None
    found: list[Any] = []
    for source in _core.sources_of((result,), since):
        if source.grad_fn is None and _core.leaf_hooks(source) is not None:
            return None
        numbers = [i for i, x in enumerate(tensors) if _is_same(x, source)]
        if not numbers and source.grad_fn is not None:
            return None
        found.append(numbers[0] if numbers else source)
    return found


def _is_same(x: Any, source: Any) -> bool:
    """Tell whether a source is an argument: the leaf itself, or what stands for a result."""
    if source.grad_fn is None:
        return x is source
    return x.grad_fn is source.grad_fn and _core.output_of(x) == _core.output_of(source)


def _is_looked_at(result: Any, since: int) -> bool:
    stack, seen = [result.grad_fn], set()
    while stack:
        node = stack.pop()
        if not isinstance(node, _core.Node) or id(node) in seen or node.sequence <= since:
            continue
        if node.hooks is not None or isinstance(node.function.record, Call):
            return True  # a user's backward may do anything, and is to do it when asked
        seen.add(id(node))
        stack += node.inputs
    return False


def pull(
    recording: Any, result: Any, sources: list[Any], tensors: list[Any], since: int
) -> tuple[int, Any, list[Any], list[Any]]:
    """Record the gradients: where their instructions begin, the cotangent, inputs, gradients.

    Each gradient that arrives at an input is one: they are added up outside, in the order in which
    the parts of the graph would add them.
    """
    cotangent = ones(result.shape, dtype=result.dtype)
    recording.mark_given(cotangent)
    start = len(recording.instructions())
    targets = tuple([tensors[each] if isinstance(each, int) else each for each in sources])
    found = _core.sweep((result,), (cotangent,), targets, True, False, since, True)
    inputs, gradients = [], []
    for source, parts in zip(sources, found, strict=True):
        for part in parts or ():
            inputs.append(source)
            gradients.append(part)
    return start, cotangent, inputs, gradients


def describe(
    forward: Program, backward: Program, recording: Any, tensors: list[Any], cotangent: Any,
    gradients: list[Any],
) -> tuple[list[int], list[Any]] | None:  # fmt: skip
    """Say what the memories of the second program are; give those of the first that it reads.

    None if it reads what may be gone by then.
    """
    saved: list[int] = []
    captured: list[Any] = []
    used = {operand.slot for each in backward.instructions for operand in each.operands}
    places = [None if g is None else Operand(*recording.place_of(g)) for g in gradients]
    used.update(place.slot for place in places if place is not None)
    given = recording.slot_of(cotangent)
    made = {x.slot for each in forward.instructions for x in each.writes()}
    rows = recording.slots()
    if any(slot in forward.memories and forward.memories[slot].source == GRADIENT for slot in used):
        return None  # a leaf may have another gradient by then
    for slot in sorted(used):
        bytes_, _, is_written, _, number, overlaps = rows[slot]
        source = forward.memories[slot].source if slot in forward.memories else ARENA
        memory = Memory(bytes_, source, slot, number, is_written, overlaps)
        if slot == given:
            continue
        if source in (ARENA, RESULT) and slot in made:
            memory.source, memory.index = ARGUMENT, len(tensors) + len(saved)
            saved.append(slot)
        elif source == ARGUMENT:
            memory.index, memory.offset = (
                forward.memories[slot].index,
                forward.memories[slot].offset,
            )
        elif source == CAPTURED:
            captured.append(recording.bytes_of(slot))
        else:
            memory.source = ARENA
        backward.memories[slot] = memory
    bytes_, _, _, _, number, _ = rows[given]
    index = len(tensors) + len(saved)
    backward.memories[given] = Memory(bytes_, ARGUMENT, index, number, False, False)
    results = 0
    for place in places:
        backward.outputs.append(Output(place))
        if place is not None and backward.memories[place.slot].source == ARENA:
            backward.memories[place.slot].source = RESULT
            backward.memories[place.slot].index = results
            results += 1
    backward.structure = list(range(len(places)))
    return saved, captured


def save(program: Program, slots: list[int]) -> None:
    """Make memories of a program results, so that they outlive it."""
    results = sum(memory.source == RESULT for memory in program.memories.values())
    for slot in slots:
        memory = program.memories[slot]
        if memory.source != RESULT:
            memory.source, memory.index = RESULT, results
            results += 1
        program.outputs.append(Output(Operand(slot, uint8.id, 0, (memory.bytes,), (1,))))


class Repeated(Function):
    """A repeated call, as one node."""

    @staticmethod
    def forward(ctx: Any, runnable: Any, tensors: list[Any], arena: Any, *inputs: Any) -> Any:
        """Run the first program; keep what the second one needs."""
        pulled: Pull = runnable.program.pull
        leaves = runnable.run_leaves(tensors, arena)
        own = len(leaves) - len(pulled.saved)
        ctx.runnable, ctx.starts, ctx.count = runnable, runnable.starts, len(inputs)
        ctx.save_for_backward(*tensors, *leaves[own:], *pulled.captured)
        ctx.set_materialize_grads(False)
        outs = leaves[:own]
        closed = [x for i, x in enumerate(outs) if isinstance(x, Tensor) and i != pulled.opened]
        ctx.mark_non_differentiable(*closed)
        return tuple(outs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the second program."""
        pulled: Pull = ctx.runnable.program.pull
        if _core.is_grad_enabled():
            raise capture_errors.second_derivative()
        g = gradients[pulled.opened]
        plain = g if g.is_contiguous and g.offset == 0 else copy_of(g)
        count = len(ctx.saved_tensors) - len(pulled.captured)
        found = ctx.runnable.run_back([*ctx.saved_tensors[:count], plain], ctx.starts)
        return None, None, None, *found
