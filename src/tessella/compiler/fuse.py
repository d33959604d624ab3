"""fuse: joins instructions into steps that run tile by tile.

A tile that stays in the cache goes through all instructions of a step before the next one is begun.
Elementwise instructions of one shape are such a step; so are reductions along its last axes, and
what is computed with an element for each row that they leave, also where it is spread over its row
again: softmax and norms written by hand are one step. A product of matrices may be the first of a
step: the others take its elements as they are done.

At each tile all is as if the instructions had run one after the other: what they write is
contiguous, and another one that touches the same memory sees it in the same layout. An instruction
may join an earlier step if nothing between has to do with its memory. Memory that is used in one
step only lies in tiles, and has no place in the arena.
"""

from __future__ import annotations

from math import prod

from tessella import _core
from tessella.compiler.program import ARENA, RESULT, UNUSED, Instruction, Operand, Program

MOST = 64  # instructions in a step
SMALL = 16384  # elements that one thread computes
THINNEST = 4  # terms of a product's sums for each instruction after it
UNBROKEN = 1 << 29  # terms of a product that is not interrupted: 0.15 s for int64 by the baseline
WINDOW = 8  # steps that an instruction may go back
LONGEST_ROW, MOST_REDUCTIONS = _core.tile_limits()


def fuse(program: Program) -> Program:
    """Join instructions into steps."""
    steps: list[Step] = []
    # Where two memories are one, only the order of instructions tells what is read.
    is_entangled = any(memory.overlaps for memory in program.memories.values())
    apart = "memories from outside overlap" if is_entangled else ""
    # Gradients may lie where those before lay, which a call that fails leaves as they were.
    kept = {operand.slot for _, operand in program.gradients}
    free = {
        slot
        for slot, memory in program.memories.items()
        if memory.source in (ARENA, RESULT) and slot not in kept
    }
    for each in program.instructions:
        step = None if apart else _home(steps, each, each.operands[0].slot in free)
        if step is None:
            if steps:
                program.reasons.append(apart or steps[-1].why_not(each))
            step = Step(program, each)
            steps.append(step)
        else:
            step.add(each)
    program.steps = [step.instructions for step in steps]
    program.instructions = [each for step in steps for each in step.instructions]
    _hide(program)
    return program


def _home(steps: list[Step], each: Instruction, is_free: bool) -> Step | None:
    """Find a step that an instruction can be part of: one that it has to do with, or the last.

    What writes to memory that others see stays where it is.
    """
    if not each.form or each.form == "product":
        return None
    window = 1 if each.is_again else WINDOW  # what is made again is made where it is used
    other = None
    for step in steps[: -window - 1 : -1]:
        is_near = step.meets(each)
        if not step.why_not(each):
            if is_near:
                return step
            if other is None and step.instructions[0].form != "product":
                other = step
        if not is_free or is_near:
            break
    return other


