"""Row `fused`: the tanh form of GELU, written with 9 operations, over 10 million floats.
Row `chain`: 3, 6 and 12 cheap operations in cache, and mixed ones of two tensors, beside loops that
keep values in registers.

Compiled, they read x once and write the result once; the peak is a copy that does the same. torch
is its own GELU, and `torch, written out` the 9 operations one by one.
"""

from __future__ import annotations

import math
from functools import partial
from types import ModuleType
from typing import Any

from bench import peaks
from bench.cases import PEAK, Case, Row, Work, ahead, within
from bench.libraries import COMPILED_TORCH, Libraries

SIZE = 10_000_000
CHAIN_SIZE = 16_384
CHAINS = (3, 6, 12)
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


def chain(x: Any, operations: int) -> Any:
    """The operations of peaks.cpp: rounds of a product, its size and a difference."""
    value = x
    for _ in range(operations // 3):
        value = abs(value * x) - x
    return value


def build_chain(libs: Libraries, operations: int) -> dict[str, Work]:
    """Compiled by Tessella and JAX; the loop by hand is the peak."""
    array = libs.normal(CHAIN_SIZE)
    x = libs.copies(array)
    ours = libs.ts.compile(lambda x: chain(x, operations))
    for _ in range(2):  # the calls that are recorded
        ours(x["tessella"])
    jitted = libs.jax.jit(lambda x: chain(x, operations))
    flop = float(CHAIN_SIZE * operations)
    return {
        "tessella": Work("f(x)", {"f": ours, "x": x["tessella"]}, flop),
        "jax": Work("f(x).block_until_ready()", {"f": jitted, "x": x["jax"]}, flop),
        PEAK: peaks.chain(libs.aligned(CHAIN_SIZE), array, operations),
    }


def halved_sum(xp: Any, x: Any, y: Any) -> Any:
    """Two tensors and a number."""
    return abs((x + y) * 0.5) - y


def larger_root(xp: Any, x: Any, y: Any) -> Any:
    """A quotient, a root and a maximum."""
    return xp.maximum(xp.sqrt(abs(x) / y), x)


def exp_difference(xp: Any, x: Any, y: Any) -> Any:
    """An exponential among others."""
    return abs(xp.exp(x * 0.5) - y)


# As they stand in peaks.cpp, in this order: four operations each.
MIXED = {
    "add, half, abs, subtract": halved_sum,
    "abs, divide, sqrt, maximum": larger_root,
    "half, exp, subtract, abs": exp_difference,
}
MIXED_OPERATIONS = 4


def build_mixed(libs: Libraries, name: str) -> dict[str, Work]:
    """The same, of two tensors; the second is positive, for it divides."""
    arrays = libs.normal(CHAIN_SIZE), libs.aligned(CHAIN_SIZE)
    arrays[1][...] = abs(arrays[0][::-1]) + 1
    x, y = map(libs.copies, arrays)
    ours = libs.ts.compile(partial(MIXED[name], libs.ts))
    for _ in range(2):  # the calls that are recorded
        ours(x["tessella"], y["tessella"])
    jitted = libs.jax.jit(partial(MIXED[name], libs.jnp))
    flop = float(CHAIN_SIZE * MIXED_OPERATIONS)
    functions = {"tessella": ("f(x, y)", ours), "jax": ("f(x, y).block_until_ready()", jitted)}
    works = {
        who: Work(statement, {"f": f, "x": x[who], "y": y[who]}, flop)
        for who, (statement, f) in functions.items()
    }
    which, target = list(MIXED).index(name), libs.aligned(CHAIN_SIZE)
    return works | {PEAK: peaks.mixed(target, *arrays, which, MIXED_OPERATIONS)}


BARS = (ahead(2, "torch", "torch, written out", COMPILED_TORCH, "jax"),)
ROW = Row(
    "fused",
    "GELU written with 9 operations over 10 million floats, compiled",
    (Case("gelu", build, BARS, "byte"),),
)

CHAIN = Row(
    "chain",
    f"cheap operations over {CHAIN_SIZE} floats, compiled; peaks are loops in registers",
    tuple(
        Case(f"{n} operations", partial(build_chain, operations=n), (within(1.5, PEAK),), "flop")
        for n in CHAINS
    )
    + tuple(
        Case(name, partial(build_mixed, name=name), (within(1.5, PEAK),), "flop") for name in MIXED
    ),
)
