"""pullback: gradients of a recorded call, as further programs over the same recording.

A call whose results are part of a graph is recorded together with the gradients of its results by
what flows into it: arguments, and leaves that it captured. Its repetition is one node for results
that share operations; what the second program needs of the first is kept with that node. Which of
several results get a gradient is only known at backward: there is a program for each choice.
"""

from __future__ import annotations

from tessella import _core
from tessella.compiler import capture_errors, cuts
from tessella.compiler.capture_errors import AsWritten
from tessella.compiler.lower import build, lower
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
)
from tessella.dtypes import uint8
from tessella.functions import Function
from tessella.hints import Any
from tessella.ops.creation import copy_of, ones

Tensor = _core.Tensor
Choice = tuple[int, ...]  # which results of a node get gradients: their places in `opened`
MOST_SHARING = 4  # results of one node: each choice of them is recorded


class Pull:
    """The gradients of some results of a recorded call: all that one node knows."""

    def __init__(self, opened: list[int]) -> None:
        self.opened = opened  # which outputs of the call
        self.inside: set[int] = set()  # places among them of those that others are made of
        self.count = 0  # of arguments before the cotangents
        self.inputs: list[Any] = []  # for each part of a gradient where it flows: a number of an
        # argument, or a leaf
        # As recorded. Arguments: those of the call, what was saved, the cotangents.
        self.recorded: dict[Choice, Program] = {}
        self.programs: dict[Choice, Program] = {}  # those that were needed, ready to run
        self.arguments: list[int] = []  # those of the call that they read
        self.saved: list[int] = []  # memories of the first program that they read
        self.captured: list[Any] = []  # memory that was there, as bytes: it must stay as it is
        # For each choice which of those, in this order, and what number of argument they are.
        self.needs: dict[Choice, dict[int, int]] = {}

    def meaning(self) -> list[Any]:
        """Give what two recordings must agree in."""
        inputs = [each if isinstance(each, int) else id(each) for each in self.inputs]
        lines: list[Any] = [inputs, self.opened]
        for choice, program in self.recorded.items():
            lines += [choice, *program.meaning()]
        return lines


def choices(count: int) -> list[Choice]:
    """Give every choice of results that may get gradients, all of them first."""
    every = [tuple(k for k in range(count) if bits >> k & 1) for bits in range(1, 1 << count)]
    return sorted(every, key=lambda choice: (-len(choice), choice))


def record(
    recording: Any, forward: Program, opened: dict[int, Any], tensors: list[Any], since: int
) -> None:
    """Record the gradients of all results that gradients can flow into, by their numbers."""
    slots = [forward.outputs[number].operand.slot for number in opened]
    if len(set(slots)) < len(slots):  # a write to one would be one to the other, and its graph
        raise AsWritten("several results that gradients flow into share memory")
    for numbers in cuts.groups_of(opened, since):
        if len(numbers) > MOST_SHARING:
            raise AsWritten(
                f"{len(numbers)} of its results share operations that gradients flow through; "
                f"programs are made for up to {MOST_SHARING}"
            )
        results = [opened[number] for number in numbers]
        forward.pulls.append(_Recorder(recording, forward, tensors, since).record(numbers, results))


