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


def test_an_offset_that_is_read_inside() -> None:
    def play(wrap: Wrap) -> Any:
        rows, results = some(1, 40, 3), []
        reads = wrap(lambda x: x * x.offset + x.storage_offset())
        moves = wrap(lambda x: x.as_strided((2, 3), (3, 1), 6) * 2)
        stays = wrap(lambda x: x.as_strided((2, 3), (3, 1)) * 2)
        ignores = wrap(lambda x, y: (x * 2, y * y.offset)[0])
        for i in range(20):
            x = rows[i % 7 // 2 * 4 :][:4]
            results += [reads(x), moves(x), stays(x), ignores(x, rows[i % 2 :])]
        return results

    same(play)


def test_calls_are_told_apart_by_offsets_only_if_they_are_read() -> None:
    rows = some(1, 40, 4)
    reads, plain = (
        ts.compile(lambda x: x * x.offset),
        ts.compile(lambda x: x.as_strided((3,), (1,))),
    )
    for i in range(12):
        x = rows[i // 3 * 4 :][:4]
        assert reads(x).tolist() == (x * x.offset).tolist()
        assert plain(x).tolist() == x[0, :3].tolist()
    assert len(reads.programs) == 4 and len(plain.programs) == 1


def test_the_number_of_threads_that_is_read_inside() -> None:
    def play(wrap: Wrap) -> Any:
        call, results = wrap(lambda x: x * ts.get_num_threads()), []
        for i in range(16):
            with ts.num_threads(1 + i // 3 % 2):
                results.append(call(some(i, 3)))
        return results

    same(play)
