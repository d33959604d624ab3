"""Rows `gemm` and `gemm-small`: float32 matrix products against OpenBLAS and MKL.

`gemm` writes into a given output; NumPy's wheel brings OpenBLAS and torch's brings MKL. Shapes are
(M, N, K) with a letter for each operand: n as it is, t transposed. `gemm-small` goes through `@`.
"""

from __future__ import annotations

from functools import partial

from bench import peaks
from bench.cases import PEAK, Case, Row, Work, ahead
from bench.libraries import Libraries

Shape = tuple[int, int, int, str]

SQUARE = tuple((n, n, n, "nn") for n in (96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048))
ODD = (*((n, n, n, "nn") for n in (97, 255, 509, 1000)), (129, 1023, 257, "nn"))
THIN = ((1024, 1024, 16, "nn"), (16, 1024, 1024, "nn"), (1024, 16, 1024, "nn"))
TALL = ((16384, 64, 64, "nn"), (64, 64, 16384, "nn"), (128, 512, 784, "nn"), (1, 1024, 1024, "nn"))
TRANSPOSED = tuple((n, n, n, letters) for n in (128, 512, 1024) for letters in ("nt", "tn", "tt"))
TRANSPOSED += ((128, 512, 784, "nt"), (784, 512, 128, "tn"))
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
