"""plan: gives every intermediate an offset in one arena, by exact lifetimes.

Two memories may lie in one place if no step lies in the lifetimes of both; also if one ends in the
step that makes the other, element by element. Each is placed at the lowest offset that is free for
its whole life: the larger first, those that live longer, or in the order of their births; and what
comes to lie on top goes before all others, while that helps.
"""

from __future__ import annotations

from bisect import insort
from itertools import accumulate
from math import prod

from tessella.compiler.fuse import is_flat
from tessella.compiler.program import ARENA, Instruction, Operand, Program
from tessella.dtypes import DTYPES
from tessella.sizes import counted

ALIGNMENT = 64
MOST_TRIES = 2000  # memories placed again, to find a smaller arena
Lives = dict[int, tuple[int, int]]  # the first and the last step that uses a memory
Way = tuple[dict[int, int], int]  # offsets, and the end of all


def plan(program: Program) -> Program:
    """Set the offsets of what lies in the arena, and its size: the smallest of some ways."""
    lives = lifetimes(program)
    homes = places_taken(program, lives)
    offsets, program.arena_bytes = _best_way(program, _join(lives, homes), lower_bound(program))
    for slot in lives:
        program.memories[slot].offset = offsets[homes.get(slot, slot)]
    return program


def _best_way(program: Program, lives: Lives, bound: int) -> Way:
    """Try some orders; then, again and again, to place what lies on top before all others."""

    def larger(slot: int) -> int:
        return -program.memories[slot].bytes

    def longer(slot: int) -> tuple[int, int]:
        return lives[slot][0] - lives[slot][1], larger(slot)

    def earlier(slot: int) -> tuple[int, int]:
        return lives[slot][0], larger(slot)

    order = sorted(lives, key=larger)
    best = way = _place(program, lives, order)
    for key in (longer, earlier):
        if best[1] <= bound:
            return best
        best = min(best, _place(program, lives, sorted(lives, key=key)), key=lambda way: way[1])
    for _ in range(MOST_TRIES // (len(lives) + 1)):
        if best[1] <= bound:
            break
        top = max(order, key=lambda slot: way[0][slot] + program.memories[slot].bytes)
        order = [top, *(slot for slot in order if slot != top)]
        way = _place(program, lives, order)
        best = min(best, way, key=lambda way: way[1])
    return best


def places_taken(program: Program, lives: Lives) -> dict[int, int]:
    """Give for memory that takes the place of another one the first that lay there."""
    homes: dict[int, int] = {}
    for at, step in enumerate(program.steps):
        if not step[0].form or (len(step) == 1 and step[0].name == "copy"):
            continue
        uses_of = _uses(step)
        for operand in step[0].reads() if step[0].form == "product" else ():
            uses_of.pop(operand.slot, None)  # it is read until the last element is done
        ended = {slot: uses_of[slot] for slot in uses_of if lives.get(slot, (0, -1))[1] == at}
        for k, each in enumerate(step):
            out = each.operands[0]
            is_new = lives.get(out.slot, (-1, 0))[0] == at and uses_of[out.slot][0][0] == k
            if not is_new or out.slot in ended:
                continue
            for slot, uses in ended.items():
                if _can_take(program, step, k, uses):
                    homes[out.slot] = homes.get(slot, slot)
                    del ended[slot]
                    break
    return homes


def _uses(step: list[Instruction]) -> dict[int, list[tuple[int, Operand]]]:
    """Give for each memory the operands that it is, with the numbers of their instructions."""
    uses: dict[int, list[tuple[int, Operand]]] = {}
    for k, each in enumerate(step):
        for operand in each.operands:
            uses.setdefault(operand.slot, []).append((k, operand))
    return uses


def _can_take(
    program: Program, step: list[Instruction], k: int, uses: list[tuple[int, Operand]]
) -> bool:
    """Tell whether instruction k can write where others were done reading, element by element."""
    out = step[k].operands[0]
    size = program.memories[out.slot].bytes
    return all(
        i <= k
        and x.shape == out.shape
        and x.offset == out.offset == 0
        and program.memories[x.slot].bytes == size
        and DTYPES[x.dtype].itemsize == DTYPES[out.dtype].itemsize
        and is_flat(x)
        and _is_in_order(step[i], x)
        for i, x in uses
    )


def _is_in_order(each: Instruction, x: Operand) -> bool:
    """Tell whether an instruction is done with an operand's elements one after the other.

    What is spread over leading axes is read again from its first element on; what is spread over
    the last ones is a number for each row.
    """
    whole = each.operands[0].shape
    if each.form == "reduce":
        return True
    if len(x.shape) != len(whole):
        return False
    spread = [i for i, (size, all_of) in enumerate(zip(x.shape, whole, strict=True))
              if size != all_of]  # fmt: skip
    return not spread or prod(x.shape[spread[0] :]) == 1


def _join(lives: Lives, homes: dict[int, int]) -> Lives:
    """Give how long each place is used, by the first memory that lies there."""
    joint: Lives = {}
    for slot, (first, last) in lives.items():
        home = homes.get(slot, slot)
        before = joint.get(home, (first, last))
        joint[home] = min(first, before[0]), max(last, before[1])
    return joint


def _place(program: Program, lives: Lives, order: list[int]) -> Way:
    """Give each memory the lowest offset that is free for its whole life; and the end of all."""
    placed: list[tuple[int, int, int, int]] = []  # (start, end, first, last)
    offsets: dict[int, int] = {}
    for slot in order:
        first, last = lives[slot]
        size = -(-program.memories[slot].bytes // ALIGNMENT) * ALIGNMENT
        offsets[slot] = _lowest(placed, first, last, size)
        insort(placed, (offsets[slot], offsets[slot] + size, first, last))
    return offsets, max((end for _, end, _, _ in placed), default=0)


def lifetimes(program: Program) -> Lives:
    """Give the first and the last step that uses each memory of the arena."""
    lives: Lives = {}
    for at, step in enumerate(program.steps):
        for operand in (operand for each in step for operand in each.operands):
            if program.memories[operand.slot].source == ARENA:
                lives[operand.slot] = (lives.get(operand.slot, (at, at))[0], at)
    return lives


def live_bytes(program: Program) -> list[int]:
    """Give for each step how much of the arena holds something that is used at it or around it."""
    changes = [0] * (len(program.steps) + 1)
    lives = lifetimes(program)
    for slot, (first, last) in _join(lives, places_taken(program, lives)).items():
        size = -(-program.memories[slot].bytes // ALIGNMENT) * ALIGNMENT
        changes[first] += size
        changes[last + 1] -= size
    return list(accumulate(changes[:-1]))


def lower_bound(program: Program) -> int:
    """Give the largest sum of what lives at one step: no arena can be smaller."""
    return max(live_bytes(program), default=0)


def _lowest(placed: list[tuple[int, int, int, int]], first: int, last: int, size: int) -> int:
    """Give the lowest place beside those that live meanwhile; they are in the order of starts."""
    offset = 0
    for start, end, a, b in placed:
        if a > last or first > b:
            continue
        if offset + size <= start:
            break
        if end > offset:
            offset = end
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

    def __repr__(self) -> str:
        cells: list[tuple[str, ...]] = [("buffer", "shape", "bytes", "born", "dies", "offset")]
        cells += [(name, str(shape), *(f"{number:,}" for number in numbers))
                  for name, shape, *numbers in self.rows]  # fmt: skip
        columns = zip((12, 12, 9, 4, 5, 7), zip(*cells, strict=True), strict=True)
        wide = [max(least, *map(len, column)) for least, column in columns]
        lines = [
            f"compiled {self.name}: peak {self.peak:,} B in 1 arena, "
            f"{counted(len(self.rows), 'buffer')} (without reuse {self.without_reuse:,} B)"
        ]
        for row in cells:
            texts = [text.ljust(w) if i < 3 else text.rjust(w)
                     for i, (text, w) in enumerate(zip(row, wide, strict=True))]  # fmt: skip
            lines.append(f"  {' '.join(texts)}")
        return "\n".join(lines)
