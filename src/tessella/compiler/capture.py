"""capture: runs a function as it is, and gives what it did as a program.

The core notes every operation that writes elements (tensor/tape.h). Here it is said what the
memories are, what the call leaves behind, and what makes a call impossible to repeat.
"""

from __future__ import annotations

import contextlib
import gc
import sys

from tessella import _core
from tessella.compiler import capture_errors, cuts, pullback
from tessella.compiler.capture_errors import AsWritten
from tessella.compiler.frames import watched
from tessella.compiler.program import (
    ARENA,
    ARGUMENT,
    CAPTURED,
    GRADIENT,
    RESULT,
    Instruction,
    Memory,
    Operand,
    Output,
    Program,
    View,
)
from tessella.compiler.restless import is_source
from tessella.compiler.watch import Watch
from tessella.dtypes import DType
from tessella.exceptions import PACKAGE, CaptureError, InvalidArgument, site_parts
from tessella.hints import Any, Callable
from tessella.trees import flatten, outline

Tensor = _core.Tensor
_VALUES = (int, float, complex, str, bytes, type(None), DType)


class Captured:
    """A call that was recorded: what it gave, and the program, or why there is none."""

    def __init__(self, box: list[Any], watch: Watch) -> None:
        self._box = box  # no name: who else holds a result is counted
        self.program: Program | None = None
        self.why: AsWritten | None = None
        self.watch = watch

    @property
    def result(self) -> Any:
        """What the function gave."""
        return self._box[0]


def capture(
    function: Callable[..., Any], args: Any, keywords: Any, tensors: list[Any],
    recording: Any = None,
) -> Captured:  # fmt: skip
    """Call a function and record it; `tensors` are those among its arguments."""
    recording = _core.Recording() if recording is None else recording
    since = _core.recorded()
    recording.begin()
    try:
        for x in tensors:
            recording.add_argument(x)
        graphs = [(x.requires_grad, x.grad_fn) for x in tensors]
        try:
            before = _around(args, keywords)
            watch = Watch(function)
        except CaptureError as error:
            raise error.locate(name_of(function), []) from None
        with watched(watch):
            box = [function(*args, **keywords)]
        for refusal in watch.raised:
            if isinstance(refusal, CaptureError):  # which the function has caught
                raise placed(refusal.with_traceback(None), function)
        captured = Captured(box, watch)
        try:
            if graphs != [(x.requires_grad, x.grad_fn) for x in tensors]:
                raise AsWritten("an argument becomes part of a graph")
            after = _around(args, keywords)
            for was, now, why in zip(before, after, _CHANGES, strict=True):
                if was != now:
                    raise AsWritten(why)
            if watch.restless or any(map(is_source, _leaves(args, keywords))):
                name = watch.restless or "an argument"
                raise AsWritten(f"{name} may give something else at each call")
            if watch.raised:
                raise AsWritten(f"it catches an error: {watch.raised[0].what}")
            if any(_core.leaf_hooks(x) is not None for x in tensors):
                raise AsWritten("an argument has a hook")
            if recording.reaches_out():
                raise AsWritten("it uses or changes graphs or hooks from before the call")
            if watch.has_toggled():
                raise AsWritten("requires_grad of a tensor that it uses is changed")
            if watch.has_missed:
                raise AsWritten("it reaches more than can be watched, or is profiled inside")
            if watch.has_loaded:
                raise AsWritten("a module is imported")
            if watch.bumped_at:  # a repeated call would not do it
                why = "it changes a module, a parameter group or a mode, by train(), eval(), …"
                raise AsWritten(why, watch.bumped_at)
            captured.program = _describe(recording, box, tensors, since)
        except AsWritten as error:
            captured.why = error.with_traceback(None)
        except CaptureError as error:
            raise placed(error, function) from None
        return captured
    finally:
        recording.end()


_CHANGES = (
    "it leaves gradients switched on or off",
    "it leaves another number of threads",
    "it changes a container among its arguments",
)


def _around(args: Any, keywords: Any) -> tuple[Any, ...]:
    """Give what a call must leave as it was, in the order of _CHANGES."""
    return _core.is_grad_enabled(), _core.num_threads(), list(map(id, _leaves(args, keywords)))


def _leaves(args: Any, keywords: Any) -> list[Any]:
    try:
        return flatten((args, keywords))[0]
    except (InvalidArgument, RecursionError):
        raise capture_errors.too_deep("its arguments") from None


