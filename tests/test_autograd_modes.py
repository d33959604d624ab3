"""Modes of recording: contexts, decorators, generators and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, slopes
from tessella.errors import IllegalState, TessellaError

OFF = [ts.no_grad, ts.inference_mode, lambda: ts.set_grad_enabled(False)]
NAMES = ["no_grad", "inference_mode", "set_grad_enabled"]


@pytest.fixture
def x() -> ts.Tensor:
    """Give a leaf that asks for gradients."""
    return ts.ones(2, requires_grad=True)


@pytest.mark.parametrize("off", OFF, ids=NAMES)
def test_nothing_is_recorded_inside(off: Callable[[], Any], x: ts.Tensor) -> None:
    assert ts.is_grad_enabled()
    with off():
        assert not ts.is_grad_enabled()
        out = x * 2
        assert not out.requires_grad and out.grad_fn is None and out.is_leaf
        assert not x.sum().requires_grad and not x[0].requires_grad and not (x @ x).requires_grad
        assert not ts.concat([x, x]).requires_grad and not ts.std(x).requires_grad
    assert ts.is_grad_enabled() and (x * 2).requires_grad
    assert x.requires_grad


def test_leaves_may_be_made_and_written_inside(x: ts.Tensor) -> None:
    with ts.no_grad():
        x += 1
        x.mul_(2)
        x[0] = 7
        made = ts.zeros(2, requires_grad=True)
    assert x.tolist() == [7.0, 4.0] and x.requires_grad and x.is_leaf and made.requires_grad


@pytest.mark.parametrize("off", OFF, ids=NAMES)
def test_modes_nest(off: Callable[[], Any], x: ts.Tensor) -> None:
    with off():
        with ts.enable_grad():
            if off is not ts.inference_mode:
                assert ts.is_grad_enabled() and (x * 2).requires_grad
            with off():
                assert not ts.is_grad_enabled()
        assert not ts.is_grad_enabled()
    assert ts.is_grad_enabled()


def test_a_mode_ends_with_an_exception(x: ts.Tensor) -> None:
    for mode in (ts.no_grad, ts.inference_mode, ts.enable_grad):
        with pytest.raises(KeyError), mode():
            raise KeyError
        assert ts.is_grad_enabled()


def test_one_object_may_be_entered_again(x: ts.Tensor) -> None:
    mode = ts.no_grad()
    for _ in range(2):
        with mode:
            assert not ts.is_grad_enabled()
        assert ts.is_grad_enabled()
    with mode, mode:
        assert not ts.is_grad_enabled()
    assert ts.is_grad_enabled()


def test_set_grad_enabled_acts_at_once_too(x: ts.Tensor) -> None:
    try:
        ts.set_grad_enabled(False)
        assert not ts.is_grad_enabled() and not (x * 2).requires_grad
        with ts.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not ts.is_grad_enabled()
    finally:
        ts.set_grad_enabled(True)
    with ts.set_grad_enabled(False):
        assert not ts.is_grad_enabled()
    assert ts.is_grad_enabled()
    with pytest.raises(TypeError):
        ts.set_grad_enabled(1)


# --- decorators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("off", OFF, ids=NAMES)
def test_a_mode_decorates_a_function(off: Any, x: ts.Tensor) -> None:
    mode: Callable[[Callable[..., Any]], Callable[..., Any]] = off()

    @mode
    def double(x: ts.Tensor, times: int = 2) -> ts.Tensor:
        """Documented."""
        assert not ts.is_grad_enabled()
        return x * times

    assert not double(x).requires_grad and double(x, times=3).tolist() == [3.0, 3.0]
    assert double.__name__ == "double" and double.__doc__ == "Documented."
    assert ts.is_grad_enabled()


def test_the_class_decorates_without_brackets(x: ts.Tensor) -> None:
    def double(x: ts.Tensor) -> ts.Tensor:
        return x * 2

    off: Any = ts.no_grad
    on: Any = ts.enable_grad
    double, triple = off(double), on(double)
    assert not double(x).requires_grad
    with ts.no_grad():
        assert triple(x).requires_grad


def test_a_decorated_function_may_call_itself(x: ts.Tensor) -> None:
    @ts.no_grad()
    def power(x: ts.Tensor, n: int) -> ts.Tensor:
        assert not ts.is_grad_enabled()
        return x if n == 0 else power(x, n - 1) * 2

    assert power(x, 5).tolist() == [32.0, 32.0]
    assert ts.is_grad_enabled()


def test_a_decorated_method_is_one(x: ts.Tensor) -> None:
    class Doubler:
        @ts.no_grad()
        def double(self, x: ts.Tensor) -> ts.Tensor:
            return x * 2

    assert not Doubler().double(x).requires_grad


def test_a_mode_decorates_a_generator(x: ts.Tensor) -> None:
    """It holds while the generator runs, and not while it rests."""

    @ts.no_grad()
    def doubles(x: ts.Tensor) -> Iterator[ts.Tensor]:
        for _ in range(2):
            assert not ts.is_grad_enabled()
            x = x * 2
            yield x

    found = doubles(x)
    for each in found:
        assert ts.is_grad_enabled() and not each.requires_grad
    assert (x * 2).requires_grad


def test_a_decorated_generator_takes_values_and_ends_cleanly(x: ts.Tensor) -> None:
    @ts.no_grad()
    def echo() -> Any:
        given: Any = None
        try:
            while given != "stop":
                try:
                    given = yield given, ts.is_grad_enabled()
                except KeyError:
                    given = "caught"
        finally:
            assert not ts.is_grad_enabled()
        return "done"

    found = echo()
    assert next(found) == (None, False)
    assert found.send(3) == (3, False) and ts.is_grad_enabled()
    assert found.throw(KeyError()) == ("caught", False) and ts.is_grad_enabled()
    with pytest.raises(StopIteration) as end:
        found.send("stop")
    assert end.value.value == "done" and ts.is_grad_enabled()
    other = echo()
    next(other)
    other.close()
    assert ts.is_grad_enabled()


# --- inference -----------------------------------------------------------------------------------


def test_inference_can_be_switched_off(x: ts.Tensor) -> None:
    with ts.inference_mode(False):
        assert (x * 2).requires_grad
    with ts.inference_mode(True), ts.inference_mode(False):
        assert (x * 2).requires_grad


def test_tensors_of_inference_are_ordinary_values_afterwards(x: ts.Tensor) -> None:
    with ts.inference_mode():
        made = x * 2
    assert made.tolist() == [2.0, 2.0] and (made + 1).tolist() == [3.0, 3.0]
    assert not (made * 2).requires_grad


# --- threads -------------------------------------------------------------------------------------


def test_a_mode_belongs_to_its_thread(x: ts.Tensor) -> None:
    inside, outside = threading.Event(), threading.Event()
    seen: dict[str, bool] = {}

    def work() -> None:
        seen["start"] = ts.is_grad_enabled()
        with ts.no_grad():
            inside.set()
            outside.wait(10)
            seen["within"] = (x * 2).requires_grad
        seen["end"] = ts.is_grad_enabled()

    with ts.set_grad_enabled(True):
        thread = threading.Thread(target=work)
        thread.start()
        inside.wait(10)
        seen["here"] = ts.is_grad_enabled() and (x * 2).requires_grad
        outside.set()
        thread.join()
    assert seen == {"start": True, "here": True, "within": False, "end": True}


def test_a_thread_begins_with_recording_on(x: ts.Tensor) -> None:
    seen: list[bool] = []
    with ts.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ts.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_threads_differentiate_side_by_side() -> None:
    failures: list[str] = []

    def work(k: int) -> None:
        for i in range(50):
            x = ts.full((20,), float(k), dtype=ts.float64, requires_grad=True)
            out = x
            for _ in range(20):
                out = out * 1.5 + x
            out.sum().backward()
            want = 1.5**20 + sum(1.5**j for j in range(20))
            if abs(grad_of(x)[0].item() - want) > 1e-9 * want:
                failures.append(f"{k} {i}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_threads_accumulate_into_one_leaf_without_losing_any() -> None:
    x = ts.zeros(100, dtype=ts.float64, requires_grad=True)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                (x * 1).sum().backward()
        except TessellaError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and slopes(x) == [800.0] * 100


def test_one_graph_is_differentiated_by_one_thread() -> None:
    """A second backward from another thread raises, or waits: it never gives half a gradient."""
    for _ in range(20):
        x = ts.ones(10, dtype=ts.float64, requires_grad=True)
        h = x
        for _ in range(200):
            h = h * 1.0
        out = h.sum()
        seen: list[str] = []

        def work(out: ts.Tensor = out, seen: list[str] = seen) -> None:
            try:
                out.backward()
                seen.append("done")
            except IllegalState:
                seen.append("refused")

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seen) == ["done", "refused"] and slopes(x) == [1.0] * 10
