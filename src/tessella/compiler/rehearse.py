"""rehearse: what a call would do and need, without doing it.

The function is recorded in a rehearsal (tensor/rehearsal.h): its arguments are stand-ins, what it
makes has no memory, and its operations note themselves and are not done.
"""

from __future__ import annotations

from tessella import _core, errors
from tessella.compiler import capture_errors
from tessella.compiler.capture import capture
from tessella.compiler.lower import build, lower
from tessella.compiler.plan import MemoryTable
from tessella.compiler.program import RESULT, Program
from tessella.compiler.pullback import Pull
from tessella.hints import Any, Callable
from tessella.trees import flatten

Tensor = _core.Tensor
MOST_CALLS = 3  # until a call finds the gradients that it leaves


class Forecast(MemoryTable):
    """The memory that a call needs, in bytes: `print` shows it as a table."""

    def __init__(self, name: str, program: Program, scratch: int, gradients: int) -> None:
        super().__init__(name, program)
        kept = {operand.slot for _, operand in program.gradients}
        self.results = sum(
            memory.bytes
            for slot, memory in program.memories.items()
            if memory.source == RESULT and slot not in kept
        )
        self.gradients = gradients  # of leaves that have none yet
        self.scratch = scratch  # of kernels
        self.backward: Forecast | None = None  # the second program, if the results have gradients
        self.total = self.peak + self.results + self.gradients + self.scratch

    def __repr__(self) -> str:
        parts = (
            f"  {self.total:,} B: arena {self.peak:,}, scratch {self.scratch:,}, "
            f"results {self.results:,}, gradients {self.gradients:,}"
        )
        first, *rows = super().__repr__().split("\n")
        lines = "\n".join([first, parts, *rows])
        return lines if self.backward is None else f"{lines}\n{self.backward}"


def forecast(
    name: str, function: Callable[..., Any], args: Any, keywords: Any, recomputes: bool
) -> Forecast:
    """Give the memory that repeated calls with such arguments need."""
    stage = _core.Rehearsal()
    drawn: list[tuple[Any, int, int]] = []
    stage.begin()
    try:
        program, gradients = _steady(function, *_stand_ins(stage, args, keywords), drawn)
    finally:
        stage.end()
        for generator, seed, counter in reversed(drawn):
            generator.seed, generator.counter = seed, counter
    core = build(lower(program, recomputes))
    found = Forecast(name, program, core.scratch_bytes, gradients)
    backs = [_backward(name, pull, recomputes) for pull in program.pulls]
    found.backward = max(backs, key=lambda back: back.total, default=None)  # they share an arena
    return found


def _backward(name: str, pull: Pull, recomputes: bool) -> Forecast:
    """Give the memory of a program of gradients, of all results that share operations."""
    second = lower(pull.recorded[tuple(range(len(pull.opened)))].copied(), recomputes)
    return Forecast(f"{name}, backward", second, build(second).rehearsed_scratch_bytes, 0)


def _stand_ins(stage: Any, args: Any, keywords: Any) -> tuple[Any, Any, list[Any]]:
    """Give the arguments with stand-ins for tensors, and those."""
    try:
        leaves, rebuild = flatten((args, keywords))
    except errors.InvalidArgument:
        raise capture_errors.too_deep("the arguments").locate("plan", []) from None
    made: dict[int, Any] = {}
    for x in leaves:
        if isinstance(x, Tensor) and id(x) not in made:
            made[id(x)] = stage.stand_in(x)
    given, named = rebuild([made.get(id(x), x) for x in leaves])
    return given, named, [made[id(x)] for x in leaves if isinstance(x, Tensor)]


def _steady(
    function: Callable[..., Any], args: Any, keywords: Any, tensors: list[Any], drawn: list[Any]
) -> tuple[Program, int]:
    """Record calls until one finds the gradients that it leaves; give it, and bytes of new ones."""
    had: dict[int, bool] = {}  # by leaf: whether it has a gradient now
    for _ in range(MOST_CALLS):
        program = _recorded(function, args, keywords, tensors, drawn)
        befores = [before >= 0 for before in program.befores]
        leaves = [program.leaf(i, tensors) for i in range(len(program.leaves))]
        for leaf, before in zip(leaves, befores, strict=True):
            had.setdefault(id(leaf), before)
        if befores == [leaf.grad is not None for leaf in leaves]:
            break
    kept = [leaf for leaf in leaves if leaf.grad is not None]
    return program, sum(leaf.grad.nbytes for leaf in kept if not had[id(leaf)])


def _recorded(
    function: Callable[..., Any], args: Any, keywords: Any, tensors: list[Any], drawn: list[Any]
) -> Program:
    for _ in range(MOST_CALLS):
        recording = _core.Recording()
        try:
            captured = capture(function, args, keywords, tensors, recording)
        finally:
            drawn += [row[:3] for row in recording.drawings()]
        if not captured.watch.has_loaded:  # modules, which the next call finds there
            break
    if captured.program is None:
        why = captured.why.why if captured.why is not None else ""
        raise capture_errors.never_repeated(why).locate("plan", [])
    return captured.program
