"""Rows `growth-…`: one work at an eighth of its size, at its size, and at eight times that.

Time must grow as the work does. Where work leaves a cache its speed falls, for everybody: so a step
is also met by what the fastest peer keeps of its speed on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from bench.cases import SUBJECT, Case, Once, Row, Work, part_of, steady
from bench.fresh import median_probe
from bench.libraries import Libraries
from bench.programs.steps import PROGRAMS, sized
from bench.rows import fused, gemm, layers, lines, moving, reduce, sorting, steps

Build = Callable[..., dict[str, Work]]

RACED = ("tessella", "numpy", "torch", "jax")  # torch.compile takes long to begin
STEADY = 0.8
HEAD_SHAPE = (256, 64)  # tokens, width
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
    unit: str = "",
    tolerance: float | None = 1e-3,
) -> Row:
    """A row of one work in a picture; `sizes` has the options of `build`, the smallest first."""
    cases = tuple(
        Case(size, partial(raced, build=build, options=options), (), unit, tolerance)
        for size, options in sizes.items()
    )
    return Row(
        f"growth-{name}", what, cases, bars=(steady(STEADY),), is_ladder=True, picture=picture
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
    return ladder("arithmetic", name.replace(" ", "-"), what, build, sizes)


def layer_ladder(
    name: str,
    what: str,
    eager: layers.Function,
    jitted: layers.Function,
    sizes: Mapping[str, tuple[Callable[[Libraries], Any], float]],
    tolerance: float | None = 1e-3,
) -> Row:
    """A part of networks, forward and backward; a size has its arrays and its amount."""
    options = {size: {"arrays": make, "amount": n} for size, (make, n) in sizes.items()}
    build = partial(layers.build, eager=eager, jitted=jitted)
    return ladder("layers", name, what, build, options, tolerance=tolerance)


def by_rows(make: Callable[..., Any]) -> dict[str, tuple[Callable[[Libraries], Any], float]]:
    """Arrays with more and more rows."""
    return {
        f"{rows} x {layers.WIDTH}": (partial(make, rows=rows), rows) for rows in (512, 4096, 32_768)
    }


LAYERS = (
    layer_ladder(
        "attention",
        f"causal attention, heads of {HEAD_SHAPE[0]} x {HEAD_SHAPE[1]}, forward and backward",
        layers.attention,
        layers.jax_attention,
        {
            f"{4 * n} heads": (partial(layers.heads, shape=(n, 4, *HEAD_SHAPE)), n)
            for n in (1, 8, 64)
        },
    ),
    layer_ladder(
        "rms-norm",
        "RMS norm, forward and backward",
        layers.rms_norm,
        layers.jax_rms_norm,
        by_rows(layers.lines),
    ),
    layer_ladder(
        "embedding",
        "rows of a table that grows, too, forward and backward",
        layers.embedding,
        layers.jax_embedding,
        {
            f"{int(layers.TAKEN * times)} rows": (partial(layers.table, times=times), times)
            for times in (1 / 8, 1, 8)
        },
    ),
    layer_ladder(
        "dropout",
        "dropout, forward and backward",
        layers.dropout,
        layers.jax_dropout,
        by_rows(layers.one),
        tolerance=None,
    ),
    ladder(
        "layers",
        "adam",
        f"Adam's update of matrices of {layers.SIDE} x {layers.SIDE}",
        layers.build_adam,
        {f"{n} matrices": {"count": n, "amount": n} for n in (2, 16, 128)},
    ),
)


def reduce_ladder(name: str, what: str, axis: int | None, function: str = "sum") -> Row:
    """A reduction of more and more rows."""
    shapes = [(rows, reduce.LARGE) for rows in (512, 4096, 32_768)]
    sizes = {f"{rows} x {width}": {"shape": (rows, width)} for rows, width in shapes}
    build = partial(reduce.build, function=function, axis=axis)
    return ladder("moving", name, what, build, sizes, unit="byte read")


def moving_ladder(name: str, what: str, case: str) -> Row:
    """Elements taken from, or set in, a table and a line."""
    sizes = {
        f"{int(times * 1_000_000)} elements": {"arrays": partial(moving.indexed, times=times)}
        for times in (1 / 8, 1, 8)
    }
    statement, moved = moving.INDEX_STATEMENTS[case], moving.INDEX_MOVED[case]
    build = partial(moving.build, statement=statement, moved=moved)
    return ladder("moving", name, what, build, sizes, unit="byte", tolerance=0.0)


def shaped_ladder(
    name: str,
    what: str,
    make: Callable[..., dict[str, Any]],
    rows: tuple[int, ...],
    statement: moving.Statements,
    tolerance: float = 0.0,
) -> Row:
    """Arrays with more and more rows."""
    sizes = {f"{n} rows": {"arrays": partial(make, rows=n)} for n in rows}
    build = partial(moving.build, statement=statement)
    return ladder("moving", name, what, build, sizes, unit="byte", tolerance=tolerance)


def sort_ladder(function: str, what: str) -> Row:
    """A longer and longer line."""
    return ladder(
        "moving",
        function,
        what,
        partial(sorting.build, function=function, dtype="float32", axis=0),
        {f"{n} floats": {"shape": (n,)} for n in (125_000, 1_000_000, 8_000_000)},
        unit="byte",
        tolerance=0.0,
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
        "`x + y`",
        build_add,
        {f"{n} floats": {"size": n} for n in (1 << 14, 1 << 17, 1 << 20, 1 << 23)},
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
    *LAYERS,
    reduce_ladder("sum", "a sum of all elements", None),
    reduce_ladder("columns", "sums of columns", 0),
    reduce_ladder("max", "the largest of all elements", None, "max"),
    sort_ladder("sort", "a sorted line"),
    sort_ladder("argsort", "the order of a line"),
    moving_ladder("rows", "rows taken by their numbers", "take rows"),
    moving_ladder("mask", "elements taken by a mask", "mask"),
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
        moving.SUM_TOLERANCE,
    ),
    shaped_ladder(
        "cast",
        "`int64` to `float32`",
        partial(moving.cast_source, dtype="int64", width=2048),
        (256, 2048, 16_384),
        moving.cast_statement("float32"),
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
