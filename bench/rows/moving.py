"""Rows `index`, `join`, `cast` and `cumulative`: operations that mostly move memory.

Statements are written for `x` and the other names of their row; a string is the same for everybody
but torch's spelling of `axis`. Amounts are the bytes that a statement must read and write at least.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, within
from bench.libraries import Libraries

SIDE = 4096
SUM_TOLERANCE = 1e-2  # of sums in float32, one by one or in parts
Statements = str | Mapping[str, str]
Arrays = Callable[[Libraries], dict[str, Any]]
Moved = Callable[[dict[str, Any], Any], float]  # bytes, of NumPy's arrays and the result
CONTENDERS = ("tessella", "numpy", "torch")


def moved_in(text: str, arrays: dict[str, Any], result: Any) -> float:
    """The bytes of every array that a statement names, and of its result."""
    named = [arrays[name] for name in re.findall(r"\w+", text) if name in arrays]
    parts = [part for value in named for part in (value if isinstance(value, list) else [value])]
    return float(sum(part.nbytes for part in parts) + result.nbytes)


def spoken_by(statement: Statements) -> dict[str, str]:
    """A statement for each contender that can say it."""
    texts = dict.fromkeys(CONTENDERS, statement) if isinstance(statement, str) else dict(statement)
    return texts | {"torch": texts["torch"].replace("axis", "dim")}


def set_by(text: str) -> str:
    """The name of what a statement sets, if it does."""
    found = re.match(r"(\w+)\.__setitem__", text)
    return found[1] if found else ""


def build(
    libs: Libraries, arrays: Arrays, statement: Statements, moved: Moved | None = None
) -> dict[str, Work]:
    """One statement for everybody; they share the memory of all arrays but one that it sets."""
    names: dict[str, dict[str, Any]] = {name: {"xp": libs.modules()[name]} for name in CONTENDERS}
    made = arrays(libs)
    wrap = {"tessella": libs.ts.from_numpy, "torch": libs.torch.from_numpy}
    for name, given in names.items():
        own = wrap.get(name, lambda array: array)
        for key, value in made.items():
            given[key] = list(map(own, value)) if isinstance(value, list) else own(value)
    spoken = spoken_by(statement)
    target = set_by(spoken["tessella"])
    if target:
        copied = libs.copies(made[target])
        for name, given in names.items():
            given[target] = copied[name]
    result = eval(spoken["tessella"], dict(names["tessella"]))
    amount = moved(made, result) if moved else moved_in(spoken["tessella"], made, result)
    return {name: Work(text, names[name], amount, compared=target) for name, text in spoken.items()}


def case(
    name: str, arrays: Arrays, statement: Statements, tolerance: float | None = 0.0,
    moved: Moved | None = None,
) -> Case:  # fmt: skip
    """A case within 1.2 of the better of the two peers, where both can do it."""
    peers = (
        CONTENDERS[1:] if isinstance(statement, str) else [p for p in statement if p != "tessella"]
    )
    bars = (within(1.2, *peers),)
    job = partial(build, arrays=arrays, statement=statement, moved=moved)
    return Case(name, job, bars, "byte", tolerance)


# --- indexing ------------------------------------------------------------------------------------


def indexed(libs: Libraries, times: float = 1) -> dict[str, Any]:
    """A table and a line of a million elements (or `times` as many), and what to take from them."""
    generator = libs.np.random.default_rng(1)
    height, taken, length = int(20_000 * times), int(16_384 * times), int(1_000_000 * times)
    return {
        "table": libs.normal(height, 64),
        "rows": generator.integers(0, height, taken),
        "columns": generator.integers(0, 64, 64),
        "flat": libs.normal(length),
        "points": generator.integers(0, length, length // 2),
        "distinct": generator.permutation(length)[: length // 2],
        "mask": generator.random(length) < 0.5,
        "rare": generator.random(length) < 0.01,
        "line_mask": generator.random(height) < 0.5,
        "matrix_mask": generator.random((height, 64)) < 0.5,
        "new_rows": libs.normal(taken, 64),
        "new_points": libs.normal(length // 2),
    }


INDEX_STATEMENTS: dict[str, Statements] = {
    "take rows": "table[rows]",
    "take columns": "table[:, columns]",
    "take elements": "flat[points]",
    "pairs of indices": "table[rows, rows % 64]",
    "mask": "flat[mask]",
    "rare mask": "flat[rare]",
    "mask of rows": "table[line_mask]",
    "mask of a matrix": "table[matrix_mask]",
    "set rows": "table.__setitem__(rows, new_rows)",
    "set elements": "flat.__setitem__(distinct, new_points)",
    "set elements to a number": "flat.__setitem__(distinct, 0.5)",
    "set by mask": "flat.__setitem__(mask, 0.25)",
    "set rows by mask": "table.__setitem__(line_mask, 0.25)",
    "set a block": "table.__setitem__((slice(100, 19_000), slice(8, 56)), 2.0)",
    "nonzero": {
        "tessella": "xp.nonzero(mask)[0]",
        "numpy": "xp.nonzero(mask)[0]",
        "torch": "xp.nonzero(mask, as_tuple=True)[0]",
    },
    "take_along_axis": {
        "tessella": "xp.take_along_axis(new_rows, new_rows.argsort(), axis=1)",
        "numpy": "xp.take_along_axis(new_rows, new_rows.argsort(), axis=1)",
        "torch": "xp.take_along_dim(new_rows, new_rows.argsort(), dim=1)",
    },
}
# Where it is not whole arrays that are read: what is taken is read and written, and what says which
# is read. Temporaries count, as in the second index of the pairs.
INDEX_MOVED: dict[str, Moved] = {
    "take rows": lambda x, out: x["rows"].nbytes + 2 * out.nbytes,
    "take columns": lambda x, out: x["columns"].nbytes + 2 * out.nbytes,
    "take elements": lambda x, out: x["points"].nbytes + 2 * out.nbytes,
    "pairs of indices": lambda x, out: 4 * x["rows"].nbytes + 2 * out.nbytes,
    "mask": lambda x, out: x["mask"].nbytes + 2 * out.nbytes,
    "rare mask": lambda x, out: x["rare"].nbytes + 2 * out.nbytes,
    "mask of rows": lambda x, out: x["line_mask"].nbytes + 2 * out.nbytes,
    "mask of a matrix": lambda x, out: x["matrix_mask"].nbytes + 2 * out.nbytes,
    "set rows": lambda x, _: x["rows"].nbytes + 2 * x["new_rows"].nbytes,
    "set elements": lambda x, _: x["distinct"].nbytes + 2 * x["new_points"].nbytes,
    "set elements to a number": lambda x, _: x["distinct"].nbytes + 4 * x["distinct"].size,
    "set by mask": lambda x, _: x["mask"].nbytes + 4 * float(x["mask"].sum()),
    "set rows by mask": lambda x, _: x["line_mask"].nbytes + 256 * float(x["line_mask"].sum()),
    "set a block": lambda x, _: 4.0 * (19_000 - 100) * (56 - 8),
    # argsort reads rows and writes int64; then both are read, and rows written.
    "take_along_axis": lambda x, out: 7 * out.nbytes,
}
# A row that is named twice holds one of its two values, and which is not said.
ANY_ORDER = ("set rows",)
INDEX = Row(
    "index",
    "indexing and assignment, a million elements",
    tuple(
        case(name, indexed, statement, None if name in ANY_ORDER else 0.0, INDEX_MOVED.get(name))
        for name, statement in INDEX_STATEMENTS.items()
    ),
)

# --- concat and stack ----------------------------------------------------------------------------


def joined(libs: Libraries, rows: int = 1024) -> dict[str, Any]:
    """A few large parts, and many small ones."""
    return {
        "parts": [libs.normal(rows, 1024) for _ in range(4)],
        "small": [libs.normal(16) for _ in range(64)],
    }


JOIN_STATEMENTS = {
    name: {"tessella": text, "numpy": text, "torch": text.replace("concat", "cat")}
    for name, text in {
        "concat, axis 0": "xp.concat(parts, axis=0)",
        "concat, axis 1": "xp.concat(parts, axis=1)",
        "stack, axis 0": "xp.stack(parts, axis=0)",
        "stack, axis 1": "xp.stack(parts, axis=1)",
        "stack, axis -1": "xp.stack(parts, axis=-1)",
        "concat of 64": "xp.concat(small, axis=0)",
        "stack of 64": "xp.stack(small, axis=0)",
    }.items()
}
JOIN = Row(
    "join",
    "concat and stack of four 1024 x 1024, and of 64 parts of 16",
    tuple(case(name, joined, statement) for name, statement in JOIN_STATEMENTS.items()),
)

# --- casts ---------------------------------------------------------------------------------------

# From, to.
CASTS = (
    ("float32", "float64"),
    ("float64", "float32"),
    ("float32", "float16"),
    ("float16", "float32"),
    ("float32", "bfloat16"),
    ("int64", "float32"),
    ("int32", "float32"),
    ("uint8", "float32"),
    ("bool", "float32"),
    ("float32", "int64"),
    ("float32", "int32"),
    ("int64", "int32"),
    ("int64", "float64"),
)


def cast_source(libs: Libraries, dtype: str, rows: int, width: int) -> dict[str, Any]:
    """Numbers that every dtype can hold."""
    array = libs.np.random.default_rng(2).integers(0, 100, (rows, width))
    return {"x": array.astype(dtype)}


def cast_statement(target: str) -> dict[str, str]:
    """One conversion; NumPy has no bfloat16."""
    ours = f"x.astype(xp.{target})"
    spoken = {"tessella": ours, "numpy": ours, "torch": f"x.to(xp.{target})"}
    if target == "bfloat16":
        del spoken["numpy"]
    return spoken


def cast_case(source: str, target: str, side: int) -> Case:
    """One conversion of a matrix."""
    name = f"{source} to {target}, {side} x {side}"
    made = partial(cast_source, dtype=source, rows=side, width=side)
    return case(name, made, cast_statement(target))


CAST = Row(
    "cast",
    "matrices converted to another dtype",
    tuple(cast_case(source, target, side) for side in (2048, 256) for source, target in CASTS),
)

# --- cumulative sums -----------------------------------------------------------------------------


def summed(libs: Libraries, rows: int = SIDE) -> dict[str, Any]:
    """Positive numbers, so that results can be compared."""
    matrix = libs.aligned(rows, SIDE)
    matrix += libs.np.random.default_rng(3).random(SIDE, dtype=libs.np.float32)
    return {"x": matrix, "flat": matrix.reshape(-1)[: 1 << 20], "whole": matrix.reshape(-1)}


CUMULATIVE = Row(
    "cumulative",
    f"cumulative sums of {SIDE} x {SIDE} and of one line",
    tuple(
        case(name, summed, text, SUM_TOLERANCE)
        for name, text in {
            "axis 0": "xp.cumsum(x, axis=0)",
            "axis 1": "xp.cumsum(x, axis=1)",
            "one line of a million": "xp.cumsum(flat, axis=0)",
            "one line of 16 million": "xp.cumsum(whole, axis=0)",
            "product, axis 1": "xp.cumprod(x, axis=1)",
        }.items()
    ),
)
