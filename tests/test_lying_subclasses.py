"""Subclasses of Tensor that tell of another shape, rank, dtype or strides than they have.

What a call gives is theirs to answer for; but it gives a value or an error, and never reads or
writes memory that is not there. The calls run in a process of their own.
"""

from __future__ import annotations

import contextlib
import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from calls import DECLARED, calls_of
from tessella import _core

LIES: dict[str, dict[str, Any]] = {
    "large": {"shape": (1_000_000,), "ndim": 1, "size": 1_000_000},
    "matrix": {"shape": (300, 400)},
    "images": {"shape": (2, 3, 70, 80), "ndim": 4},
    "scalar": {"shape": (), "ndim": 0, "size": 1},
    "empty": {"shape": (0,)},
    "rank": {"ndim": 7},
    "wide": {"dtype": ts.complex128},
    "double": {"dtype": ts.float64},
    "index": {"dtype": ts.int64},
    "narrow": {"dtype": ts.bool},
    "strides": {"strides": (999_983,), "is_contiguous": True},
}
PARTS = 4


def lying(name: str) -> type[ts.Tensor]:
    """Make a class that tells what is not so."""
    told = {each: property(_telling(value)) for each, value in LIES[name].items()}
    return type(name, (ts.Tensor,), told)


def _telling(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def attempt(call: Any) -> None:
    """Make a call, which may refuse."""
    with contextlib.suppress(Exception):
        call()


def lie(part: int) -> None:
    """Make calls of every declared function with such tensors, on both paths."""
    ts.memory.limit("2GiB")
    names = sorted(DECLARED)[part::PARTS]
    for name in names:
        for kind in LIES:
            for modes in (0, 1):
                for call in calls_of(name)[:3]:
                    print(name, kind, modes, flush=True)
                    _core.set_modes(modes)
                    attempt(call.changed(lying(kind)))
                    for i in range(len(call.tensors())):
                        attempt(call.replaced(i, lying(kind)(call.tensors()[i])))
                    _core.set_modes(0)
    for kind in LIES:
        attempt(lambda kind=kind: copy.deepcopy(lying(kind)(ts.rand(3, 3))))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_function_survives(part: int) -> None:
    program = f"import test_lying_subclasses as t; t.lie({part})"
    folders = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout[-100:], done.stderr[-2000:])


def test_sizes_that_do_not_fit_are_refused() -> None:
    x = lying("large")(ts.rand(3))
    calls: list[Callable[[], Any]] = [
        lambda: ts.sort(x), lambda: ts.argsort(x), lambda: copy.deepcopy(x)
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ts.errors.InvalidArgument, match="than they tell"):
            call()
    with pytest.raises(ts.errors.InvalidArgument, match="than they tell"):
        ts.cumsum(lying("wide")(ts.rand(3)), 0)


def test_calls_of_the_core_that_do_not_fit_are_refused() -> None:
    x, n = ts.rand(3, 4), ts.zeros(3, 4, dtype=ts.int64)
    short, thin = ts.zeros(2), ts.zeros(3, 4, dtype=ts.float16)
    calls: list[Callable[[], Any]] = [
        lambda: _core.sort(x, 2, x.clone(), None, False),
        lambda: _core.sort(x, 1, short, None, False),
        lambda: _core.sort(x, 1, None, x, False),
        lambda: _core.search(n, x, short, False),
        lambda: _core.cumulate(0, x.clone(), x, 5, True),
        lambda: _core.cumulate(0, thin, x, 0, True),
        lambda: _core.cumulate(9, x.clone(), x, 0, True),
        lambda: _core.cumulate_places(True, thin, x, 0),
        lambda: _core.rows(0, short, x, 0, True),
        lambda: _core.reduce(0, short, x, (0,), True),
        lambda: _core.copy(short, x, True),
        lambda: _core.elementwise(999, 11, x, x),
        lambda: _core.elementwise(0, 11, x, x, x, x, x, x, x),
        lambda: _core.elementwise(0, 200, x, x),
        lambda: _core.gather(short, x, [0], [n], 0),
        lambda: _core.gather(x, x, [0, 0], [n[0], n[0]], 0),
        lambda: _core.gather(x, x, [7], [n[:, 0]], 0),
        lambda: _core.scatter(short, x, [0], [n[0]], 0),
        lambda: _core.scatter_add(x, x, [0], [x], 0),
        lambda: _core.find_outside(short, 0, 1),
        lambda: _core.nonzero(x),
        lambda: _core.matmul(short, x, x, False, True),
        lambda: _core.linear(short, x, x, None, True),
        lambda: _core.convolve(0, x, x, x, None, [1], [0], [1], 1, True),
        lambda: _core.pool_places(n, x, [1], [1], [0], [1], True),
        lambda: _core.random(ts.zeros(4, 4).T[:, :2], 1, 0, 0, 0, 0, 0.0),
        lambda: _core.permutation(short, 0, 0),
        lambda: _core.recurrent_states(0, x, x, x, x, x, x, None, False, True),
        lambda: _core.count_floats(ts.zeros(4, 4).T[:, :2], 0.0, 1.0, 1.0),
        lambda: _core.empty((3,), 77),
        lambda: _core.set_num_threads(10_000),
        lambda: _core.heap_allocator().mark(),
    ]  # fmt: skip
    for i, call in enumerate(calls):
        with pytest.raises(ts.errors.InvalidArgument, match="than they tell"):
            call()
            pytest.fail(f"call {i}")
