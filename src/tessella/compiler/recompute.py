"""recompute: makes cheap intermediates again where they are used, in place of keeping them.

Between its uses a memory may lie idle over the step at which the arena is fullest. If it was made
by a few elementwise instructions from memory that is there at its next use, as it was, they are
done again just before: the same instructions, so the same bits. What takes most of the peak goes
first, and the peak decides: what does not lower it is left as it was.
"""

from __future__ import annotations

import copy
from itertools import count, islice

from tessella.compiler.fuse import fuse
from tessella.compiler.plan import lifetimes, live_bytes, plan
from tessella.compiler.program import ARENA, UNUSED, Instruction, Program
from tessella.compiler.simplify import simplify
from tessella.hints import Iterator

MOST_TRIES = 400  # programs that are looked at
MOST_CHOICES = 8  # memories that are tried at one peak
MOST_AGAIN = 12  # instructions that make one memory


def recompute(program: Program) -> Program:
    """Do instructions again where that makes the arena smaller."""
    if any(memory.overlaps for memory in program.memories.values()):
        return program  # only the order of instructions tells what is read
    slots = range(len(program.recording.slots()))
    best = _Trial(program, program.instructions, dict(zip(slots, slots, strict=True)))
    tries = 0
    while tries < MOST_TRIES:
        for again in islice(best.choices(), MOST_CHOICES):
            tries += 1
            trial = best.without(again)
            if trial.height < best.height:
                best = trial
                break
        else:
            break
    if plan(best.program).arena_bytes < plan(program).arena_bytes:
        best.enact(program)
    return program


class _Again:
    """How a memory is made again for an instruction that uses it."""

    def __init__(self, slot: int, at: int, position: int) -> None:
        self.slot = slot
        self.at = at  # the step of its use
        self.position = position  # of the instruction
        self.makers: set[int] = set()  # instructions that are done again
        self.twins: dict[int, int] = {}  # for memories that they read: others that hold the same

    def copy(self) -> _Again:
        """Give one that can be tried."""
        other = _Again(self.slot, self.at, self.position)
        other.makers, other.twins = set(self.makers), dict(self.twins)
        return other


