"""simplify: leaves out what nobody reads."""

from __future__ import annotations

from tessella.compiler.program import ARENA, UNUSED, Program

STEADY = ("fill", "copy", "constant", "matmul", "linear")  # beside what is elementwise


def simplify(program: Program) -> Program:
    """Leave out instructions that write only memory which is never read, and such memory."""
    live = {out.operand.slot for out in program.outputs if out.operand is not None}
    live.update(operand.slot for _, operand in program.gradients)
    live.update(slot for slot, memory in program.memories.items() if memory.source != ARENA)
    kept = []
    for each in reversed(program.instructions):
        # What can fail is to fail, whoever reads its result.
        is_needed = not (each.form or each.name in STEADY)
        if is_needed or any(operand.slot in live for operand in each.writes()):
            kept.append(each)
            live.update(operand.slot for operand in each.operands)
    kept.reverse()
    program.instructions = kept
    used = {operand.slot for each in kept for operand in each.operands}
    used.update(out.operand.slot for out in program.outputs if out.operand is not None)
    used.update(operand.slot for _, operand in program.gradients)
    for slot, memory in program.memories.items():
        if slot not in used:
            memory.source = UNUSED
    return program
