"""Rows `gemm`, `gemm-small` and `gemm-more`: matrix products against OpenBLAS and MKL.

`gemm` writes into a given output; NumPy's wheel brings OpenBLAS and torch's brings MKL. Shapes are
(M, N, K) with a letter for each operand: n as it is, t transposed. The others go through `@`:
`gemm-small` squares, `gemm-more` batches, vectors, the other floating dtypes, and large squares at
the default number of threads over one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from bench import peaks
from bench.cases import ONCE, PEAK, Case, Row, Work, ahead
from bench.libraries import Libraries
from bench.thread_counts import at_counts, smaller

Shape = tuple[int, int, int, str]
Sizes = tuple[int, ...]
TURN = "b.swapaxes(-2, -1)"

SQUARE = tuple((n, n, n, "nn") for n in (96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048))
ODD = (*((n, n, n, "nn") for n in (97, 255, 509, 1000)), (129, 1023, 257, "nn"))
THIN = ((1024, 1024, 16, "nn"), (16, 1024, 1024, "nn"), (1024, 16, 1024, "nn"))
TALL = ((16384, 64, 64, "nn"), (64, 64, 16384, "nn"), (128, 512, 784, "nn"), (1, 1024, 1024, "nn"))
TRANSPOSED = tuple((n, n, n, letters) for n in (128, 512, 1024) for letters in ("nt", "tn", "tt"))
TRANSPOSED += ((128, 512, 784, "nt"), (784, 512, 128, "tn"))
# Shapes of both operands; the second one's last axes are turned where a letter says so.
BATCHED = (
    ((48, 64, 32), (48, 32, 64), "nt"),
    ((48, 64, 64), (48, 64, 32), "nn"),
    ((256, 16, 16), (256, 16, 16), "nn"),
    ((12, 64, 128), (128, 384), "nn"),
    ((1024,), (1024, 1024), "nn"),
    ((1024, 1024), (1024,), "nn"),
)
# Whom a dtype is held against. Not torch for bfloat16: it multiplies by the processor's dot product
# of pairs, at twice the speed of float32. That one takes subnormal numbers for 0 and is not to be
# had with AVX2, whose bits are to be the same.
DTYPES = {"float64": ("numpy", "torch"), "bfloat16": ("jax",), "float16": ("torch", "jax")}
DTYPE_SHAPES = ((64, 64, 64), (512, 512, 512), (1024, 1024, 1024), (128, 512, 784))
# Large squares, where every thread has enough to do: the bar is for two of them over one.
SPLIT = (("float32", 1024), ("float32", 2048), ("float64", 1024))
SPLIT_AHEAD = 1.8
HALF_TOLERANCE = 2e-2  # results are rounded to 8 bits or 11, and sums may be on the way
SMALL_SIDES = (2, 4, 8, 16, 24, 32, 48, 64)


def shape_name(shape: Shape) -> str:
    """How the table calls a shape: 512, 512 tn, 16 x 1024 x 1024."""
    m, n, k, letters = shape
    sizes = f"{m}" if m == n == k else f"{m} x {n} x {k}"
    return sizes if letters == "nn" else f"{sizes} {letters}"


def build_into(libs: Libraries, shape: Shape) -> dict[str, Work]:
    """The stored operands are shared; each contender has an output of its own."""
    m, n, k, letters = shape
    a_turned, b_turned = letters[0] == "t", letters[1] == "t"
    a = libs.wrap(libs.normal(k, m) if a_turned else libs.normal(m, k))
    b = libs.wrap(libs.normal(n, k) if b_turned else libs.normal(k, n))
    flop = 2.0 * m * n * k

    def views(name: str) -> dict[str, object]:
        return {
            "a": a[name].T if a_turned else a[name],
            "b": b[name].T if b_turned else b[name],
            "out": libs.wrap(libs.aligned(m, n))[name],
        }

    ours = {"matmul_into": libs.ts.matmul_into} | views("tessella")
    return {
        "tessella": Work("matmul_into(out, a, b)", ours, flop),
        "numpy": Work("matmul(a, b, out)", {"matmul": libs.np.matmul} | views("numpy"), flop),
        "torch": Work("mm(a, b, out=out)", {"mm": libs.torch.mm} | views("torch"), flop),
        PEAK: peaks.fma(),
    }


def build_operator(libs: Libraries, side: int) -> dict[str, Work]:
    """Square operands that each contender has allocated itself."""
    a, b = (libs.copies(libs.normal(side, side) + shift) for shift in (0, 1))
    return {name: Work("a @ b", {"a": a[name], "b": b[name]}, 2.0 * side**3) for name in a}


def waited(name: str, statement: str) -> str:
    """JAX gives results before they are there."""
    return f"({statement}).block_until_ready()" if name == "jax" else statement


def build_batched(libs: Libraries, a: Sizes, b: Sizes, letters: str) -> dict[str, Work]:
    """Many products in one call, or a vector."""
    turned = libs.normal(*b[:-2], b[-1], b[-2]) if letters[1] == "t" else libs.normal(*b)
    left, right = libs.copies(libs.normal(*a)), libs.copies(turned)
    statement = f"a @ {TURN if letters[1] == 't' else 'b'}"
    rows = math.prod(a[:-1])
    flop = 2.0 * rows * a[-1] * (b[-1] if len(b) > 1 else 1)
    return {
        name: Work(waited(name, statement), {"a": left[name], "b": right[name]}, flop)
        for name in left
    }


def build_dtype(libs: Libraries, dtype: str, shape: tuple[int, int, int]) -> dict[str, Work]:
    """NumPy multiplies halves one by one, so it takes part in float64 only; JAX has no float64."""
    m, n, k = shape
    a, b = libs.copies(libs.normal(m, k)), libs.copies(libs.normal(k, n))
    cast: dict[str, Callable[[Any], Any]] = {
        "tessella": lambda x: x.astype(getattr(libs.ts, dtype)),
        "torch": lambda x: x.to(getattr(libs.torch, dtype)),
        "numpy": lambda x: x.astype(dtype),
        "jax": lambda x: x.astype(dtype),
    }
    del cast["jax" if dtype == "float64" else "numpy"]
    return {
        name: Work(waited(name, "a @ b"), {"a": to(a[name]), "b": to(b[name])}, 2.0 * m * n * k)
        for name, to in cast.items()
    }


def build_split(libs: Libraries, dtype: str, side: int) -> dict[str, Work]:
    """A square of Tessella's, by fewer threads, too."""
    a, b = (libs.ts.tensor((libs.normal(side, side) + shift).astype(dtype)) for shift in (0, 1))
    return at_counts(libs, lambda: Work("a @ b", {"a": a, "b": b}, 2.0 * side**3))


