"""plan: gives every intermediate an offset in one arena, by exact lifetimes.

Two memories may lie in one place if no step lies in the lifetimes of both. Each is placed at the
lowest offset that is free for its whole life: the larger first, or those that live longer.
"""

from __future__ import annotations

from tessella.compiler.program import ARENA, Instruction, Program

ALIGNMENT = 64


def plan(program: Program) -> Program:
    """Set the offsets of what lies in the arena, and its size: the smaller of two ways."""
    lives = lifetimes(program)

    def larger(slot: int) -> int:
        return -program.memories[slot].bytes

    def longer(slot: int) -> tuple[int, int]:
        return lives[slot][0] - lives[slot][1], larger(slot)

    ways = [_place(program, lives, sorted(lives, key=key)) for key in (larger, longer)]
    offsets, program.arena_bytes = min(ways, key=lambda way: way[1])
    for slot, offset in offsets.items():
        program.memories[slot].offset = offset
    return program


def _place(
    program: Program, lives: dict[int, tuple[int, int]], order: list[int]
) -> tuple[dict[int, int], int]:
    """Give each memory the lowest offset that is free for its whole life; and the end of all."""
    placed: list[tuple[int, int, int, int]] = []  # (start, end, first, last)
    offsets: dict[int, int] = {}
    for slot in order:
        first, last = lives[slot]
        size = -(-program.memories[slot].bytes // ALIGNMENT) * ALIGNMENT
        offsets[slot] = _lowest(placed, first, last, size)
        placed.append((offsets[slot], offsets[slot] + size, first, last))
    return offsets, max((end for _, end, _, _ in placed), default=0)


def lifetimes(program: Program) -> dict[int, tuple[int, int]]:
    """Give the first and the last step that uses each memory of the arena."""
    lives: dict[int, tuple[int, int]] = {}
    for at, step in enumerate(program.steps):
        for operand in (operand for each in step for operand in each.operands):
            if program.memories[operand.slot].source == ARENA:
                lives[operand.slot] = (lives.get(operand.slot, (at, at))[0], at)
    return lives


def live_bytes(program: Program) -> list[int]:
    """Give for each step how much of the arena holds something that is used at it or around it."""
    totals = [0] * len(program.steps)
    for slot, (first, last) in lifetimes(program).items():
        for at in range(first, last + 1):
            totals[at] += -(-program.memories[slot].bytes // ALIGNMENT) * ALIGNMENT
    return totals


def lower_bound(program: Program) -> int:
    """Give the largest sum of what lives at one step: no arena can be smaller."""
    return max(live_bytes(program), default=0)


def _lowest(placed: list[tuple[int, int, int, int]], first: int, last: int, size: int) -> int:
    others = sorted((start, end) for start, end, a, b in placed if a <= last and first <= b)
    offset = 0
    for start, end in others:
        if offset + size <= start:
            break
        offset = max(offset, end)
    return offset


class MemoryTable:
    """Where intermediates lie: `print` shows it as a table."""

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.peak = program.arena_bytes
        self.rows: list[tuple[str, tuple[int, ...], int, int, int, int]] = []
        shapes = {  # nobody writes memory of no elements
            operand.slot: operand.shape
            for part in (Instruction.reads, Instruction.writes)
            for each in program.instructions
            for operand in part(each)
        }
        for slot, (born, dies) in sorted(lifetimes(program).items(), key=lambda row: row[1]):
            memory = program.memories[slot]
            row = (program.name(slot), shapes[slot], memory.bytes, born, dies, memory.offset)
            self.rows.append(row)
        self.without_reuse = sum(-(-row[2] // ALIGNMENT) * ALIGNMENT for row in self.rows)

    def __str__(self) -> str:
        lines = [
            f"compiled {self.name}: peak {self.peak:,} B in 1 arena, "
            f"{len(self.rows)} buffers (without reuse {self.without_reuse:,} B)",
            "  buffer       shape        bytes     born  dies  offset",
        ]
        lines += [
            f"  {name:<12} {shape!s:<12} {size:<9,} {born:>4} {dies:>5} {offset:>7,}"
            for name, shape, size, born, dies, offset in self.rows
        ]
        return "\n".join(lines)