def _describe(recording: Any, box: list[Any], tensors: list[Any], since: int) -> Program:
    """Give the program, with its gradients if results are part of a graph."""
    with contextlib.suppress(InvalidArgument, RecursionError):  # what is too deep is told below
        recording.forget_temporaries(flatten(box[0])[0])
    if not recording.asked_alike():
        raise AsWritten("requires_grad of a tensor that it uses is changed")
    program = Program(recording)
    program.instructions = [Instruction(i, row) for i, row in enumerate(recording.instructions())]
    _add_memories(program, recording, tensors)
    opened = _add_outputs(program, recording, box, tensors)
    _add_gradients(program, recording, tensors)
    if opened:
        leaves = flatten(box[0])[0]
        pullback.record(recording, program, {i: leaves[i] for i in opened}, tensors, since)
        program.saved = sorted({slot for pull in program.pulls for slot in pull.saved})
        del leaves
    _refuse_leaks(program, recording, program.saved)
    _add_drawings(program, recording.drawings())
    pullback.save(program)
    return program


def _add_memories(program: Program, recording: Any, tensors: list[Any]) -> None:
    """Say what the memories are."""
    for slot, (bytes_, is_made, is_written, _, *facts) in enumerate(recording.slots()):
        number, overlaps = facts
        source = ARENA if is_made else CAPTURED
        program.memories[slot] = Memory(bytes_, source, slot, number, is_written, overlaps)
    for leaf, (tensor, number, before, *_) in enumerate(recording.leaves()):
        # Held by the recording, its list, the name here, and the question.
        if number < 0 and sys.getrefcount(tensor) - recording.holds(tensor) <= 4:
            raise AsWritten("a view that it makes of memory from elsewhere gets a gradient")
        program.leaves.append(tensor if number < 0 else number)
        program.befores.append(before)
        if before >= 0 and program.memories[before].source != CAPTURED:
            raise AsWritten("one tensor is the gradient of two leaves")
        if before >= 0:
            program.memories[before].source = GRADIENT
            program.memories[before].index = leaf
    for i, x in reversed(list(enumerate(tensors))):  # of several over one memory the first counts
        memory = program.memories[recording.slot_of(x)]
        if memory.source == GRADIENT:
            raise AsWritten("an argument is the gradient of a leaf")
        memory.source, memory.index = ARGUMENT, i
        memory.offset = recording.place_of(x)[2] * x.itemsize  # to read x.offset would be noted


def _add_outputs(program: Program, recording: Any, box: list[Any], tensors: list[Any]) -> list[int]:
    """Say what the results are; give those that gradients can flow into."""
    try:
        leaves, rebuild = flatten(box[0])
        program.structure = rebuild(list(range(len(leaves))))
        is_kept = outline(program.structure) == outline(box[0])
    except (InvalidArgument, RecursionError):
        raise capture_errors.too_deep("its results") from None
    if not is_kept:
        raise capture_errors.wrong_container()
    if _is_decorated(box[0]):
        raise AsWritten("a container of its results has attributes")
    opened = []
    for i in range(len(leaves)):
        out = _plain_output(program, leaves, i, tensors)
        if out is None:
            out = _made_output(program, recording, leaves, i)
            if out.operand is not None and cuts.is_open(leaves[i]):
                opened.append(i)
        program.outputs.append(out)
    for i, out in enumerate(program.outputs):
        # One that gradients flow into is a tensor of its own: its graph is one node.
        if out.operand is not None and not cuts.is_open(leaves[i]):
            out.view = _view(program, recording, leaves, leaves[i], tensors)
    results = 0
    for out in program.outputs:
        memory = None if out.operand is None else program.memories[out.operand.slot]
        if memory is not None and memory.source == ARENA:
            memory.source, memory.index = RESULT, results
            results += 1
    return opened


def _is_decorated(tree: Any) -> bool:
    """Tell whether a container has attributes beside what it holds, or one in it."""
    parts = tree.values() if isinstance(tree, dict) else tree
    if not isinstance(tree, dict | list | tuple):
        return False
    return bool(getattr(tree, "__dict__", None)) or any(map(_is_decorated, parts))


