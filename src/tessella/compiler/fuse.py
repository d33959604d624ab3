"""fuse: joins elementwise instructions that follow each other, to be run tile by tile.

Instructions of one shape become one step: a tile that stays in the cache goes through all of them.
What they write is contiguous, and another one of the step that touches the same memory sees it in
the same layout: so at each tile all is as if the instructions had run one after the other. Memory
that is used in one step only lies in tiles, and has no place in the arena.
"""

from __future__ import annotations

from tessella.compiler.program import ARENA, UNUSED, Instruction, Program

MOST = 64  # instructions in a step


def fuse(program: Program) -> Program:
    """Join instructions into steps."""
    step: list[Instruction] = []
    # Where two memories are one, only the order of instructions tells what is read.
    is_entangled = any(memory.overlaps for memory in program.memories.values())
    for each in program.instructions:
        if is_entangled or not (step and fits(step, each)):
            step = []
            program.steps.append(step)
        step.append(each)
    _hide(program)
    return program


def fits(step: list[Instruction], each: Instruction) -> bool:
    """Tell whether an instruction can run with those of a step, tile by tile."""
    if not (each.is_tiled and step[0].is_tiled and len(step) < MOST):
        return False
    if each.operands[0].shape != step[0].operands[0].shape:
        return False
    return not any(_collide(each, other) for other in step)


def _collide(each: Instruction, other: Instruction) -> bool:
    """Tell whether two see memory that one of them writes in different layouts."""
    return any(
        x.slot == y.slot and x != y
        for x in each.operands
        for y in other.operands
        if x is each.operands[0] or y is other.operands[0]
    )


def _hide(program: Program) -> None:
    """Take what only one step of several instructions uses out of the arena."""
    users: dict[int, int] = {}
    shared: set[int] = set()
    for at, step in enumerate(program.steps):
        for each in step:
            for operand in (*each.reads(), *each.writes()):
                if users.setdefault(operand.slot, at) != at or len(step) == 1:
                    shared.add(operand.slot)
    read: set[int] = set()
    written: set[int] = set()
    for each in program.instructions:
        read.update(operand.slot for operand in each.reads() if operand.slot not in written)
        written.update(operand.slot for operand in each.writes())
    for slot in users.keys() - shared - read:
        if program.memories[slot].source == ARENA:
            program.memories[slot].source = UNUSED
