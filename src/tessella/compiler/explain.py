"""explain: why each step of a program ends where it does, by what `fuse` decided.

Also how a step is called where people read about it: its names, its shape, the user's lines.
"""

from __future__ import annotations

from collections import namedtuple

from tessella.compiler.program import Instruction, Program
from tessella.sizes import counted

MOST_NAMES = 4  # of instructions in the title of a step
MOST_LINES = 3  # of the user's code beside it

StepEnd = namedtuple("StepEnd", "step title lines before reason")
StepEnd.__doc__ = (
    "A step, the instruction that could not join it, and why; both empty for the last."
)


def title_of(step: list[Instruction]) -> str:
    """Name a step: its instructions, and the shape of what they write."""
    names = [each.name for each in step]
    if len(names) > MOST_NAMES + 1:
        names[MOST_NAMES:] = [f"{len(names) - MOST_NAMES} more"]
    return f"{', '.join(names)} {step[0].operands[0].shape}"


def lines_of(step: list[Instruction]) -> str:
    """Give the user's lines of a step, in their order: train.py:40, 42, model.py:7."""
    places = list(dict.fromkeys(each.line for each in step if each.line))
    shown = []
    file = ""
    for place in places[:MOST_LINES]:
        name, _, number = place.rpartition(":")
        shown.append(number if name == file else place)
        file = name
    return ", ".join(shown) + (" …" if len(places) > MOST_LINES else "")


def ends_of(program: Program) -> list[StepEnd]:
    """Give for each step why the next instruction could not join it."""
    rows = []
    for at, step in enumerate(program.steps):
        before = reason = ""
        if at + 1 < len(program.steps):
            before, reason = program.steps[at + 1][0].name, program.reasons[at]
        rows.append(StepEnd(at, title_of(step), lines_of(step), before, reason))
    return rows


class Explanation:
    """Why steps end where they do: `print` shows them one by one; `rows` are to be read."""

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.instructions = len(program.instructions)
        self.rows = ends_of(program)

    def __repr__(self) -> str:
        lines = [
            f"compiled {self.name}: {counted(self.instructions, 'instruction')} in "
            f"{counted(len(self.rows), 'step')}"
        ]
        width = max((len(row.title) for row in self.rows), default=0)
        for row in self.rows:
            lines.append(f"  {row.step:>3}  {row.title:<{width}}  {row.lines}".rstrip())
            if row.before:
                lines.append(f"       ends before {row.before}: {row.reason}")
        return "\n".join(lines)
