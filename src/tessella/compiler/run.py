"""run: two equal recordings of a kind of call make a program, which its later calls repeat."""

from __future__ import annotations

from itertools import pairwise

from tessella import _core, changes
from tessella.compiler import capture_errors
from tessella.compiler.capture import capture
from tessella.compiler.fuse import fuse
from tessella.compiler.plan import plan
from tessella.compiler.program import Program
from tessella.compiler.pullback import Repeated
from tessella.compiler.simplify import simplify
from tessella.compiler.watch import Watch, digest
from tessella.hints import Any, Callable
from tessella.modes import enable_grad
from tessella.trees import flatten

Tensor = _core.Tensor
MOST_KEYS = 64  # programs are small; a function that has more kinds of calls is better split
RECORDINGS = 3  # of one kind of call, of which two must be equal


class Runnable:
    """A program in the core, and when it is what a call asks for."""

    def __init__(
        self, program: Program, lines: list[Any], tensors: list[Any], watch: Watch
    ) -> None:
        self.lines = lines
        self.program = plan(fuse(simplify(program)))
        # Arguments that had the same memory in all recordings may be memory that the function
        # reaches in another way too: until they were seen elsewhere, they must stay there.
        self._homes = [_core.memory_number(x) for x in tensors]
        self.core = build(self.program)
        pulled = program.pull
        self._back = build(plan(fuse(simplify(pulled.program)))) if pulled is not None else None
        self.renew(tensors, watch)

    def renew(self, tensors: list[Any], watch: Watch) -> None:
        """Note a recording that is equal: where arguments lie now, and what was read in Python."""
        for i, x in enumerate(tensors):
            if self._homes[i] != _core.memory_number(x):
                self._homes[i] = 0
        self.core.set_homes(self._homes)
        places, is_partial = watch.exported()
        self.core.set_guard(changes.count(), places, watch.holds, is_partial)

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
                leaves.append(self.program.leaves[out.leaf].grad)
            else:
                leaves.append(out.value)
        return leaves

    def run(self, tensors: list[Any], arena: Any) -> Any:
        """Run; give the results as the function does."""
        pulled = self.program.pull
        if pulled is None:
            return self.finish(self.core.run(tensors, arena), tensors)
        inputs = [tensors[each] if isinstance(each, int) else each for each in pulled.inputs]
        with enable_grad():  # as the function had it at its end, whatever is outside
            leaves = Repeated.apply(self, tensors, arena, *inputs)
        return _rebuild(self.program.structure, leaves)

    def run_leaves(self, tensors: list[Any], arena: Any) -> list[Any]:
        """Run; give the results one by one."""
        return self.fill(self.core.run(tensors, arena), tensors)

    def run_back(self, given: list[Any], starts: Any) -> list[Any]:
        """Give the gradients of inputs, in memory of their own."""
        assert self._back is not None
        arena = _core.ProgramArena()
        made = iter(self._back.run_from(given, arena, starts))
        outputs = self.program.pull.program.outputs
        return [None if out.operand is None else next(made) for out in outputs]

    @property
    def starts(self) -> Any:
        """Where the generators stood at the last run."""
        return self.core.starts

    @property
    def has_written(self) -> bool:
        """Whether a run that failed had changed something before."""
        return bool(self.core.has_written)


def build(program: Program) -> Any:
    """Give the core what it needs to run a program."""
    slots = []
    for slot in range(len(program.recording.slots())):
        memory = program.memories.get(slot)
        slots.append((memory.source, memory.index, memory.offset) if memory else (0, 0, 0))
    steps = [[each.index for each in step] for step in program.steps]
    core = _core.Program(program.recording, steps, slots, program.arena_bytes)
    for out in program.outputs:
        if out.operand is not None:
            core.add_output(tuple(out.operand), out.node)
    for leaf, operand in program.gradients:
        core.add_gradient(leaf, tuple(operand))
    for leaf in program.removals:
        core.add_removal(leaf)
    for generator, used in program.generators:
        core.add_generator(generator, used)
    for each in program.instructions:
        if each.draw is not None and each.draw[0] >= 0:
            core.set_draw(each.index, *each.draw)
    return core


class Kind:
    """One kind of call: what was recorded of it, and what can be repeated."""

    def __init__(self) -> None:
        self.programs: list[Runnable] = []
        self.recordings: list[tuple[Program, list[Any], list[Any]]] = []


