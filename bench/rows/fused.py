"""Row `fused`: the tanh form of GELU, written with 9 operations, over 10 million floats.

Compiled, they read x once and write the result once; the peak is a copy that does the same. torch
is its own GELU, and `torch, written out` the 9 operations one by one.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from bench import peaks
from bench.cases import PEAK, Case, Row, Work, ahead
from bench.libraries import COMPILED_TORCH, Libraries

SIZE = 10_000_000
SCALE = math.sqrt(2 / math.pi)
CUBIC = 0.044715


def gelu(xp: Any, x: Any) -> Any:
    """9 operations: the same text for everybody."""
    return 0.5 * x * (1 + xp.tanh(SCALE * (x + CUBIC * (x * x * x))))


def build(libs: Libraries, size: int = SIZE) -> dict[str, Work]:
    """The same numbers, in memory that each has allocated."""
    array = libs.normal(size)
    x = libs.copies(array)
    ts, torch, jax = libs.ts, libs.torch, libs.jax

    def named(xp: ModuleType) -> Any:
        return lambda x: gelu(xp, x)

    torch.compiler.reset()
    ours = ts.compile(named(ts))
    functions = {
        "tessella": ("f(x)", ours, x["tessella"]),
        "torch": ("f(x, approximate='tanh')", torch.nn.functional.gelu, x["torch"]),
        "torch, written out": ("f(x)", named(torch), x["torch"]),
        COMPILED_TORCH: ("f(x)", torch.compile(named(torch)), x["torch"]),
        "jax": ("f(x).block_until_ready()", jax.jit(named(libs.jnp)), x["jax"]),
    }
    for _ in range(2):  # the calls that are recorded
        ours(x["tessella"])
    works = {
        name: Work(statement, {"f": f, "x": given}, 2.0 * array.nbytes)
        for name, (statement, f, given) in functions.items()
    }
    return works | {PEAK: peaks.copy(libs.aligned(size), array)}


BARS = (ahead(2, "torch", "torch, written out", COMPILED_TORCH, "jax"),)
ROW = Row(
    "fused",
    "GELU written with 9 operations over 10 million floats, compiled",
    (Case("gelu", build, BARS, "byte"),),
)