class _Recorder:
    """Makes the programs of one node."""

    def __init__(self, recording: Any, forward: Program, tensors: list[Any], since: int) -> None:
        self.recording = recording
        self.forward = forward
        self.tensors = tensors
        self.since = since
        self.made = {x.slot for each in forward.instructions for x in each.writes()}

    def record(self, numbers: list[int], results: list[Any]) -> Pull:
        """Record every choice, then say what all of them read."""
        pull = Pull(numbers)
        pull.inside = cuts.inside(results, self.since)
        sources = cuts.sources_of(results, self.since, self.tensors)
        given = [ones(x.shape, dtype=x.dtype) for x in results]
        for g in given:
            self.recording.mark_given(g)
        slots = [self.recording.slot_of(g) for g in given]
        found = {}
        for choice in choices(len(results)):
            start = len(self.recording)
            parts = self._sweep(choice, results, given, sources)
            found[choice] = start, len(self.recording), parts
        most = [
            max(1, *[len(parts[i]) for _, _, parts in found.values()]) for i in range(len(sources))
        ]
        pull.inputs = [each for each, n in zip(sources, most, strict=True) for _ in range(n)]
        rows = self.recording.instructions()
        for choice, (start, end, parts) in found.items():
            program = pull.recorded[choice] = Program(self.recording)
            program.instructions = [Instruction(i, rows[i]) for i in range(start, end)]
            for each, n in zip(parts, most, strict=True):
                program.outputs += [Output(x) for x in [*each, *[None] * (n - len(each))]]
            program.structure = list(range(len(pull.inputs)))
        self._add_memories(pull, slots)
        return pull

    def _sweep(
        self, choice: Choice, results: list[Any], given: list[Any], sources: list[Any]
    ) -> list[list[Operand]]:
        """Compute gradients; give for each source the places of what arrives there.

        Each gradient that arrives is one: they are added up outside, in the order in which the
        parts of the graph would add them.
        """
        roots, gs = tuple([results[k] for k in choice]), tuple([given[k] for k in choice])
        targets = tuple([self.tensors[x] if isinstance(x, int) else x for x in sources])
        try:
            found = _core.sweep(roots, gs, targets, True, False, self.since, True)
        except capture_errors.TessellaError:  # it is only asked for outside, or never
            raise AsWritten("its gradient cannot be computed") from None
        for part in (part for parts in found for part in parts or ()):
            self.recording.slot_of(part)
        return [[Operand(*self.recording.place_of(x)) for x in parts or ()] for parts in found]

    def _add_memories(self, pull: Pull, given: list[int]) -> None:
        """Say what the memories of all programs of a node are."""
        used = {choice: _used(program) for choice, program in pull.recorded.items()}
        known = self.forward.memories
        rows = self.recording.slots()
        kinds: dict[int, list[int]] = {ARGUMENT: [], RESULT: pull.saved, CAPTURED: []}
        for slot in sorted(set().union(*used.values()).difference(given)):
            source = known[slot].source if slot in known else ARENA
            if source == GRADIENT:
                raise AsWritten("its gradient reads the gradient of a leaf, which may change")
            if source in (ARENA, RESULT):
                source = RESULT if slot in self.made else ARENA
            if source in kinds:
                kinds[source].append(slot)
        pull.arguments = [known[slot].index for slot in kinds[ARGUMENT]]
        pull.captured = [self.recording.bytes_of(slot) for slot in kinds[CAPTURED]]
        kept = [*kinds[ARGUMENT], *kinds[RESULT], *kinds[CAPTURED]]
        first = len(self.tensors)
        pull.count = first + len(pull.saved)
        places = {slot: first + i for i, slot in enumerate(pull.saved)}
        for choice, program in pull.recorded.items():
            cotangents = {given[k]: pull.count + i for i, k in enumerate(choice)}
            for slot in sorted(used[choice].union(cotangents)):
                place = places.get(slot, cotangents.get(slot))
                program.memories[slot] = self._memory(slot, rows[slot], place)
            pull.needs[choice] = {
                at: program.memories[slot].index if slot not in kinds[CAPTURED] else -1
                for at, slot in enumerate(kept) if slot in used[choice]
            }  # fmt: skip
            _name_results(program)

    def _memory(self, slot: int, row: Any, place: int | None) -> Memory:
        bytes_, _, is_written, _, number, overlaps = row
        known = self.forward.memories.get(slot)
        memory = Memory(bytes_, ARENA, slot, number, is_written, overlaps)
        if place is not None:
            memory.source, memory.index = ARGUMENT, place
        elif known is not None and known.source == ARGUMENT:
            memory.source, memory.index, memory.offset = ARGUMENT, known.index, known.offset
        elif known is not None and known.source == CAPTURED:
            memory.source = CAPTURED
        return memory


def _used(program: Program) -> set[int]:
    slots = {operand.slot for each in program.instructions for operand in each.operands}
    return slots.union(out.operand.slot for out in program.outputs if out.operand is not None)


