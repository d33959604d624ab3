"""plan: gives every intermediate an offset in one arena, by exact lifetimes.

Two memories may lie in one place if no instruction lies in the lifetimes of both. Larger ones are
placed first, each at the lowest offset that is free for its whole life.
"""

from __future__ import annotations

from tessella.compiler.program import ARENA, Program

ALIGNMENT = 64


def plan(program: Program) -> Program:
    """Set the offsets of what lies in the arena, and its size."""
    placed: list[tuple[int, int, int, int]] = []  # (start, end, first, last)
    lives = lifetimes(program)
    for slot in sorted(lives, key=lambda slot: -program.memories[slot].bytes):
        memory = program.memories[slot]
        first, last = lives[slot]
        size = -(-memory.bytes // ALIGNMENT) * ALIGNMENT
        memory.offset = _lowest(placed, first, last, size)
        placed.append((memory.offset, memory.offset + size, first, last))
    program.arena_bytes = max((end for _, end, _, _ in placed), default=0)
    return program


def lifetimes(program: Program) -> dict[int, tuple[int, int]]:
    """Give the first and the last step that uses each memory of the arena."""
    lives: dict[int, tuple[int, int]] = {}
    for at, step in enumerate(program.steps):
        for operand in (operand for each in step for operand in each.operands):
            if program.memories[operand.slot].source == ARENA:
                lives[operand.slot] = (lives.get(operand.slot, (at, at))[0], at)
    return lives


def lower_bound(program: Program) -> int:
    """Give the largest sum of what lives at one step: no arena can be smaller."""
    totals = [0] * len(program.steps)
    for slot, (first, last) in lifetimes(program).items():
        for at in range(first, last + 1):
            totals[at] += -(-program.memories[slot].bytes // ALIGNMENT) * ALIGNMENT
    return max(totals, default=0)


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
        shapes = {
            operand.slot: operand.shape
            for each in program.instructions
            for operand in each.writes()
        }
        for slot, (born, dies) in sorted(lifetimes(program).items(), key=lambda row: row[1]):
            memory = program.memories[slot]
            row = (program.name(slot), shapes[slot], memory.bytes, born, dies, memory.offset)
            self.rows.append(row)

    def __str__(self) -> str:
        total = sum(-(-row[2] // ALIGNMENT) * ALIGNMENT for row in self.rows)
        lines = [
            f"compiled {self.name}: peak {self.peak:,} B in 1 arena, "
            f"{len(self.rows)} buffers (without reuse {total:,} B)",
            "  buffer       shape        bytes     born  dies  offset",
        ]
        lines += [
            f"  {name:<12} {shape!s:<12} {size:<9,} {born:>4} {dies:>5} {offset:>7,}"
            for name, shape, size, born, dies, offset in self.rows
        ]
        return "\n".join(lines)