def _plain_output(program: Program, leaves: list[Any], i: int, tensors: list[Any]) -> Output | None:
    """Give a result that is a value, an argument, a gradient, or another result; else None."""
    if not isinstance(leaves[i], Tensor):
        if not isinstance(leaves[i], _VALUES):
            raise capture_errors.wrong_result(leaves[i])
        return Output(value=leaves[i])
    for k in range(len(tensors)):
        if tensors[k] is leaves[i]:
            return Output(index=k)
    for k in range(i):
        if leaves[k] is leaves[i]:
            return Output(same=k)
    for k in range(len(program.leaves)):
        if program.leaf(k, tensors).grad is leaves[i]:
            return Output(leaf=k)
    return None


def _made_output(program: Program, recording: Any, leaves: list[Any], i: int) -> Output:
    """Give a result that the function made, or an object that was there."""
    operand = Operand(*recording.place_of(leaves[i]))
    is_made = operand.slot >= 0 and program.memories[operand.slot].source in (ARENA, RESULT)
    if sys.getrefcount(leaves[i]) > _expected(leaves, i) + recording.holds(leaves[i]):
        if not is_made:
            return Output(value=leaves[i])
        raise capture_errors.kept_inside(_site_of(program, operand.slot))
    if leaves[i].grad is not None:
        raise AsWritten("a result has a gradient", _line_of(program, operand.slot))
    if is_made and type(leaves[i]) is not Tensor:
        raise AsWritten(f"a result is a {type(leaves[i]).__name__}, and no plain tensor")
    if cuts.is_open(leaves[i]) and not is_made:
        raise AsWritten("gradients flow into a result that is a view of memory from elsewhere")
    if operand.slot < 0:  # a view of memory that no operation has used
        recording.slot_of(leaves[i])
        operand = Operand(*recording.place_of(leaves[i]))
        bytes_, _, _, _, number, overlaps = recording.slots()[operand.slot]
        memory = Memory(bytes_, CAPTURED, operand.slot, number, False, overlaps)
        program.memories[operand.slot] = memory
    used_up = leaves[i].requires_grad and not cuts.is_open(leaves[i])
    return Output(operand, leaves[i].grad_fn if used_up else None)


def _view(
    program: Program, recording: Any, leaves: list[Any], x: Any, tensors: list[Any]
) -> View | None:
    """Say what a result is a view of."""
    base = _core.base_of(x)
    if base is None:
        return None
    place = Operand(*recording.place_of(base))
    is_made = program.memories[place.slot].source in (ARENA, RESULT)
    views = {id(_core.base_of(leaves[k])): out.view for k, out in enumerate(program.outputs)
             if out.view is not None}  # fmt: skip
    if id(base) in views:
        return views[id(base)]._replace(is_blind=_core.is_blind(x))
    output = next(
        (k for k, each in enumerate(leaves)
         if each is base and program.outputs[k].operand is not None), -1
    )  # fmt: skip
    argument = next(
        (k for k, each in enumerate(tensors) if each is base or _core.base_of(each) is base), -1
    )
    # Held by results that are views of it, the recording, the name here, and the question.
    count = sum(isinstance(each, Tensor) and _core.base_of(each) is base for each in leaves)
    is_alone = sys.getrefcount(base) <= count + recording.holds(base) + 2
    if output >= 0 or argument >= 0:
        return View(len(views), None, output, argument, None, _core.is_blind(x))
    if is_made and not is_alone:
        raise AsWritten("a result is a view of a gradient that it leaves")
    thing = None if is_alone else base
    return View(len(views), place if is_alone else None, -1, -1, thing, _core.is_blind(x))


def _expected(leaves: list[Any], i: int) -> int:
    """Count who may hold a result: for each time that it is one the list of leaves and a container,
    views of it among the results, and the question itself."""
    count = list(map(id, leaves)).count(id(leaves[i]))
    views = sum(isinstance(x, Tensor) and _core.base_of(x) is leaves[i] for x in leaves)
    return 2 * count + views + 1


