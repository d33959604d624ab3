"""Views of what was there, empty draws, NumPy's classes, profilers: found by searching."""

from __future__ import annotations

import cProfile
from typing import Any

import numpy as np
import pytest

import tessella as ts
from worlds import Wrap, same, some


def test_views_that_operations_use_and_that_are_results() -> None:
    def play(wrap: Wrap) -> Any:
        w = some(1, 3)

        def f(x: ts.Tensor) -> Any:
            v, u = w[:], x[:1]
            return v, v + x, u, u + 1

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)], w

    same(play)


def test_a_detached_view_that_is_written_with_gradients_around() -> None:
    def play(wrap: Wrap) -> Any:
        w, p = some(1, 3), some(2, 3).requires_grad_()

        def f(x: ts.Tensor) -> ts.Tensor:
            v = w.detach()
            with ts.no_grad():
                v *= p
            return x + 1

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)], w

    same(play)


def test_empty_draws_move_nothing() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x: (ts.rand(3) + x, ts.rand(0), ts.rand(2)))
        return [call(some(i, 3)) for i in range(6)]

    same(play)


def test_classes_of_numpy_are_no_arrays() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x: x * float(np.float64(2)))
        return [call(some(i, 3)) for i in range(6)]

    same(play)


def test_a_result_whose_gradient_is_refused_outside() -> None:
    def play(wrap: Wrap) -> Any:
        p = some(1, 3).requires_grad_()

        def f(x: ts.Tensor) -> ts.Tensor:
            y = (x * p).exp()
            y += 1
            return y

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)]

    same(play)


def test_a_profiler_goes_on() -> None:
    profile = cProfile.Profile()
    plus = ts.compile(lambda x: x + 1)
    profile.enable()
    try:
        got = [plus(ts.ones(2) * i).tolist() for i in range(4)]
    finally:
        profile.disable()
    assert got == [[i + 1.0] * 2 for i in range(4)]
    if not profile.getstats():
        pytest.fail("the profiler saw nothing")
