"""Row `threads`: Tessella at its default number of threads beside itself at every smaller number.

The default may not be more than a tenth behind the best number, alone and beside a process that
keeps one core busy. Steps are compiled, operations eager.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import SUBJECT, Case, Row, Work, ahead
from bench.libraries import Libraries, cores
from bench.programs.steps import PROGRAMS
from bench.rows.steps import WARM

LEAST = 0.9
OPERATIONS = {
    "a @ b, 96": ("a @ b", (96, 96)),
    "a @ b, 512": ("a @ b", (512, 512)),
    "a + b, 20 thousand": ("a + b", (20_000,)),
    "a + b, 4 million": ("a + b", (4_000_000,)),
    "exp, 100 thousand": ("a.exp()", (100_000,)),
    "sum of rows, 300 x 300": ("a.sum(axis=1)", (300, 300)),
    "sum of columns, 2000 x 2000": ("a.sum(axis=0)", (2000, 2000)),
    "softmax, 500 x 500": ("a.softmax(-1)", (500, 500)),
    "sort, 200 thousand": ("a.sort()", (200_000,)),
}

Function = Callable[[], Any]


def contenders() -> dict[str, int]:
    """The default, and every smaller number."""
    smaller = {f"at {n}": n for n in range(1, cores())}
    return {SUBJECT: cores(), **smaller}


def works_of(libs: Libraries, make: Callable[[], Function]) -> dict[str, Work]:
    """The same function for everybody, each with what it writes of its own."""
    num_threads = libs.ts.num_threads

    def run(function: Function, threads: int) -> Any:
        with num_threads(threads):
            return function()

    return {
        name: Work("run(function, n)", {"run": run, "function": make(), "n": threads})
        for name, threads in contenders().items()
    }


def build_step(libs: Libraries, name: str) -> dict[str, Work]:
    """A step that is compiled already."""

    def make() -> Function:
        step = PROGRAMS[name].step(libs.ts, libs.np, libs.ts.compile)
        for _ in range(WARM):
            step()
        return step

    return works_of(libs, make)


def build_operation(libs: Libraries, name: str) -> dict[str, Work]:
    """An expression of two tensors."""
    text, shape = OPERATIONS[name]
    code = compile(text, name, "eval")
    names = {key: libs.ts.randn(*shape) for key in "ab"}
    return works_of(libs, lambda: lambda: eval(code, names))


def cases(is_busy: bool) -> list[Case]:
    """Every step and operation."""
    end = ", busy" if is_busy else ""
    bars = tuple(ahead(LEAST, name) for name in contenders() if name != SUBJECT)
    jobs = [(name, partial(build_step, name=name)) for name in PROGRAMS]
    jobs += [(name, partial(build_operation, name=name)) for name in OPERATIONS]
    return [Case(f"{name}{end}", job, bars, "", None, is_busy) for name, job in jobs]


ROW = Row(
    "threads",
    "the default number of threads beside smaller ones, also while a process keeps one core",
    (*cases(is_busy=False), *cases(is_busy=True)),
)