def _name_results(program: Program) -> None:
    results = 0
    for out in program.outputs:
        memory = None if out.operand is None else program.memories[out.operand.slot]
        if memory is not None and memory.source == ARENA:
            memory.source, memory.index = RESULT, results
            results += 1


def save(program: Program) -> None:
    """Make memories of a program that its gradients read results, so that they outlive it."""
    results = sum(memory.source == RESULT for memory in program.memories.values())
    for slot in program.saved:
        memory = program.memories[slot]
        if memory.source != RESULT:
            memory.source, memory.index = RESULT, results
            results += 1
        program.outputs.append(Output(Operand(slot, uint8.id, 0, (memory.bytes,), (1,))))


class Slopes:
    """The further programs of one recorded call in the core, each made when it is needed."""

    def __init__(self, pulls: list[Pull], recomputes: bool) -> None:
        self._cores: dict[tuple[int, Choice], Any] = {}
        self._recomputes = recomputes
        self._calls = _core.Replay()
        for pull in pulls:
            if len(pull.opened) == 1:
                self._core_of(pull, (0,))

    def _core_of(self, pull: Pull, choice: Choice) -> Any:
        key = pull.opened[0], choice
        if key not in self._cores:
            program = lower(pull.recorded[choice].copied(), self._recomputes)
            self._cores[key] = build(program)
            pull.programs[choice] = program
        return self._cores[key]

    def run(self, pull: Pull, choice: Choice, given: list[Any], starts: Any) -> list[Any]:
        """Give the gradients of inputs; one thread at a time, and not within itself."""
        is_alone = self._calls.enter()
        try:
            if is_alone:
                core, arena = self._core_of(pull, choice), self._calls.arena
            else:
                program = lower(pull.recorded[choice].copied(), self._recomputes)
                core, arena = build(program), _core.ProgramArena()
            made = iter(core.run_from(given, arena, starts))
        finally:
            if is_alone:
                self._calls.leave()
        outputs = pull.recorded[choice].outputs
        return [None if out.operand is None else next(made) for out in outputs]


def attach(slopes: Slopes, program: Program, tensors: list[Any], leaves: list[Any], starts: Any,
           ) -> list[Any]:  # fmt: skip
    """Make results of a repeated call parts of the graph; what was saved stands behind them."""
    own = len(leaves) - len(program.saved)
    kept = dict(zip(program.saved, leaves[own:], strict=True))
    for pull in program.pulls:
        inputs = [tensors[each] if isinstance(each, int) else each for each in pull.inputs]
        saved = [*[tensors[i] for i in pull.arguments], *[kept[slot] for slot in pull.saved]]
        outs = [leaves[number] for number in pull.opened]
        Repeated.apply(slopes, pull, [*saved, *pull.captured], outs, starts, *inputs)
    return leaves[:own]


class Repeated(Function):
    """Some results of a repeated call, as one node."""

    @staticmethod
    def forward(
        ctx: Any, slopes: Slopes, pull: Pull, saved: list[Any], outs: list[Any], starts: Any,
        *inputs: Any,
    ) -> Any:  # fmt: skip
        """Keep what the second program needs."""
        ctx.slopes, ctx.pull, ctx.starts = slopes, pull, starts
        ctx.save_for_backward(*saved)
        ctx.set_materialize_grads(False)
        return tuple(outs)

    @staticmethod
    def _has_inside(ctx: Any, number: int) -> bool:
        return number in ctx.pull.inside

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the second program."""
        if _core.is_grad_enabled():
            raise capture_errors.second_derivative()
        choice = tuple([k for k, g in enumerate(gradients) if g is not None])
        plain = [_plain(gradients[k]) for k in choice]
        needs = ctx.pull.needs[choice]  # what others need may have been overwritten
        found = _core.unpack_saved(ctx._node(), list(needs))
        given = [plain[0]] * ctx.pull.count + plain
        for number, x in zip(needs.values(), found, strict=True):
            if number >= 0:
                given[number] = x
        return None, None, None, None, None, *ctx.slopes.run(ctx.pull, choice, given, ctx.starts)


def _plain(g: Tensor) -> Tensor:
    return g if g.is_contiguous and g.offset == 0 else copy_of(g)
