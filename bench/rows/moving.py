"""Rows `index`, `join`, `cast` and `cumulative`: operations that mostly move memory.

Statements are written for `x` and the other names of their row; a string is the same for everybody
but torch's spelling of `axis`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, within
from bench.libraries import Libraries

SIDE = 4096
Statements = str | Mapping[str, str]
Arrays = Callable[[Libraries], dict[str, Any]]
CONTENDERS = ("tessella", "numpy", "torch")


def build(libs: Libraries, arrays: Arrays, statement: Statements) -> dict[str, Work]:
    """One statement for everybody, over arrays whose memory they share."""
    names: dict[str, dict[str, Any]] = {name: {"xp": libs.modules()[name]} for name in CONTENDERS}
    nbytes = 0
    for key, value in arrays(libs).items():
        parts = value if isinstance(value, list) else [value]
        made = {
            "tessella": [libs.ts.from_numpy(part) for part in parts],
            "numpy": parts,
            "torch": [libs.torch.from_numpy(part) for part in parts],
        }
        for name, tensors in made.items():
            names[name][key] = tensors if isinstance(value, list) else tensors[0]
        nbytes = max(nbytes, sum(part.nbytes for part in parts))
    spoken = statement if not isinstance(statement, str) else dict.fromkeys(CONTENDERS, statement)
    spoken = dict(spoken)
    if "torch" in spoken:
        spoken["torch"] = spoken["torch"].replace("axis", "dim")
    return {name: Work(text, names[name], nbytes) for name, text in spoken.items()}


def case(name: str, arrays: Arrays, statement: Statements, tolerance: float | None = 0.0) -> Case:
    """A case within 1.2 of the better of the two peers, where both can do it."""
    peers = (
        CONTENDERS[1:] if isinstance(statement, str) else [p for p in statement if p != "tessella"]
    )
    bars = (within(1.2, *peers),)
    return Case(name, partial(build, arrays=arrays, statement=statement), bars, "byte", tolerance)


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
INDEX = Row(
    "index",
    "indexing and assignment, a million elements",
    tuple(
        case(name, indexed, statement, None if "set" in name else 0.0)
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

# From, to; NumPy has no bfloat16.
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


def cast_source(libs: Libraries, dtype: str, side: int) -> dict[str, Any]:
    """Numbers that every dtype can hold."""
    array = libs.np.random.default_rng(2).integers(0, 100, (side, side))
    return {"x": array.astype(dtype)}


def cast_case(source: str, target: str, side: int) -> Case:
    """One conversion of a matrix."""
    spoken = {
        "tessella": f"x.astype(xp.{target})",
        "numpy": f"x.astype(xp.{target})",
        "torch": f"x.to(xp.{target})",
    }
    if target == "bfloat16":
        del spoken["numpy"]
    name = f"{source} to {target}, {side} x {side}"
    tolerance = None if target == "bfloat16" else 0.0
    return case(name, partial(cast_source, dtype=source, side=side), spoken, tolerance)


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
        case(name, summed, text, 1e-2)
        for name, text in {
            "axis 0": "xp.cumsum(x, axis=0)",
            "axis 1": "xp.cumsum(x, axis=1)",
            "one line of a million": "xp.cumsum(flat, axis=0)",
            "one line of 16 million": "xp.cumsum(whole, axis=0)",
            "product, axis 1": "xp.cumprod(x, axis=1)",
        }.items()
    ),
)