class Compiled:
    """A function whose calls are recorded twice, and repeated as programs from then on."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__
        self._kinds: dict[Any, Kind] = {}
        self._replay = _core.Replay()
        self._call_core = self._replay.call

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, or the program of such a call."""
        if not keywords:
            out = self._call_core(args)
            if out is not NotImplemented:
                return out
        if _core.is_recording() or _core.watches_values() or not self._replay.enter():
            # Part of another recording; or a finaliser or a signal's handler within a call.
            return self.function(*args, **keywords)
        try:
            return self._call(args, keywords, *call_key(args, keywords))
        finally:
            self._replay.leave()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Be a method where it decorates one."""
        return self if instance is None else _Bound(self, instance)

    @property
    def program(self) -> Program | None:
        """The program of the last kind of call that has one."""
        for kind in reversed(self._kinds.values()):
            if kind.programs:
                return kind.programs[-1].program
        return None

    def _call(self, args: Any, keywords: Any, tensors: list[Any], key: Any) -> Any:
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind()
            if len(self._kinds) > MOST_KEYS:
                self._kinds = {key: kind}
                self._replay.clear()
        for each in kind.programs:
            if each.accepts(tensors):
                return self._run(each, args, keywords, tensors)
        return self._record(kind, args, keywords, tensors, key)

    def _run(self, each: Runnable, args: Any, keywords: Any, tensors: list[Any]) -> Any:
        try:
            return each.run(tensors, self._replay.arena)
        except Exception:
            if each.has_written:
                raise
        # Nothing was changed: the function itself raises the error that explains.
        return self.function(*args, **keywords)

    def _record(self, kind: Kind, args: Any, keywords: Any, tensors: list[Any], key: Any) -> Any:
        captured = capture(self.function, args, keywords, tensors)
        if captured.program is None:
            return captured.result
        lines = captured.program.meaning()
        for known in kind.programs:
            if known.lines == lines:
                known.renew(tensors, captured.watch)
                return captured.result
        for _, other, earlier in kind.recordings:
            if other == lines:
                runnable = Runnable(captured.program, lines, earlier, captured.watch)
                runnable.renew(tensors, captured.watch)
                self._keep(kind, runnable, key)
                return captured.result
        kind.recordings.append((captured.program, lines, tensors))
        if len(kind.recordings) >= RECORDINGS + _grad_states(kind):
            self._refuse(kind)
        return captured.result

    def _keep(self, kind: Kind, runnable: Runnable, key: Any) -> None:
        """Add a program to what later calls repeat; plain ones by the core alone."""
        kind.programs.append(runnable)
        kind.recordings.clear()
        if type(key) is bytes and runnable.program.pull is None:
            is_one = runnable.program.structure == 0 and runnable.program.outputs[0].operand
            self._replay.add(key, runnable.core, None if is_one else runnable.finish)

    def _refuse(self, kind: Kind) -> None:
        (_, first, _), (program, second, _) = kind.recordings[-2:]
        kind.recordings.clear()
        for i, (before, after) in enumerate(zip(first, second, strict=False)):
            if before != after:
                is_step = i < len(program.instructions)
                line = program.instructions[i].line if is_step else ""
                one, other = (_short(x) if is_step else str(x) for x in (before, after))
                raise capture_errors.unsteady(self.__name__, one, other, line)
        one, other = f"{len(first)} steps", f"{len(second)} steps"
        raise capture_errors.unsteady(self.__name__, one, other, "")


def _short(line: tuple[Any, ...]) -> str:
    """Write an instruction: its name and its parameters."""
    return f"{line[0]}({line[1].strip()})"


class _Bound:
    """A compiled function that decorates a method, with its object."""

    def __init__(self, compiled: Compiled, instance: Any) -> None:
        self._compiled = compiled
        self._instance = instance

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._compiled(self._instance, *args, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


def _grad_states(kind: Kind) -> int:
    """Count how many recordings differ from the one before only in which gradients there were."""
    befores = [[slot >= 0 for slot in program.befores] for program, _, _ in kind.recordings]
    return sum(a != b for a, b in pairwise(befores))


def _rebuild(structure: Any, leaves: list[Any]) -> Any:
    if isinstance(structure, int):
        return leaves[structure]
    return flatten(structure)[1](leaves)


def call_key(args: Any, keywords: Any) -> tuple[list[Any], Any]:
    """Give the tensors of a call, and what its program depends on beside their values."""
    leaves: list[Any]
    if not keywords and all(type(x) is Tensor for x in args):
        tensors = list(args)
        return tensors, _core.call_key(tensors)
    leaves, rebuild = flatten((args, keywords))
    tensors, plain = [], []
    for x in leaves:
        if isinstance(x, Tensor):
            tensors.append(x)
            plain.append(_PLACE)
        else:
            plain.append(_value_key(x))
    structure = _frozen(rebuild(plain))
    return tensors, (structure, _core.call_key(tensors))


_PLACE = ("tensor",)


class _Held:
    """An object in a key: it is compared by what it is, and lives as long as the key."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.value is other.value


def _value_key(value: Any) -> Any:
    if isinstance(value, float):
        return _Leaf((float, value.hex()))
    if value is None or isinstance(value, int | str | bytes | complex):
        return _Leaf((type(value), repr(value)))
    if hasattr(value, "__array_interface__"):
        return _Leaf((type(value), digest(value)))
    return _Leaf(_Held(value))


class _Leaf:
    """A value in the structure of a key, so that it is not taken for a container."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key


def _frozen(tree: Any) -> Any:
    if isinstance(tree, _Leaf):
        return tree.key
    if tree is _PLACE:
        return tree
    if isinstance(tree, dict):
        return dict, tuple((key, _frozen(value)) for key, value in tree.items())
    return type(tree), tuple(_frozen(value) for value in tree)


def compile(function: Callable[..., Any] | None = None) -> Any:
    """Make a function of tensors that is recorded at its first calls and repeated afterwards.

    >>> @ts.compile
    ... def scaled(x):
    ...     return (x * 2 + 1).sum()
    >>> [scaled(ts.ones(3) * i).item() for i in range(4)]
    [3.0, 9.0, 15.0, 21.0]
    """
    if function is None:
        return compile
    if not callable(function):
        raise capture_errors.not_callable(function).locate("compile", [])
    return Compiled(function)
