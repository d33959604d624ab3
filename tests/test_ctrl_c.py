"""Ctrl-C in the middle of long work: it is answered within 0.2 s, before anything is written."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

import tessella as ts
from tessella import _core

PROMISED = 0.2  # seconds
SLACK = 0.15  # on machines that do other work too


def lateness(call: Callable[[], object], wait: float = 0.05) -> float | None:
    """Give how long after the signal a call ends; None: it ended before."""
    sent = 0.0

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, wait)
        sent = time.perf_counter() + wait
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None


@pytest.mark.parametrize("name", ["tolist", "tensor", "unravel_index", "swapped", "assign"])
def test_long_work_ends_soon(name: str) -> None:
    numbers = ts.zeros(1 << 24)
    listed = [1.5] * (1 << 24)
    index = ts.zeros(1 << 15, dtype=ts.int64).as_strided((1 << 14, 1 << 14), (1, 1))
    swapped = np.zeros((1 << 25,), ">i2")
    x = ts.zeros(4)
    calls: dict[str, Callable[[], object]] = {
        "tolist": numbers.tolist,
        "tensor": lambda: ts.tensor(listed),
        "unravel_index": lambda: ts.unravel_index(index, (4, 4)),
        "swapped": lambda: ts.asarray(swapped),
        "assign": lambda: x.__setitem__(index, 1.0),
    }
    # Indices are looked at first; the assignment after that runs to its end.
    late = lateness(calls[name], 0.005 if name == "assign" else 0.05)
    assert late is None or late < PROMISED + SLACK


def test_who_waits_for_the_call_of_another_thread_answers() -> None:
    compiled = ts.compile(lambda x: x * 2)
    is_inside, is_over = threading.Event(), threading.Event()

    def stay() -> None:
        assert compiled._compiled_replay.enter()
        is_inside.set()
        is_over.wait(2)
        compiled._compiled_replay.leave()

    thread = threading.Thread(target=stay)
    thread.start()
    is_inside.wait()
    late = lateness(lambda: compiled(ts.ones(3)))
    is_over.set()
    thread.join()
    assert late is not None and late < PROMISED + SLACK
    assert compiled(ts.ones(3)).tolist() == [2.0] * 3


def test_repeated_indices_are_checked_once() -> None:
    index = ts.zeros(1, dtype=ts.int64).expand(1 << 40)
    start = time.perf_counter()
    with pytest.raises(ts.errors.TessellaError):
        _core.scatter(ts.zeros(1).expand(1 << 40), ts.zeros(0), [0], [index], 0)
    assert time.perf_counter() - start < 1
    assert _core.find_outside(index, 0, 3) is None
    assert _core.find_outside(index, 1, 3) == 0


@pytest.mark.parametrize("places", [[5], [1 << 17, 7], [3, (1 << 19) - 1]])
def test_the_first_index_that_is_outside_is_named(places: list[int]) -> None:
    index = ts.zeros(1 << 19, dtype=ts.int64)
    for place in places:
        index[place] = 1000 + place
    with pytest.raises(ts.errors.IndexOutOfBounds, match=f"index {1000 + min(places)} "):
        ts.zeros(9)[index] = 1.0
    with pytest.raises(ts.errors.IndexOutOfBounds, match=f"index {1000 + min(places)} "):
        ts.zeros(9).index_add(0, index, ts.ones(1 << 19))


def test_slices_are_added_in_order_when_many_parts_take_many_points() -> None:
    index = ts.arange(5000) % 3
    values = ts.rand(5000, 3000)
    out = ts.zeros(3, 3000).index_add(0, index, values)
    wanted = np.zeros((3, 3000), np.float32)
    np.add.at(wanted, index.numpy().astype(np.int64), values.numpy())
    assert np.array_equal(out.numpy(), wanted)
