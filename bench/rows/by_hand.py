"""Row `by-hand`: softmax, layer norm and RMS norm of elementary operations, compiled.

`fused` is Tessella's own operation for the same: what a user writes out must come near it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import ONCE, SUBJECT, Case, Row, Work, within
from bench.libraries import Libraries

ROWS, WIDTH = 4096, 1024
EPSILON = 1e-5
NEAR = 1.5

Function = Callable[[Any, Any, Any], Any]  # of x, a weight and a bias


def softmax(x: Any, weight: Any, bias: Any) -> Any:
    """Five operations."""
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Nine operations."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


def rms_norm(x: Any, weight: Any, bias: Any) -> Any:
    """Six operations."""
    return x / ((x * x).mean(axis=-1, keepdims=True) + EPSILON).sqrt() * weight


# What is written out, and the fused operation.
FUNCTIONS: dict[str, tuple[Function, Callable[[Any], Function]]] = {
    "softmax": (softmax, lambda f: lambda x, weight, bias: f.softmax(x, -1)),
    "layer norm": (
        layer_norm,
        lambda f: lambda x, weight, bias: f.layer_norm(x, (WIDTH,), weight, bias, EPSILON),
    ),
    "RMS norm": (
        rms_norm,
        lambda f: lambda x, weight, bias: f.rms_norm(x, (WIDTH,), weight, EPSILON),
    ),
}


def build(libs: Libraries, name: str) -> dict[str, Work]:
    """The same numbers for both, forward."""
    written, fused = FUNCTIONS[name]
    ours = libs.ts.compile(written)
    arrays = libs.normal(ROWS, WIDTH), libs.normal(WIDTH) + 1, libs.normal(WIDTH)
    operands = dict(zip(("x", "weight", "bias"), map(libs.ts.tensor, arrays), strict=True))
    for _ in range(2):  # the calls that are recorded
        ours(**operands)
    statement, amount = "f(x, weight, bias)", 2.0 * arrays[0].nbytes
    return {
        SUBJECT: Work(statement, {"f": ours, **operands}, amount),
        "fused": Work(statement, {"f": fused(libs.ts.nn.functional), **operands}, amount),
    }


ROW = Row(
    "by-hand",
    f"operations over {ROWS} x {WIDTH} written out and compiled, beside the fused ones, forward",
    tuple(
        Case(name, partial(build, name=name), (within(NEAR, "fused"),), "byte", settings=ONCE)
        for name in FUNCTIONS
    ),
)
