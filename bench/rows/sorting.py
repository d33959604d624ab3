"""Rows `sort` and `argsort`: a million elements as one line, as lines of each length and axis.

NumPy sorts with vector instructions of its own and keeps no order among equals; torch always gives
indices beside the values. Tessella is stable.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, within
from bench.libraries import Libraries

Shape = tuple[int, ...]

# The shape and the axis: one line, lines across and along memory, short and very short lines.
LINES: tuple[tuple[Shape, int], ...] = (
    ((1_000_000,), 0),
    ((1000, 1000), 0),
    ((1000, 1000), 1),
    ((100_000, 10), 0),
    ((100_000, 10), 1),
    ((10_000, 100), 1),
    ((10, 100_000), 0),
)
DTYPES = ("float32", "float64", "int64")


def numbers(libs: Libraries, dtype: str, shape: Shape) -> Any:
    """Normal floats, or integers over the whole range."""
    generator = libs.np.random.default_rng(0)
    if dtype.startswith("float"):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(-(1 << 63), 1 << 63, shape, dtype)


def build(libs: Libraries, function: str, dtype: str, shape: Shape, axis: int) -> dict[str, Work]:
    """The same array for everybody, sorted along an axis."""
    array = numbers(libs, dtype, shape)
    made = {"tessella": libs.ts.from_numpy(array), "numpy": array}
    made["torch"] = libs.torch.from_numpy(array)
    spoken = {"tessella": f"axis={axis}", "numpy": f"axis={axis}", "torch": f"dim={axis}"}
    end = {"torch": ".values"} if function == "sort" else {}
    written = array.nbytes if function == "sort" else 8 * array.size
    # Equal elements may stand in another order in a peer's argsort: so what it sorts is compared.
    sorted_by = {
        name: f"xp.take_along_{'dim' if name == 'torch' else 'axis'}(x, value, {text})"
        for name, text in spoken.items()
        if function == "argsort"
    }
    return {
        name: Work(
            f"xp.{function}(x, {spoken[name]}){end.get(name, '')}",
            {"xp": libs.modules()[name], "x": x},
            array.nbytes + written,
            compared=sorted_by.get(name, ""),
        )
        for name, x in made.items()
    }


def row(function: str) -> Row:
    """Every dtype and shape."""
    cases = tuple(
        Case(
            f"{dtype} {' x '.join(map(str, shape))}, axis {axis}",
            partial(build, function=function, dtype=dtype, shape=shape, axis=axis),
            (within(1.2, "numpy", "torch"),),
            unit="byte",
            tolerance=0.0,
        )
        for dtype in DTYPES
        for shape, axis in LINES
    )
    return Row(function, f"{function} of a million elements", cases)


SORT, ARGSORT = row("sort"), row("argsort")
