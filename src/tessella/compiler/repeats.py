"""What calls are repeated by: programs in the core, and when they are what a call asks for."""

from __future__ import annotations

from itertools import pairwise
from weakref import ref

from tessella import _core, changes
from tessella.compiler.delays import Streak
from tessella.compiler.held import MAPPINGS, parts_of
from tessella.compiler.lower import build, lower
from tessella.compiler.program import Program
from tessella.compiler.pullback import Slopes, attach
from tessella.compiler.watch import Watch
from tessella.hints import Any
from tessella.modes import enable_grad
from tessella.trees import flatten

LEAST_ID = 1 << 16  # smaller numbers are no addresses
MOST_WAYS = 16  # in which arguments of one program were objects that it knows


class Given:
    """Where the arguments of a call lie, and which objects they are; it holds none of them."""

    def __init__(self, tensors: list[Any]) -> None:
        self.homes = [_core.home_of(x) for x in tensors]
        self.objects = [id(x) for x in tensors]

    def named(self, names: list[int]) -> list[int]:
        """Give which of some objects each argument is, or 0."""
        return [x if x in names else 0 for x in self.objects]


class Recorded:
    """A call that was recorded, and is not repeated yet."""

    def __init__(self, program: Program, lines: list[Any], given: Given, watch: Watch) -> None:
        self.program = program
        self.lines = lines
        self.given = given
        self.names = names_in(watch.values())

    def conditions(self) -> tuple[Any, ...]:
        """Give what recordings may differ in that makes other programs of them."""
        return [slot >= 0 for slot in self.program.befores], self.given.named(self.names)


class Runnable:
    """A program in the core, and when it is what a call asks for."""

    def __init__(self, first: Recorded, program: Program, recomputes: bool) -> None:
        self.lines = first.lines
        self.program = lower(program, recomputes)
        # Arguments that had the same memory in all recordings may be memory that the function
        # reaches in another way too: until they were seen elsewhere, they must stay there.
        self._homes = first.given.homes
        # Likewise those that get gradients: they may be leaves that the function knows by name.
        numbers = {each for each in program.leaves if isinstance(each, int)}
        self._objects = [x if i in numbers else 0 for i, x in enumerate(first.given.objects)]
        # And gradients that somebody else held.
        self._gradient_homes = first.program.recording.shared_gradients()
        self._names = first.names
        self._ways = [first.given.named(first.names)]  # what arguments were in each recording
        self.core = build(self.program)
        self.times: list[list[int]] | None = None  # of steps, in ns; None: they are not measured
        self._slopes = Slopes(program.pulls, recomputes)

    def renew(self, given: Given, captured: Any) -> None:
        """Note a recording that is equal: where arguments lie now, and what was read in Python."""
        watch, recording = captured.watch, captured.program.recording
        self._homes = _kept(self._homes, given.homes, (0, 0, 0))
        self._objects = _kept(self._objects, given.objects, 0)
        self._gradient_homes = _kept(self._gradient_homes, recording.shared_gradients(), 0)
        self.core.set_homes([(memory, place) for memory, place, _ in self._homes])
        self.core.set_leaves(self._objects)
        self.core.set_gradient_homes(self._gradient_homes)
        self._note_names(given, names_in(watch.values()))
        self.watch, self.changes = watch, changes.count()
        places, is_partial = watch.exported()
        self.core.set_guard(self.changes, places, watch.holds, is_partial)

    def _note_names(self, given: Given, names: list[int]) -> None:
        """Note which of the objects that the function may compare arguments with they were."""
        if names != self._names:
            self._names, self._ways = names, []
        way = given.named(names)
        if way not in self._ways:
            self._ways = [*self._ways[1 - MOST_WAYS :], way]
        self.core.set_named(names, self._ways)

    def accepts(self, tensors: list[Any]) -> bool:
        """Tell whether a call with these arguments would do what the program does."""
        return bool(self.core.accepts(tensors))

    def finish(self, made: list[Any], tensors: Any) -> Any:
        """Put the results of a run together as the function does."""
        return _rebuild(self.program.structure, self.fill(made, tensors))

    def fill(self, made: list[Any], tensors: Any) -> list[Any]:
        """Give all results one by one."""
        found = iter(made)
        leaves: list[Any] = []
        for out in self.program.outputs:
            if out.operand is not None:
                leaves.append(next(found))
            elif out.index is not None:
                leaves.append(tensors[out.index])
            elif out.same is not None:
                leaves.append(leaves[out.same])
            elif out.leaf is not None:
                leaves.append(self.program.leaf(out.leaf, tensors).grad)
            else:
                leaves.append(out.value)
        return leaves

    def run(self, tensors: list[Any], arena: Any) -> Any:
        """Run; give the results as the function does."""
        if not self.program.pulls:
            return self.finish(self._made(tensors, arena), tensors)
        leaves = self.fill(self._made(tensors, arena), tensors)
        with enable_grad():  # as the function had it at its end, whatever is outside
            leaves = attach(self._slopes, self.program, tensors, leaves, self.core.starts)
        return _rebuild(self.program.structure, leaves)

    def _made(self, tensors: list[Any], arena: Any) -> list[Any]:
        if self.times is None:
            made: list[Any] = self.core.run(tensors, arena)
        else:
            made, times = self.core.run_timed(tensors, arena)
            self.times.append(times)
        return made

    @property
    def has_written(self) -> bool:
        """Whether a run that failed had changed something before."""
        return bool(self.core.has_written)


def _kept(before: list[Any], now: list[Any], other: Any) -> list[Any]:
    """Give what is the same in two lists, and something else where they differ."""
    return [x if x == y else other for x, y in zip(before, now, strict=True)]


def names_in(values: list[Any]) -> list[int]:
    """Give the ids of tensors among values and in containers, and numbers that may be ids; sorted.

    A function that reads them can tell whether an argument is one of those tensors.
    """
    found: set[int] = set()
    walked: dict[int, Any] = {}
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, ref):
            value = value()
        if isinstance(value, _core.Tensor):
            found.add(id(value))
        elif type(value) is int and LEAST_ID <= value < 1 << 64:
            found.add(value)
        elif id(value) not in walked and (parts := parts_of(value)) is not None:
            walked[id(value)] = value
            todo += [*parts, *(value if isinstance(value, MAPPINGS) else ())]
    return sorted(found)


class Kind:
    """One kind of call: what was recorded of it, and what can be repeated."""

    def __init__(self) -> None:
        self.programs: list[Runnable] = []
        self.recordings: list[Recorded] = []
        self.streak = Streak()

    def changed_conditions(self) -> int:
        """Count the recordings under other conditions than the one before."""
        conditions = [each.conditions() for each in self.recordings]
        return sum(a != b for a, b in pairwise(conditions))


def _rebuild(structure: Any, leaves: list[Any]) -> Any:
    if isinstance(structure, int):
        return leaves[structure]
    return flatten(structure)[1](leaves)
