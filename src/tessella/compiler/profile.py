"""profile: how long each step of a program takes, and what it makes of memory and processor."""

from __future__ import annotations

from collections import namedtuple
from statistics import median

from tessella._core import Tensor
from tessella.compiler.costs import bytes_of, operations_of
from tessella.compiler.explain import lines_of, title_of
from tessella.compiler.program import Program
from tessella.hints import Generic, TypeVar
from tessella.sizes import counted

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


class StepTime(namedtuple("StepTime", "step title lines seconds bytes operations")):
    """What a step took: seconds; and moved and computed: bytes, multiplications and additions."""

    __slots__ = ()

    @property
    def gigabytes_per_second(self) -> float:
        """How fast memory was read and written."""
        return float(self.bytes / self.seconds / 1e9)

    @property
    def gigaflops_per_second(self) -> float:
        """How fast products were computed; 0: the step has none."""
        return float(self.operations / self.seconds / 1e9)

    @property
    def rate(self) -> str:
        """What the step is to be measured by, as text."""
        if self.operations:
            return f"{self.gigaflops_per_second:,.1f} GFLOP/s"
        return f"{self.gigabytes_per_second:,.1f} GB/s"


R = TypeVar("R", default=Tensor)


class Profile(Generic[R]):
    """Times of a program's steps: `print` shows them as a table; `rows` are to be read."""

    def __init__(self, name: str, program: Program, times: list[list[int]], result: R) -> None:
        self.name = name
        self.calls = len(times)
        self.result = result  # of the last call
        self.rows = [
            StepTime(
                at, title_of(step), lines_of(step),
                max(1, median(ns[at] for ns in times)) / 1e9,  # a clock may tick too slowly
                bytes_of(program, step), operations_of(step),
            )
            for at, step in enumerate(program.steps)
        ]  # fmt: skip
        self.seconds = sum(row.seconds for row in self.rows)

    def __repr__(self) -> str:
        of = f", the median of {self.calls:,} calls" if self.calls > 1 else ""
        width = max([len(row.title) for row in self.rows] + [4])
        steps = counted(len(self.rows), "step")
        lines = [
            f"compiled {self.name}: {to_text(self.seconds)} in {steps}{of}",
            f"       {'step':<{width}}       time  share            rate  lines",
        ]
        lines += [
            f"  {row.step:>3}  {row.title:<{width}} {to_text(row.seconds):>10}"
            f" {row.seconds / self.seconds:>6.0%} {row.rate:>15}  {row.lines}".rstrip()
            for row in self.rows
        ]
        return "\n".join(lines)


def to_text(seconds: float) -> str:
    """Show a time as people read it.

    >>> from tessella.compiler import profile
    >>> profile.to_text(0.00234)
    '2.34 ms'
    """
    unit, size = next(
        ((unit, size) for unit, size in UNITS.items() if seconds >= size), ("ns", 1e-9)
    )
    value = round(seconds / size, 6)  # 1e-7 / 1e-9 is not quite 100
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"
