"""Row `reduce`: sum, max and mean over each axis, of 64 MiB and of a matrix that stays in cache.

The yardstick is a hand-written sum of the same memory by all threads: the machine's read bandwidth
for the large matrix, that of its caches for the other.
"""

from __future__ import annotations

from functools import partial

from bench import peaks
from bench.cases import PEAK, Case, Row, Work, ahead
from bench.libraries import Libraries

LARGE, CACHED = 4096, 512
FUNCTIONS = ("sum", "max", "mean")
AXES = (None, 0, 1)


def statements(function: str, axis: int | None) -> dict[str, str]:
    """torch's max gives a pair, so its amax stands in; JAX answers before it is ready."""
    argument = "" if axis is None else f"axis={axis}"
    theirs = argument.replace("axis", "dim")
    names = {"max": "amax"} if axis is not None else {}
    return {
        "tessella": f"x.{function}({argument})",
        "numpy": f"x.{function}({argument})",
        "torch": f"x.{names.get(function, function)}({theirs})",
        "jax": f"x.{function}({argument}).block_until_ready()",
    }


def build(
    libs: Libraries, shape: tuple[int, int], function: str, axis: int | None
) -> dict[str, Work]:
    """One matrix in memory that all but JAX share."""
    # Beyond 1, so that a sum is no cancellation and results can be compared.
    array = libs.normal(*shape)
    array += 8
    tensors = libs.wrap(array)
    works = {
        name: Work(statement, {"x": tensors[name]}, array.nbytes)
        for name, statement in statements(function, axis).items()
    }
    return works | {PEAK: peaks.read(array)}


def case(side: int, function: str, axis: int | None) -> Case:
    """One reduction."""
    place = "in cache, " if side == CACHED else ""
    which = "all" if axis is None else f"axis {axis}"
    job = partial(build, shape=(side, side), function=function, axis=axis)
    return Case(
        f"{place}{function}, {which}", job, (ahead(0.8, PEAK),), unit="byte read", tolerance=1e-3
    )


ROW = Row(
    "reduce",
    f"{LARGE} x {LARGE} floats, and {CACHED} x {CACHED} in cache",
    tuple(
        case(side, function, axis)
        for side in (LARGE, CACHED)
        for function in FUNCTIONS
        for axis in AXES
    ),
)
