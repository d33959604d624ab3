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
    reason = why_apart(program)
    for each in program.instructions:
        if not step or reason or why_not(program, step, each):
            step = []
            program.steps.append(step)
        step.append(each)
    _hide(program)
    return program


def why_apart(program: Program) -> str:
    """Say why no instructions of a program can run together; "" if they can."""
    # Where two memories are one, only the order of instructions tells what is read.
    is_entangled = any(memory.overlaps for memory in program.memories.values())
    return "memories from outside overlap" if is_entangled else ""


def why_not(program: Program, step: list[Instruction], each: Instruction) -> str:
    """Say why an instruction cannot run with those of a step, tile by tile; "" if it can."""
    for one in (step[0], each):
        if not one.is_tiled:
            return f"{one.name} runs alone: {program.recording.why_alone(one.index)}"
    if len(step) >= MOST:
        return f"{MOST} instructions are the most"
    if each.operands[0].shape != step[0].operands[0].shape:
        return f"its shape {each.operands[0].shape} is not {step[0].operands[0].shape}"
    for other in step:
        slot = _collide(each, other)
        if slot >= 0:
            return f"{other.name} sees {program.name(slot)} in another layout"
    return ""


def _collide(each: Instruction, other: Instruction) -> int:
    """Find memory that two see in different layouts and one of them writes; -1: there is none."""
    for x in each.operands:
        for y in other.operands:
            is_written = x is each.operands[0] or y is other.operands[0]
            if is_written and x.slot == y.slot and x != y:
                return int(x.slot)
    return -1


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
