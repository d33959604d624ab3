"""What calls are repeated by: programs in the core, and when they are what a call asks for."""

from __future__ import annotations

from itertools import pairwise

from tessella import _core, changes
from tessella.compiler.delays import Streak
from tessella.compiler.lower import build, lower
from tessella.compiler.program import Program
from tessella.compiler.pullback import Slopes, attach
from tessella.compiler.watch import Watch
from tessella.hints import Any
from tessella.modes import enable_grad
from tessella.trees import flatten


class Runnable:
    """A program in the core, and when it is what a call asks for."""

    def __init__(
        self, program: Program, lines: list[Any], tensors: list[Any], watch: Watch,
        recomputes: bool,
    ) -> None:  # fmt: skip
        self.lines = lines
        self.program = lower(program, recomputes)
        # Arguments that had the same memory in all recordings may be memory that the function
        # reaches in another way too: until they were seen elsewhere, they must stay there.
        self._homes = [_home(x) for x in tensors]
        # Likewise those that get gradients: they may be leaves that the function knows by name.
        numbers = {each for each in program.leaves if isinstance(each, int)}
        self._objects = [id(x) if i in numbers else 0 for i, x in enumerate(tensors)]
        self.core = build(self.program)
        self.times: list[list[int]] | None = None  # of steps, in ns; None: they are not measured
        self._slopes = Slopes(program.pulls, recomputes)
        self.renew(tensors, watch)

    def renew(self, tensors: list[Any], watch: Watch) -> None:
        """Note a recording that is equal: where arguments lie now, and what was read in Python."""
        for i, x in enumerate(tensors):
            if self._homes[i] != _home(x):
                self._homes[i] = (0, 0)
            if self._objects[i] != id(x):
                self._objects[i] = 0
        self.core.set_homes(self._homes)
        self.core.set_leaves(self._objects)
        self.watch, self.changes = watch, changes.count()
        places, is_partial = watch.exported()
        self.core.set_guard(self.changes, places, watch.holds, is_partial)

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


def _home(x: Any) -> tuple[int, int]:
    """Give where an argument lies: a number of its memory, and its place there."""
    return _core.memory_number(x), x.offset * x.itemsize


class Kind:
    """One kind of call: what was recorded of it, and what can be repeated."""

    def __init__(self) -> None:
        self.programs: list[Runnable] = []
        self.recordings: list[tuple[Program, list[Any], list[Any]]] = []
        self.streak = Streak()

    def grad_states(self) -> int:
        """Count the recordings that differ from the one before only in what had gradients."""
        befores = [[slot >= 0 for slot in program.befores] for program, _, _ in self.recordings]
        return sum(a != b for a, b in pairwise(befores))


def _rebuild(structure: Any, leaves: list[Any]) -> Any:
    if isinstance(structure, int):
        return leaves[structure]
    return flatten(structure)[1](leaves)