class Step:
    """Instructions that run as one, and what the next one must agree with."""

    __slots__ = (
        "instructions", "length", "program", "reductions", "rows", "shape", "slots", "touched",
    )  # fmt: skip

    def __init__(self, program: Program, first: Instruction) -> None:
        self.program = program
        self.instructions: list[Instruction] = []
        self.shape = first.operands[1 if first.form == "reduce" else 0].shape
        self.rows = self.length = 0  # none until there is a reduction
        self.reductions = 0
        self.touched: dict[int, list[tuple[Operand, bool, bool]]] = {}  # of a row? written?
        self.slots: dict[int, bool] = {}  # whether it is written
        self.add(first)

    def add(self, each: Instruction) -> None:
        """Add an instruction."""
        if each.form == "reduce":
            self.length = row_length(each)
            self.rows = prod(self.shape) // self.length
            self.reductions += 1
        self.instructions.append(each)
        for i, operand in enumerate(each.operands):
            is_written = i < each.written
            of_rows = self._is_of_rows(each, operand)
            self.touched.setdefault(operand.slot, []).append((operand, of_rows, is_written))
            self.slots[operand.slot] = self.slots.get(operand.slot, False) or is_written

    def meets(self, each: Instruction) -> bool:
        """Tell whether an instruction uses memory that one of the step writes, or the reverse."""
        return any(
            operand.slot in self.slots and (i < each.written or self.slots[operand.slot])
            for i, operand in enumerate(each.operands)
        )

    def why_not(self, each: Instruction) -> str:
        """Say why an instruction cannot run with those of the step; "": it can."""
        first = self.instructions[0]
        for one in (first, each):
            if not one.form:
                return f"{one.name} runs alone: {one.why_alone}"
        if first.form == "reduce" and not is_flat(first.operands[1]):
            return f"{first.name} runs alone: it reads elements in another order"
        if each.form == "product":
            return f"{each.name} begins a step"
        if len(self.instructions) >= MOST:
            return f"{MOST} instructions are the most"
        if each.form == "reduce":
            why = self._why_not_reduce(each)
        else:
            size, shape = prod(each.operands[0].shape), each.operands[0].shape
            is_row = bool(self.rows) and size == self.rows and self.length <= LONGEST_ROW
            is_alike = shape == self.shape or is_row
            why = "" if is_alike else f"its shape {shape} is not {self.shape}"
        if not why and first.form == "product":
            why = self._why_not_tail(each)
        return why or self._why_not_seen(each)

    def _why_not_tail(self, each: Instruction) -> str:
        """Say why an instruction cannot take the elements of a product as they are done."""
        product, out = self.instructions[0], each.operands[0]
        if each.form == "reduce":
            return "it needs whole rows of a product"
        is_shared = prod(self.shape) > SMALL  # by threads, for its own work
        if is_shared and len(self.instructions) > product.operands[1].shape[-1] // THINNEST:
            return f"{product.name} is too thin for more"
        if out.slot in [x.slot for x in product.reads()]:
            return f"{product.name} reads what it writes"
        is_long = prod(self.shape) * product.operands[1].shape[-1] > UNBROKEN
        if is_long and self.program.memories[out.slot].source not in (ARENA, RESULT):
            return f"{product.name} is so long that Ctrl-C must end it; {each.name} writes outside"
        return ""

    def _why_not_reduce(self, each: Instruction) -> str:
        x = each.operands[1]
        if x.shape != self.shape:
            return f"it reduces {x.shape}, not {self.shape}"
        length = row_length(each)
        if self.rows and self.length != length:
            return f"its rows have {length} elements, not {self.length}"
        if self.reductions >= MOST_REDUCTIONS:
            return f"{MOST_REDUCTIONS} reductions are the most"
        if not is_flat(x) and not self.slots.get(x.slot):
            return f"it reads elements of {self.program.name(x.slot)} in another order"
        return ""

    def _why_not_seen(self, each: Instruction) -> str:
        for i, x in enumerate(each.operands):
            if x.slot not in self.slots:
                continue
            of_rows = self._is_of_rows(each, x)
            for y, was_of_rows, was_written in self.touched[x.slot]:
                if not (was_written or i < each.written):
                    continue
                if was_of_rows and not of_rows and was_written and i >= each.written:
                    is_whole = self.length <= LONGEST_ROW and each.form == "elementwise"
                    is_seen = is_whole and self._is_spread(x, y)
                elif was_of_rows and of_rows:
                    is_all = prod(x.shape) == prod(y.shape)  # not the first of them alone
                    is_seen = x[:3] == y[:3] and is_all and is_flat(x) and is_flat(y)
                else:
                    is_seen = was_of_rows == of_rows and tuple(x) == tuple(y)
                if not is_seen:
                    return f"{self._user_of(y)} sees {self.program.name(x.slot)} in another layout"
        return ""

    def _is_of_rows(self, each: Instruction, operand: Operand) -> bool:
        """Tell whether an operand has an element for each row."""
        if each.form == "reduce":
            return operand is each.operands[0]
        return bool(each.operands[0].shape != self.shape)

    def _is_spread(self, x: Operand, y: Operand) -> bool:
        """Tell whether x has an element of y, which has one for each row, over each row."""
        if x[:3] != y[:3]:
            return False
        left, step = self.length, 1  # of a row, of which all axes come first; of the rows
        for axis in range(-1, -len(self.shape) - 1, -1):
            size = self.shape[axis]
            has_axis = -axis <= len(x.shape) and x.shape[axis] != 1
            stride = x.strides[axis] if has_axis else 0
            if size == 1:
                continue
            if stride != (0 if left > 1 else step):
                return False
            if left > 1:
                left //= size
            else:
                step *= size
        return True

    def _user_of(self, operand: Operand) -> str:
        return next(each.name for each in self.instructions if operand in each.operands)


def row_length(each: Instruction) -> int:
    """Give how many elements a reduction makes one of."""
    shape = each.operands[1].shape
    return prod(size for axis, size in enumerate(shape) if each.axes >> axis & 1)


def is_flat(x: Operand) -> bool:
    """Tell whether elements follow each other in memory."""
    step = 1
    for size, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def _hide(program: Program) -> None:
    """Take what only one step of several instructions uses out of the arena."""
    users: dict[int, int] = {}
    shared: set[int] = set()
    for at, step in enumerate(program.steps):
        for each in step:
            for operand in each.operands:
                is_product = each.form == "product"  # which needs a place for its sums
                if users.setdefault(operand.slot, at) != at or len(step) == 1 or is_product:
                    shared.add(operand.slot)
    early: set[int] = set()
    read: set[int] = set()
    written: set[int] = set()
    for each in program.instructions:
        for operand in each.reads():
            read.add(operand.slot)
            if operand.slot not in written:
                early.add(operand.slot)
        written.update(operand.slot for operand in each.writes())
    for slot in read - shared - early:
        if program.memories[slot].source == ARENA:
            program.memories[slot].source = UNUSED