class _Trial:
    """A program that may be what is run."""

    def __init__(
        self, program: Program, instructions: list[Instruction], origins: dict[int, int]
    ) -> None:
        self.program = trial = copy.copy(program)
        self.origins = origins  # by memory: the one of the recording that it is as large as
        trial.instructions = list(instructions)
        trial.reasons = []
        trial.memories = {slot: copy.copy(each) for slot, each in program.memories.items()}
        for slot in {x.slot for each in instructions for x in each.operands}:
            if slot not in trial.memories:
                trial.memories[slot] = copy.copy(program.memories[origins[slot]])
                trial.memories[slot].source = ARENA
            elif trial.memories[slot].source == UNUSED:  # it lay in tiles
                trial.memories[slot].source = ARENA
        fuse(simplify(trial))
        totals = live_bytes(trial)
        self.peak = totals.index(max(totals)) if totals else 0
        self.height = (max(totals), totals.count(max(totals))) if totals else (0, 0)
        self.lives = lifetimes(trial)
        self.starts = [0]  # of steps, among the instructions
        for step in trial.steps:
            self.starts.append(self.starts[-1] + len(step))
        self.writers: dict[int, list[int]] = {}
        for i, each in enumerate(trial.instructions):
            for operand in each.writes():
                self.writers.setdefault(operand.slot, []).append(i)

    def choices(self) -> Iterator[_Again]:
        """Give how memories that lie idle at the peak can be made for their next use."""
        uses: dict[int, list[int]] = {}
        for at, step in enumerate(self.program.steps):
            for slot in {x.slot for each in step for x in each.operands}:
                uses.setdefault(slot, []).append(at)
        found = [
            slot
            for slot, (first, last) in self.lives.items()
            if first < self.peak < last and self.peak not in uses[slot]
        ]
        memories = self.program.memories
        for slot in sorted(found, key=lambda slot: (-memories[slot].bytes, -self.lives[slot][1])):
            at = next(at for at in uses[slot] if at > self.peak)
            position = self.starts[at]
            while all(x.slot != slot for x in self.program.instructions[position].operands):
                position += 1
            again = _Again(slot, at, position)
            if self._can_make(slot, again):
                yield again

    def _can_make(self, slot: int, again: _Again) -> bool:
        """Find what makes a memory from what is there when it is used; False: it cannot be made."""
        twin = self._twin(slot, again)
        if twin is not None:
            again.twins[slot] = twin
            return True
        makers = self.writers.get(slot, ())
        if len(makers) != 1:
            return False
        each = self.program.instructions[makers[0]]
        again.makers.add(makers[0])
        is_cheap = each.form == "elementwise" and each.draw is None and each.written == 1
        if not is_cheap or len(again.makers) > MOST_AGAIN:
            return False
        return all(x.slot != slot and self._is_had(x.slot, makers[0], again) for x in each.reads())

    def _is_had(self, slot: int, since: int, again: _Again) -> bool:
        """Tell whether a memory, as an earlier instruction saw it, is there, or can be made."""
        is_intact = not any(since < i < again.position for i in self.writers.get(slot, ()))
        source = self.program.memories[slot].source
        if source not in (ARENA, UNUSED):
            return is_intact
        if is_intact and source == ARENA and self.lives[slot][1] >= again.at:
            return True
        deeper = again.copy()
        if self._can_make(slot, deeper):
            again.makers, again.twins = deeper.makers, deeper.twins
            return True
        return is_intact and source == ARENA  # kept a little longer: the peak decides

    def _twin(self, slot: int, again: _Again) -> int | None:
        """Find memory that holds the same: it was made again for others that use it then."""
        for other, origin in self.origins.items():
            makers = self.writers.get(other, ())
            if origin != self.origins[slot] or other == slot or len(makers) != 1:
                continue
            is_kept = other in self.lives and self.lives[other][1] >= again.at
            if makers[0] < again.position and (is_kept or makers[0] >= self.starts[again.at]):
                return other
        return None

    def without(self, again: _Again) -> _Trial:
        """Give the program that makes a memory again."""
        numbers = count(len(self.origins))
        new, origins = dict(again.twins), dict(self.origins)
        repeated = []
        for i in sorted(again.makers):
            each = self.program.instructions[i]
            made = each.operands[0].slot
            new[made] = next(numbers)
            origins[new[made]] = origins[made]
            repeated.append(_moved(each, new))
            repeated[-1].is_again = True
        instructions = self.program.instructions[: again.position] + repeated
        for each in self.program.instructions[again.position :]:
            is_user = any(x.slot == again.slot for x in each.operands)
            moved = _moved(each, {again.slot: new[again.slot]}) if is_user else each
            instructions.append(moved)
        return _Trial(self.program, instructions, origins)

    def enact(self, program: Program) -> None:
        """Let the program be this one, and the recording have what is new of it."""
        known = len(program.recording.slots())
        memories = self.program.memories
        used = {x.slot for each in self.program.instructions for x in each.operands}
        new = {
            slot: program.recording.add_slot(self.origins[slot])
            for slot in sorted(used)
            if slot >= known
        }
        before = -1
        for each in reversed(self.program.instructions):
            before = before if each.is_again else each.index
            if any(x.slot in new for x in each.operands):
                each.operands = _moved(each, new).operands
                slots = [x.slot for x in each.operands]
                each.index = program.recording.add_copy(each.index, slots, before)
        program.memories = {
            new.get(slot, slot): memory
            for slot, memory in memories.items()
            if slot < known or slot in new
        }
        for slot in new.values():
            program.memories[slot].index = slot
        program.instructions, program.steps = self.program.instructions, self.program.steps
        program.reasons = self.program.reasons


def _moved(each: Instruction, slots: dict[int, int]) -> Instruction:
    """Give an instruction with other memories."""
    moved = copy.copy(each)
    moved.operands = [x._replace(slot=slots.get(x.slot, x.slot)) for x in each.operands]
    return moved
