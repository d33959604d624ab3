"""Rows `append` and `extend`: arrays that grow, beside list, array.array and a plain copy."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from bench.cases import ONCE, Case, Row, Work, ahead
from bench.libraries import Libraries

COUNTS = (1_000, 100_000, 1_000_000)
ELEMENTS = 10_000_000


def fill(make: Callable[[], Any], values: list[Any]) -> Any:
    """Append values one by one to a new array, and give it."""
    a = make()
    for value in values:
        a.append(value)
    return a


def own(function: Any) -> Any:
    """Copy a function: Python specialises code by the types that it has seen, for each alone."""
    return FunctionType(function.__code__.replace(), function.__globals__)


def build_append(libs: Libraries, dtype: str, count: int) -> dict[str, Work]:
    """The same numbers for everybody."""
    values: list[Any] = [float(i) for i in range(count)]
    if dtype == "int64":
        values = list(range(count))
    code = "q" if dtype == "int64" else "d"
    makers: dict[str, Callable[[], Any]] = {
        "tessella": lambda: libs.ts.DynamicArray(dtype),
        "list": list,
        "array": lambda: array(code),
    }
    return {
        name: Work("fill(make, values)", {"fill": own(fill), "make": make, "values": values}, count)
        for name, make in makers.items()
    }


APPEND = Row(
    "append",
    "numbers appended one by one",
    tuple(
        Case(
            f"{dtype} {count}",
            partial(build_append, dtype=dtype, count=count),
            (ahead(0.5, "list"),),
            tolerance=0.0,
            settings=ONCE,
        )
        for dtype in ("float64", "int64")
        for count in COUNTS
    ),
)


def refill(a: Any, x: Any) -> None:
    """Empty an array, which keeps its memory, and fill it again."""
    del a[:]
    a.extend(x)


def build_extend(libs: Libraries, dtype: str) -> dict[str, Work]:
    """Into memory that is there, as a copy goes."""
    x = libs.np.ones(ELEMENTS, dtype)
    a = libs.ts.DynamicArray(dtype, ELEMENTS)
    a.extend(x)
    out = libs.np.empty_like(x)
    amount = 2.0 * x.nbytes  # read and written
    return {
        "tessella": Work("refill(a, x)", {"refill": refill, "a": a, "x": x}, amount, compared="a"),
        "numpy": Work("copy(out, x)", {"copy": libs.np.copyto, "out": out, "x": x}, amount),
    }


EXTEND = Row(
    "extend",
    "10 million elements from a buffer, beside a copy",
    tuple(
        Case(dtype, partial(build_extend, dtype=dtype), (ahead(0.8, "numpy"),), "byte", 0.0)
        for dtype in ("uint8", "float32", "float64")
    ),
)
