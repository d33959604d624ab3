"""Row `threads`: Tessella at its default number of threads beside itself at every smaller number.

The default may not be more than a tenth behind the best number, alone and beside a process that
keeps one core busy. Steps are compiled, operations eager; the builders are those of other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.cases import ONCE, SUBJECT, Case, Row, Work, ahead
from bench.libraries import Libraries
from bench.programs import learning
from bench.programs.steps import PROGRAMS
from bench.rows import fused, layers, lines, moving, sorting, wild
from bench.rows.steps import WARM
from bench.thread_counts import at_counts, smaller

Build = Callable[[Libraries], dict[str, Work]]
Make = Callable[[Libraries], Work]

LEAST = 0.9
OPERATIONS = {
    "a @ b, 96": ("a @ b", (96, 96)),
    "a @ b, 512": ("a @ b", (512, 512)),
    "a @ b, 1024": ("a @ b", (1024, 1024)),
    "a + b, 20 thousand": ("a + b", (20_000,)),
    "a + b, 4 million": ("a + b", (4_000_000,)),
    "exp, 100 thousand": ("a.exp()", (100_000,)),
    "sum of rows, 300 x 300": ("a.sum(axis=1)", (300, 300)),
    "sum of columns, 2000 x 2000": ("a.sum(axis=0)", (2000, 2000)),
    "softmax, 500 x 500": ("a.softmax(-1)", (500, 500)),
    "sort, 200 thousand": ("a.sort()", (200_000,)),
}
IMAGES, CHANNELS, KEPT, PIXELS = 32, 16, 32, 28


def make_step(libs: Libraries, name: str) -> Work:
    """A step that is compiled already."""
    step = PROGRAMS[name].step(libs.ts, libs.np, libs.ts.compile)
    for _ in range(WARM):
        step()
    return Work("step()", {"step": step})


def make_operation(libs: Libraries, name: str) -> Work:
    """An expression of two tensors."""
    text, shape = OPERATIONS[name]
    return Work(text, {key: libs.ts.randn(*shape) for key in "ab"})


def make_convolution(libs: Libraries, is_trained: bool) -> Work:
    """A convolution forward, or forward and backward."""
    conv2d = libs.ts.nn.functional.conv2d
    shapes = (IMAGES, CHANNELS, PIXELS, PIXELS), (KEPT, CHANNELS, 3, 3)
    if is_trained:
        g = libs.normal(IMAGES, KEPT, PIXELS - 2, PIXELS - 2)
        arrays = [libs.normal(*shape) for shape in shapes]
        step = layers.eager_step(libs.ts, arrays, g, lambda f, x, w: f.conv2d(x, w))
        return Work("step()", {"step": step})
    x, w = (libs.ts.tensor(libs.normal(*shape)) for shape in shapes)
    return Work("conv2d(x, w)", {"conv2d": conv2d, "x": x, "w": w})


def make_as_built(libs: Libraries, build: Build) -> Work:
    """Tessella's part of a case of another row."""
    return build(libs)[SUBJECT]


def case_of(row: Row, name: str) -> Build:
    """How a case of another row is built, by the beginning of its name."""
    (found,) = (case.build for case in row.cases if case.name.startswith(name))
    return found


BUILT: dict[str, Build] = {
    "layer norm": partial(lines.build, name="layer norm"),
    "cross entropy": partial(lines.build, name="cross entropy"),
    "attention, small": case_of(layers.ROW, "attention, 48"),
    "attention, large": case_of(layers.ROW, "attention, 32"),
    "embedding": case_of(layers.ROW, "embedding"),
    "dropout": case_of(layers.ROW, "dropout"),
    "Adam": layers.build_adam,
    "GELU, compiled": fused.build,
    "take rows": case_of(moving.INDEX, "take rows"),
    "take elements": case_of(moving.INDEX, "take elements"),
    "int64 to float32, 256 x 256": case_of(moving.CAST, "int64 to float32, 256"),
    "int64 to float32, 2048 x 2048": case_of(moving.CAST, "int64 to float32, 2048"),
    "concat": case_of(moving.JOIN, "concat, axis 0"),
    "cumsum of columns": case_of(moving.CUMULATIVE, "axis 0"),
    "cumsum of rows": case_of(moving.CUMULATIVE, "axis 1"),
    "argsort": case_of(sorting.ARGSORT, "float32 1000000"),
    "k-means": partial(wild.build, program=learning.kmeans),
}
MAKERS: dict[str, Make] = {
    **{name: partial(make_step, name=name) for name in PROGRAMS},
    **{name: partial(make_operation, name=name) for name in OPERATIONS},
    "conv, forward": partial(make_convolution, is_trained=False),
    "conv, forward and backward": partial(make_convolution, is_trained=True),
    **{name: partial(make_as_built, build=build) for name, build in BUILT.items()},
}


def build(libs: Libraries, make: Make) -> dict[str, Work]:
    """The plain default, and the smaller numbers."""
    return at_counts(libs, lambda: make(libs))


def cases(is_busy: bool) -> list[Case]:
    """Every step and operation."""
    end = ", busy" if is_busy else ""
    bars = tuple(ahead(LEAST, name) for name in smaller())
    return [
        Case(f"{name}{end}", partial(build, make=make), bars, "", None, is_busy, ONCE)
        for name, make in MAKERS.items()
    ]


ROW = Row(
    "threads",
    "the default number of threads beside smaller ones, also while a process keeps one core",
    (*cases(is_busy=False), *cases(is_busy=True)),
)
