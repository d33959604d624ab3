"""Rows `growth-…`: one work at an eighth of its size, at its size, and at eight times that.

Time must grow as the work does. Where work leaves a cache its speed falls once, for everybody; such
ladders say so by their bar. Peers are timed beside, for the plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from bench.cases import SUBJECT, Case, Once, Row, Work, part_of, steady
from bench.fresh import median_probe
from bench.libraries import Libraries
from bench.programs.steps import PROGRAMS, sized
from bench.rows import fused, gemm, lines, moving, reduce, sorting, steps

Build = Callable[..., dict[str, Work]]

RACED = ("tessella", "numpy", "torch", "jax")  # torch.compile takes long to begin
STEADY = 0.8
# Of the measured machine, whose cores read 170 GB/s from the caches and 27 to 32 from memory.
LEAVES_CACHE = 0.15
STEP_SIZES = {
    "xor": (2, 16, 128),
    "digits": (8, 64, 512),
    "mnist": (16, 128, 1024),
    "gpt": (2, 12, 96),
    "conv": (8, 64, 512),
    "lstm": (4, 32, 256),
}
GROWN = {"xor": "hidden width {}", "gpt": "{} texts"}


def raced(libs: Libraries, build: Build, options: Mapping[str, Any]) -> dict[str, Work]:
    """The works of Tessella and its peers, without yardsticks."""
    return {name: work for name, work in build(libs, **options).items() if name in RACED}


def ladder(
    picture: str,
    name: str,
    what: str,
    build: Build,
    sizes: Mapping[str, Mapping[str, Any]],
    *,
    keeps: float = STEADY,
    unit: str = "",
    tolerance: float | None = 1e-3,
) -> Row:
    """A row of one work in a picture; `sizes` has the options of `build`, the smallest first."""
    cases = tuple(
        Case(size, partial(raced, build=build, options=options), (), unit, tolerance)
        for size, options in sizes.items()
    )
    return Row(
        f"growth-{name}", what, cases, bars=(steady(keeps),), is_ladder=True, picture=picture
    )


def step_ladder(name: str) -> Row:
    """A compiled training step."""
    sizes = {
        GROWN.get(name, "batch {}").format(size): {"program": sized(name, size), "amount": size}
        for size in STEP_SIZES[name]
    }
    build = partial(steps.build, make=steps.compiled_steps)
    return ladder(
        "steps",
        name,
        f"the compiled step of {PROGRAMS[name].what}, larger and smaller",
        build,
        sizes,
    )


def build_add(libs: Libraries, size: int) -> dict[str, Work]:
    """Two lines that each contender has allocated itself."""
    x, y = libs.copies(libs.normal(size)), libs.copies(libs.normal(size) + 1)
    wait = {"jax": "(x + y).block_until_ready()"}
    return {
        name: Work(wait.get(name, "x + y"), {"x": x[name], "y": y[name]}, 12.0 * size) for name in x
    }


def row_ladder(name: str) -> Row:
    """An operation over rows, forward and backward."""
    sizes = {f"{rows} x {lines.WIDTH}": {"rows": rows} for rows in (512, 4096, 32_768)}
    what = f"{name}, forward and backward"
    build = partial(lines.build, name=name)
    return ladder("arithmetic", name.replace(" ", "-"), what, build, sizes, keeps=LEAVES_CACHE)


def reduce_ladder(name: str, what: str, axis: int | None) -> Row:
    """A sum of more and more rows."""
    shapes = [(rows, reduce.LARGE) for rows in (512, 4096, 32_768)]
    sizes = {f"{rows} x {width}": {"shape": (rows, width)} for rows, width in shapes}
    build = partial(reduce.build, function="sum", axis=axis)
    return ladder("moving", name, what, build, sizes, keeps=LEAVES_CACHE, unit="byte")


def moving_ladder(name: str, what: str, statement: moving.Statements) -> Row:
    """Elements taken from, or set in, a table and a line."""
    sizes = {
        f"{int(times * 1_000_000)} elements": {"arrays": partial(moving.indexed, times=times)}
        for times in (1 / 8, 1, 8)
    }
    build = partial(moving.build, statement=statement)
    return ladder(
        "moving", name, what, build, sizes, keeps=LEAVES_CACHE, unit="byte", tolerance=None
    )


def shaped_ladder(
    name: str,
    what: str,
    make: Callable[..., dict[str, Any]],
    rows: tuple[int, ...],
    statement: moving.Statements,
) -> Row:
    """Arrays with more and more rows."""
    sizes = {f"{n} rows": {"arrays": partial(make, rows=n)} for n in rows}
    build = partial(moving.build, statement=statement)
    return ladder(
        "moving", name, what, build, sizes, keeps=LEAVES_CACHE, unit="byte", tolerance=None
    )


TIMED = (
    *map(step_ladder, STEP_SIZES),
    ladder(
        "arithmetic",
        "gemm",
        "a matrix product into a given output",
        gemm.build_into,
        {f"{n}": {"shape": (n, n, n, "nn")} for n in (256, 512, 1024, 2048)},
        unit="flop",
    ),
    ladder(
        "arithmetic",
        "add",
        "x + y",
        build_add,
        {f"{n} floats": {"size": n} for n in (1 << 14, 1 << 17, 1 << 20, 1 << 23)},
        keeps=LEAVES_CACHE,
        unit="byte",
    ),
    ladder(
        "arithmetic",
        "gelu",
        "GELU written with 9 operations, compiled",
        fused.build,
        {f"{n} floats": {"size": n} for n in (1_250_000, 10_000_000, 80_000_000)},
        unit="byte",
    ),
    *map(row_ladder, lines.NAMES),
    reduce_ladder("sum", "a sum of all elements", None),
    reduce_ladder("columns", "sums of columns", 0),
    ladder(
        "moving",
        "sort",
        "a sorted line",
        partial(sorting.build, function="sort", dtype="float32", axis=0),
        {f"{n} floats": {"shape": (n,)} for n in (125_000, 1_000_000, 8_000_000)},
        keeps=0.5,  # n log n, and out of the caches
        unit="byte",
        tolerance=0.0,
    ),
    moving_ladder("rows", "rows taken by their numbers", moving.INDEX_STATEMENTS["take rows"]),
    moving_ladder("mask", "elements taken by a mask", moving.INDEX_STATEMENTS["mask"]),
    shaped_ladder(
        "concat",
        "four matrices joined",
        moving.joined,
        (128, 1024, 8192),
        moving.JOIN_STATEMENTS["concat, axis 0"],
    ),
    shaped_ladder(
        "cumsum",
        "cumulative sums of rows",
        moving.summed,
        (512, 4096, 32_768),
        "xp.cumsum(x, axis=1)",
    ),
)


# --- what is measured once ------------------------------------------------------------------------


def grown(probe: str, unit: str, scale: float, sizes: Mapping[str, int]) -> Iterator[Once]:
    """What a probe prints at each size, held against what the size before came to."""
    before: tuple[float, int] | None = None
    for name, size in sizes.items():
        value = median_probe(3, probe, str(size)) / scale
        values = {SUBJECT: value}
        if before is None:
            yield Once(name, values, unit)
        else:
            expected = f"{size / before[1]:g} times the last"
            values[expected] = before[0] * size / before[1]
            yield Once(name, values, unit, (part_of(1.1, expected),))
        before = value, size


COMPILING = Row(
    "growth-compile",
    "recording and compiling a training step of linear layers",
    once=lambda: grown("deepening", "ms", 1e-3, {f"{n} layers": n for n in (3, 24, 192)}),
    is_ladder=True,
)
MEMORY = Row(
    "growth-memory",
    "the most bytes that a compiled gpt step holds",
    once=lambda: grown("widening", "MB", 1e6, {f"{n} texts": n for n in STEP_SIZES["gpt"]}),
    is_ladder=True,
)
ROWS = (*TIMED, COMPILING, MEMORY)
