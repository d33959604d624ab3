"""Each instruction set that the machine has, in a process of its own: AVX2 and AVX-512 agree.

The baseline has no fused multiply-add and may differ in last bits; it is compared with a tolerance.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tessella as ts
from tessella import _core

# Prints a line for each group of operations: its name, the digest of its bits, and a checksum.
PROGRAM = """
import hashlib, math
import tessella as ts
from tessella import namespace
from tessella.kinds import Binary, Unary
from tessella.records import OPS

namespace.load()

def show(name, *results):
    digest, total = hashlib.sha256(), 0.0
    for x in results:
        x = x.astype(ts.float32) if x.dtype is ts.bfloat16 else x
        # NaN equals NaN: its sign and payload are free.
        if x.dtype.is_floating:
            x = ts.where(ts.isnan(x), 7.25, x)
            total += ts.where(ts.abs(x) < 1e4, x, 0).astype(ts.float64).mean().item()
        elif x.dtype.is_complex:
            parts = [ts.where(ts.isnan(p), 7.25, p) for p in (ts.real(x), ts.imag(x))]
            x = ts.stack(parts)
        digest.update(x.contiguous().numpy().tobytes())
    print(f"{name}|{digest.hexdigest()}|{total!r}")

def drawn(shape, dtype, low, high):
    x = ts.rand(shape, generator=ts.Generator(3), dtype=ts.float64) * (high - low) + low
    return x.astype(dtype)

FLOATS = (ts.float16, ts.bfloat16, ts.float32, ts.float64, ts.complex64, ts.complex128)
WHOLE = (ts.int8, ts.int64, ts.uint8, ts.uint32, ts.bool)
for op in OPS.values():
    if not isinstance(op, (Unary, Binary)):
        continue
    for dtype in (*FLOATS, *WHOLE):
        if op.out_dtype(dtype) is None:
            continue
        low, high = op.domain if dtype in FLOATS else (0, 6)
        xs = [drawn((37, 29), dtype, low, high)]
        if isinstance(op, Binary):
            xs.append(drawn((29,), dtype, *((low, high) if dtype in FLOATS else (1, 4))))
        show(f"{op.name} {dtype}", op.function(*xs), op.function(*(x[..., ::2] for x in xs)))

for dtype in FLOATS:
    x = drawn((3, 41, 1003), dtype, -2, 2)
    ordered = [] if dtype.is_complex else ["var", "max", "argmin", "logsumexp"]
    for name in ("sum", "mean", "prod", *ordered):
        function = getattr(ts, name)
        show(f"{name} {dtype}", *(function(x, axis=axis) for axis in (None, 0, 1, 2)))
    for m, k, n in ((1, 700, 1), (5, 9, 3), (70, 300, 50), (1, 90, 200), (200, 90, 1)):
        a, b = drawn((m, k), dtype, -1, 1), drawn((k, n), dtype, -1, 1)
        show(f"matmul {m} {k} {n} {dtype}", a @ b, a @ b.T.contiguous().T)
    show(f"cumulative_sum {dtype}", ts.cumulative_sum(x, axis=1), ts.cumulative_sum(x, axis=2))
    if not dtype.is_complex:
        show(f"softmax {dtype}", ts.softmax(x), ts.log_softmax(x, axis=1))
        show(f"sort {dtype}", ts.sort(x), ts.argsort(x, axis=0))
    if not dtype.is_complex:
        show(f"casts {dtype}", *((x * 100).astype(to) for to in (*WHOLE, *FLOATS)))
for dtype in (ts.float32, ts.float64, ts.float16, ts.bfloat16):
    generator = ts.Generator(9)
    show(f"random {dtype}", ts.rand(1001, dtype=dtype, generator=generator),
         ts.randn(1001, dtype=dtype, generator=generator))
show("random integers", ts.randint(0, 1000, (999,), generator=ts.Generator(4)),
     ts.randperm(999, generator=ts.Generator(4)),
     ts.bernoulli(0.3, (999,), generator=ts.Generator(4)))
F = ts.nn.functional
for dtype in FLOATS[:4]:
    for shape, kernel, options in (
        ((3, 5, 30, 33), (40, 5, 3, 3), {"padding": 1}),
        ((9, 24, 9, 9), (6, 8, 3, 2), {"groups": 3}),
        ((2, 40, 17, 18), (40, 1, 3, 3), {"groups": 40, "stride": 2}),
        ((2, 1, 40, 40), (32, 1, 5, 5), {}),
        ((40, 30, 5, 5), (31, 30, 3, 3), {"dilation": 2}),
    ):
        x = drawn(shape, dtype, -1, 1).requires_grad_()
        w = drawn(kernel, dtype, -1, 1).requires_grad_()
        y = F.conv2d(x, w, **options)
        show(f"conv2d {shape} {dtype}", y.detach(), *ts.autograd.grad(y, [x, w], y.detach()))
    x = drawn((3, 5, 33, 31), dtype, -1, 1)
    show(f"pools {dtype}", F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1),
         F.adaptive_avg_pool2d(x, 7), F.adaptive_max_pool2d(x, 7))
x = drawn((50, 60), ts.float32, -3, 3)
show("index", x[x > 1], x[[3, 1, 4], ::7], ts.where(x > 0, x, -1.0), ts.concat([x, x], 1))
"""


def results(isa: str) -> dict[str, tuple[str, float]]:
    """Give digest and checksum of each group, computed with one instruction set."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300,
        env={**os.environ, "TESSELLA_ISA": isa},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    return {name: (digest, float(total)) for name, digest, total in rows}


@pytest.fixture(scope="module")
def every() -> dict[str, dict[str, tuple[str, float]]]:
    return {isa: results(isa) for isa in _core.supported_isas()}


def test_avx2_and_avx512_give_the_same_bits(every: dict[str, dict[str, tuple[str, float]]]) -> None:
    if not {"avx2", "avx512"} <= set(every):
        pytest.skip(f"the machine has {', '.join(every)}")
    first, second = every["avx2"], every["avx512"]
    assert len(first) > 300
    assert [name for name in first if first[name][0] != second[name][0]] == []


def test_the_baseline_differs_in_last_bits_only(
    every: dict[str, dict[str, tuple[str, float]]],
) -> None:
    best = every[_core.isa()] if _core.isa() in every else next(iter(every.values()))
    for isa, found in every.items():
        assert found.keys() == best.keys()
        for name, (_, total) in found.items():
            tolerance = 2e-2 if "float16" in name else 1e-4
            assert np.isclose(total, best[name][1], rtol=tolerance, atol=tolerance), (isa, name)


def test_the_chosen_instruction_set_is_supported() -> None:
    assert _core.isa() in _core.supported_isas() and "baseline" in _core.supported_isas()


@pytest.mark.parametrize("isa", ["sse9", "AVX2 ", "neon-9", "x" * 1000])
def test_an_unknown_instruction_set_is_a_clear_error(isa: str) -> None:
    done = subprocess.run([sys.executable, "-c", "import tessella"], capture_output=True, text=True,
                          env={**os.environ, "TESSELLA_ISA": isa})  # fmt: skip
    assert done.returncode == 1
    *_, what, hint = done.stderr.splitlines()
    assert what == f"ImportError: TESSELLA_ISA={isa} cannot run here" and "hint: one of" in hint
    for known in _core.supported_isas():
        assert known in done.stderr


def test_an_empty_setting_chooses_the_best() -> None:
    code = "from tessella import _core; print(_core.isa())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "TESSELLA_ISA": ""})  # fmt: skip
    assert done.stdout.strip() in _core.supported_isas(), done.stderr
    assert ts.zeros(1).item() == 0.0