ROW = Row(
    "gemm",
    "matrix products into a given output",
    tuple(
        Case(
            shape_name(shape),
            partial(build_into, shape=shape),
            (ahead(0.85, "numpy", "torch"),),
            unit="flop",
        )
        for shape in SQUARE + ODD + THIN + TALL + TRANSPOSED
    ),
    bars=(ahead(0.95, "numpy", "torch"),),
)

SMALL = Row(
    "gemm-small",
    "`a @ b` of small squares",
    tuple(
        Case(
            f"{side}",
            partial(build_operator, side=side),
            (ahead(1, "numpy", "torch"),),
            unit="flop",
        )
        for side in SMALL_SIDES
    ),
)


def sizes_name(sizes: Sizes) -> str:
    """How the table calls an operand."""
    return " x ".join(map(str, sizes))


MORE = Row(
    "gemm-more",
    "`a @ b` of many matrices, of vectors, in other dtypes, and by all threads over one",
    (
        *(
            Case(
                f"{sizes_name(a)} @ {sizes_name(b)}{' turned' if letters == 'nt' else ''}",
                partial(build_batched, a=a, b=b, letters=letters),
                (ahead(0.95, "numpy", "torch"),),
                unit="flop",
            )
            for a, b, letters in BATCHED
        ),
        *(
            Case(
                f"{dtype}, {shape_name((*shape, 'nn'))}",
                partial(build_dtype, dtype=dtype, shape=shape),
                (ahead(0.95, *DTYPES[dtype]),),
                unit="flop",
                tolerance=1e-4 if dtype == "float64" else HALF_TOLERANCE,
            )
            for dtype in DTYPES
            for shape in DTYPE_SHAPES
        ),
        *(
            Case(
                f"{dtype}, {side}, by all threads",
                partial(build_split, dtype=dtype, side=side),
                (ahead(SPLIT_AHEAD, "at 1"),),
                unit="flop",
                settings=ONCE,
            )
            for dtype, side in SPLIT
            if smaller()
        ),
    ),
)