def _add_gradients(program: Program, recording: Any, tensors: list[Any]) -> None:
    """Say what gradients the call leaves."""
    taken = set()  # slots that are gradients of leaves
    results = sum(memory.source == RESULT for memory in program.memories.values())
    for leaf, (tensor, number, before, now, line) in enumerate(recording.leaves()):
        if now is None and before < 0:
            continue
        if number >= 0:
            _check_argument(tensor, tensors)
        if now is None:
            program.removals.append(leaf)
            continue
        operand = Operand(*now)
        if operand.slot == before >= 0:
            continue
        memory = program.memories.get(operand.slot)
        if memory is None or memory.source not in (ARENA, RESULT) or operand.slot in taken:
            raise capture_errors.foreign_gradient(line)
        if memory.source == ARENA:  # else a result is a view of it
            memory.source, memory.index = RESULT, results
            results += 1
        taken.add(operand.slot)
        program.gradients.append((leaf, operand))


def _check_argument(leaf: Any, tensors: list[Any]) -> None:
    """Refuse a program that gives an argument a gradient where another would get it too."""
    if leaf.grad_fn is not None or _core.leaf_hooks(leaf) is not None:
        raise AsWritten("an argument gets a gradient inside that is no leaf, or has a hook")
    if sum(x is leaf or _core.may_overlap(x, leaf) for x in tensors) > 1:
        raise AsWritten("an argument gets a gradient inside, and shares memory with another")


def name_of(function: Any) -> str:
    """Name a function, or the class of a module."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def placed(error: CaptureError, function: Any) -> CaptureError:
    """Say of what was found after a call where in the function it comes from, and who called."""
    inside = error.site
    error.locate(name_of(function), [])
    body = getattr(getattr(function, "forward", function), "__func__", function)
    code = getattr(body, "__code__", None)
    if not inside and code is not None and not code.co_filename.startswith(PACKAGE):
        inside = ": ".join(filter(None, site_parts(code.co_filename, code.co_firstlineno)))
    if inside and inside != error.site:
        error.within(f"the call at {error.site}")
        error.site = inside
    return error


def _line_of(program: Program, slot: int) -> str:
    """Find the line that wrote a memory first."""
    return next((each.line for each in program.instructions if _has_written(each, slot)), "")


def _site_of(program: Program, slot: int) -> str:
    """Find that line, with its source."""
    for each in program.instructions:
        path, line = program.recording.site_of(each.index) if _has_written(each, slot) else ("", 0)
        if path:
            return ": ".join(filter(None, site_parts(path, line)))
    return ""


def _has_written(each: Instruction, slot: int) -> bool:
    return any(operand.slot == slot for operand in each.writes())


def _refuse_leaks(program: Program, recording: Any, saved: list[int]) -> None:
    """Refuse if memory that was made lives on: not as a result, a gradient or for backward."""
    if not _leaks(program, recording, saved):
        return
    gc.collect()  # what only refers to itself is kept by nobody
    for slot in _leaks(program, recording, saved):
        raise capture_errors.kept_inside(_site_of(program, slot))


def _leaks(program: Program, recording: Any, saved: list[int]) -> list[int]:
    return [
        slot
        for slot, (_, _, _, is_alive, *_) in enumerate(recording.slots())
        if is_alive
        and slot not in saved
        and slot in program.memories
        and program.memories[slot].source == ARENA
    ]


def _add_drawings(program: Program, rows: list[Any]) -> None:
    """Say from which generator, and from where on behind its place at the call, numbers came."""
    starts: list[Any] = []  # [generator, key, counter, end]
    for generator, key, counter, used in rows:
        known = next((each for each in starts if each[0] is generator), None)
        if known is None:
            known = [generator, key, counter, counter]
            starts.append(known)
        # A checkpoint draws the same numbers again.
        if key != known[1] or not known[2] <= counter <= known[3]:
            raise capture_errors.seeded_inside()
        known[3] = max(known[3], counter + used)
    for generator, key, _, end in starts:
        if (generator.seed, generator.counter) != (key, end):
            raise capture_errors.seeded_inside()
    seconds = [second for pull in program.pulls for second in pull.recorded.values()]
    for each in [x for part in (program, *seconds) for x in part.instructions]:
        if each.draw is None:
            continue
        key, counter = each.draw
        found = [
            i for i, (_, own, start, end) in enumerate(starts)
            if own == key and start <= counter <= end
        ]  # fmt: skip
        if len(found) > 1:
            raise capture_errors.same_generators()
        each.draw = (found[0], counter - starts[found[0]][2]) if found else (-1, key, counter)
    program.generators = [(generator, end - start) for generator, _, start, end in starts]
    for second in seconds:
        second.generators = program.generators
