"""A program: what a function does, as instructions over memories. Plain data, and its text.

A memory is a buffer that the function uses: one that it is given (an argument), that was there
before (captured), the gradient of a leaf, or one that it makes. An operand is a layout over a
memory; a view is no instruction. What a program means is what its instructions do, in their order.
"""

from __future__ import annotations

from collections import namedtuple
from copy import copy

from tessella import _core
from tessella.dtypes import DTYPES
from tessella.hints import Any
from tessella.trees import outline

# Where a memory comes from: the names of Source in tensor/program.h.
UNUSED, ARENA, ARGUMENT, CAPTURED, GRADIENT, RESULT = range(len(_core.source_names()))

Operand = namedtuple("Operand", "slot dtype offset shape strides")
Operand.__doc__ = "A tensor as an instruction sees it: a layout over a memory."


class Instruction:
    """One operation: what it is called, what it writes and reads, and the user's line."""

    __slots__ = (
        "axes", "draw", "form", "index", "is_again", "line", "name", "operands", "params",
        "why_alone", "written",
    )  # fmt: skip

    def __init__(self, index: int, row: tuple[Any, ...]) -> None:
        self.index = index  # in the recording
        self.name: str = row[0]
        self.params: str = row[1]
        self.operands = [Operand(*each) for each in row[2]]  # the written ones first
        self.written: int = row[3]
        self.line: str = row[4]
        self.draw: Any = row[5]  # (key, counter), then (generator, delta); None: it draws nothing
        self.form: str = row[6]  # how it can run tile by tile with others; "": it cannot
        self.why_alone: str = row[7]
        self.axes: int = row[8]  # bit i: a reduction takes axis i away
        self.is_again = False  # it makes again what was made before

    def writes(self) -> list[Operand]:
        """Give the operands that it writes."""
        return self.operands[: self.written]

    def reads(self) -> list[Operand]:
        """Give the operands that it only reads."""
        return self.operands[self.written :]


class Memory:
    """A buffer that a program uses."""

    __slots__ = ("bytes", "index", "number", "offset", "overlaps", "source", "written")

    def __init__(
        self, bytes_: int, source: int, index: int, number: int, written: bool, overlaps: bool
    ) -> None:
        self.bytes = bytes_
        self.source = source
        self.index = index  # of the argument, the leaf, or the result
        self.number = number  # of captured memory: that of no other that lives
        self.written = written
        self.overlaps = overlaps  # with other memory from outside
        self.offset = 0  # bytes, in the arena; of an argument when it was recorded

    def meaning(self) -> tuple[Any, ...]:
        """Give what it is, to be compared.

        The memory of arguments and gradients may be of any size that holds what is used of it: a
        program asks for that when it is run.
        """
        bytes_ = 0 if self.source in (ARGUMENT, GRADIENT) else self.bytes
        return bytes_, self.source, self.index, self.number if self.source == CAPTURED else 0


# What a result is a view of: its number among such, and where it lies. It is an output, an argument
# or what that is a view of, by number; an object that was there; or one that nobody else holds. And
# whether the result may not be written into where gradients are recorded.
View = namedtuple("View", "number operand output argument object is_blind")


class Output:
    """One leaf of what a function gives: memory, an argument, an object that was there, a value."""

    __slots__ = ("index", "leaf", "node", "operand", "same", "value", "view")

    def __init__(
        self, operand: Any = None, node: Any = None, *, index: int | None = None, value: Any = None,
        same: int | None = None, leaf: int | None = None,
    ) -> None:  # fmt: skip
        self.operand = operand
        self.node = node  # of a tensor whose graph the function has used up
        self.index = index  # of the argument that it is
        self.same = same  # of an earlier output that it is
        self.leaf = leaf  # whose gradient it is
        self.value = value
        self.view: View | None = None

    def meaning(self) -> tuple[Any, ...]:
        """Give what it is but for its memory: a value by its type and its digits."""
        value = self.value.hex() if isinstance(self.value, float) else self.value
        value = complex.__repr__(value) if isinstance(value, complex) else value
        value = id(value) if isinstance(value, _core.Tensor) else value
        view = self.view and self.view._replace(operand=None, object=id(self.view.object))
        facts = self.node is not None, self.index, self.same, self.leaf, view
        return *facts, type(self.value), value


