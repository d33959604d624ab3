"""lower: the passes, one after the other, and what the core needs to run their program."""

from __future__ import annotations

from tessella import _core
from tessella.compiler.fuse import fuse
from tessella.compiler.plan import plan
from tessella.compiler.program import Program
from tessella.compiler.simplify import simplify
from tessella.hints import Any

VERIFIES = False  # after each pass: the tests do


def lower(program: Program, recomputes: bool = False) -> Program:
    """Make steps with places of what was recorded."""
    passes = [simplify, fuse, plan]
    if recomputes:
        from tessella.compiler.recompute import recompute

        passes.insert(2, recompute)
    for each in passes:
        program = each(program)
        if VERIFIES:
            program.verify()
    return program


def build(program: Program) -> Any:
    """Give the core what it needs to run a program."""
    slots = []
    for slot in range(len(program.recording.slots())):
        memory = program.memories.get(slot)
        slots.append((memory.source, memory.index, memory.offset) if memory else (0, 0, 0))
    steps = [[each.index for each in step] for step in program.steps]
    core = _core.Program(program.recording, steps, slots, program.arena_bytes)
    made = [out for out in program.outputs if out.operand is not None]
    views = {out.view.number: out.view for out in made if out.view}
    for _, view in sorted(views.items()):
        output = -1 if view.output < 0 else made.index(program.outputs[view.output])
        core.add_base(view.operand and tuple(view.operand), output, view.argument, view.object)
    for out in made:
        seen = (out.view.number, out.view.is_blind) if out.view else ()
        core.add_output(tuple(out.operand), out.node, *seen)
    for leaf, operand in program.gradients:
        core.add_gradient(leaf, tuple(operand))
    for leaf in program.removals:
        core.add_removal(leaf)
    for generator, used in program.generators:
        core.add_generator(generator, used)
    for each in program.instructions:
        if each.draw is not None and each.draw[0] >= 0:
            core.set_draw(each.index, *each.draw)
    return core