class Program:
    """Instructions, memories, and what a call leaves behind."""

    def __init__(self, recording: Any) -> None:
        self.recording = recording
        self.instructions: list[Instruction] = []
        self.steps: list[list[Instruction]] = []  # those that run as one
        self.reasons: list[str] = []  # why each step but the first could not join the one before
        self.memories: dict[int, Memory] = {}
        self.outputs: list[Output] = []
        self.structure: Any = None  # of the results: a container of the numbers of outputs
        # Tensors whose gradients it reads or writes; of arguments their numbers.
        self.leaves: list[Any] = []
        self.gradients: list[tuple[int, Operand]] = []  # (leaf, what its gradient is afterwards)
        self.removals: list[int] = []  # leaves that have no gradient afterwards
        self.befores: list[int] = []  # for each leaf the memory of its gradient before, or -1
        self.generators: list[tuple[Any, int]] = []  # (generator, how far it moves)
        self.arena_bytes = 0
        self.pulls: list[Any] = []  # gradients of results that are part of a graph
        self.saved: list[int] = []  # memories that those read

    def made_bytes(self) -> int:
        """Give the bytes of all memory that it makes, before any of it is used again."""
        return sum(each.bytes for each in self.memories.values() if each.source == ARENA)

    def meaning(self) -> list[Any]:
        """Give all that two recordings of one function must agree in, line by line.

        Memories are numbered in the order in which they are first used.
        """
        numbers: dict[int, int] = {}

        def place(operand: Operand | None) -> Any:
            if operand is None:
                return None
            if operand.slot not in numbers:
                numbers[operand.slot] = len(numbers)
            memory = self.memories[operand.slot]
            start = operand.offset * DTYPES[operand.dtype].itemsize
            if memory.source == ARGUMENT:  # which may lie elsewhere at the next call
                start -= memory.offset
            return (numbers[operand.slot], operand.dtype, start, *operand[3:])

        lines: list[Any] = [
            (each.name, each.params, each.draw, each.written, [place(x) for x in each.operands])
            for each in self.instructions
        ]
        lines += [
            (each.meaning(), place(each.operand), place(each.view and each.view.operand))
            for each in self.outputs
        ]
        lines += [(leaf, place(operand)) for leaf, operand in self.gradients]
        lines += [self.memories[slot].meaning() for slot in numbers]
        lines += [(x,) if isinstance(x, int) else id(x) for x in self.leaves]
        lines += [[before >= 0 for before in self.befores], self.removals, outline(self.structure)]
        lines += [(id(generator), used) for generator, used in self.generators]
        return [*lines, *[line for pull in self.pulls for line in pull.meaning()]]

    def leaf(self, number: int, tensors: Any) -> Any:
        """Give a leaf, of a call with these arguments."""
        found = self.leaves[number]
        return tensors[found] if isinstance(found, int) else found

    def copied(self) -> Program:
        """Give a program of the same recording that passes can change."""
        out = copy(self)
        out.memories = {slot: copy(memory) for slot, memory in self.memories.items()}
        return out

    # --- text ---

    def name(self, slot: int) -> str:
        """Name a memory: a0 is argument 0, c3 is captured, g1 a gradient, r0 a result, m7 made."""
        memory = self.memories[slot]
        letter = {ARGUMENT: "a", CAPTURED: "c", GRADIENT: "g", RESULT: "r"}.get(memory.source, "m")
        return f"{letter}{memory.index if letter != 'm' else slot}"

    def show(self, operand: Operand) -> str:
        """Write an operand: its memory, dtype and shape, and its strides if they are unusual."""
        text = f"{self.name(operand.slot)}:{DTYPES[operand.dtype].name}{list(operand.shape)}"
        plain: list[int] = []
        step = 1
        for size in reversed(operand.shape):
            plain.insert(0, step)
            step *= size
        if tuple(plain) != operand.strides:
            text += f"/{list(operand.strides)}"
        return text + (f"+{operand.offset}" if operand.offset else "")

    def show_output(self, out: Output) -> str:
        """Write a result."""
        if out.operand is not None:
            return self.show(out.operand)
        if out.index is not None:
            return f"a{out.index}"
        if out.same is not None:
            return f"result {out.same}"
        return f"grad {out.leaf}" if out.leaf is not None else repr(out.value)

    def show_instruction(self, each: Instruction) -> str:
        """Write an instruction."""
        left = ", ".join(map(self.show, each.writes()))
        right = ", ".join(map(self.show, each.reads()))
        return f"{left} = {each.name}({right}){self.show_params(each)}"

    def show_params(self, each: Instruction) -> str:
        """Write what an instruction is told beside its operands."""
        draw = f" draws {each.draw}" if each.draw else ""
        params = each.params if len(each.params) < 60 else each.params[:57] + "…"
        return f"{params}{draw}"

    def __repr__(self) -> str:
        lines = []
        for step in self.steps or [[each] for each in self.instructions]:
            if len(step) == 1:
                lines.append(self.show_instruction(step[0]))
            else:
                shape = step[0].operands[1 if step[0].form == "reduce" else 0].shape
                lines.append(f"tiles over {list(shape)}:")
                lines += [f"  {self.show_instruction(each)}" for each in step]
        given = [self.show_output(out) for out in self.outputs]
        lines += [f"grad {leaf} = {self.show(operand)}" for leaf, operand in self.gradients]
        lines += [f"grad {leaf} = None" for leaf in self.removals]
        return "\n".join([*lines, f"return {', '.join(given)}"])

    # --- verify ---

    def verify(self) -> None:
        """Check that every memory is written before it is read, and lies where it may."""
        written: set[int] = set()
        inside = {x.slot for step in self.steps if len(step) > 1 for y in step for x in y.writes()}
        for each in self.instructions:
            for operand in each.operands:
                has_place = self.memories[operand.slot].source != UNUSED or operand.slot in inside
                assert has_place, f"{each.name} uses memory that has no place"
            for operand in each.reads():
                is_made = self.memories[operand.slot].source in (UNUSED, ARENA, RESULT)
                is_known = not is_made or operand.slot in written or 0 in operand.shape
                assert is_known, f"{each.name} reads {self.show(operand)} before it is written"
            written.update(operand.slot for operand in each.writes())
        self._verify_places()

    def _verify_places(self) -> None:
        """Check that memories in one place of the arena are used one after the other."""
        lives: dict[int, list[int]] = {}
        for at, step in enumerate(self.steps if self.arena_bytes else ()):
            for operand in (operand for each in step for operand in each.operands):
                if self.memories[operand.slot].source == ARENA:
                    lives.setdefault(operand.slot, []).append(at)
        placed = [(self.memories[slot], uses) for slot, uses in lives.items()]
        for i, (x, own) in enumerate(placed):
            assert x.offset + x.bytes <= self.arena_bytes, "memory lies outside of the arena"
            for y, uses in placed[:i]:
                is_apart = x.offset + x.bytes <= y.offset or y.offset + y.bytes <= x.offset
                # One may end in the step that makes the other.
                is_later = own[0] >= uses[-1] or uses[0] >= own[-1]
                assert is_apart or is_later, "memories that are used at once share a place"
