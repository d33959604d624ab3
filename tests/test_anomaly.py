"""detect_anomaly: the first operation that made a NaN or an infinity, forward or backward."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, leaf
from tessella.autograd import Function, detect_anomaly, set_detect_anomaly
from tessella.errors import AnomalyError


def message(call: Callable[[], Any]) -> list[str]:
    """Give the lines of the error that a call raises under detect_anomaly."""
    with pytest.raises(AnomalyError) as caught, detect_anomaly():
        call()
    return str(caught.value).splitlines()


HUGE = ts.full((2, 2), 1e38)


@pytest.mark.parametrize(("name", "call"), [
    ("log", lambda: ts.log(ts.tensor([1.0, -1.0]))), ("div", lambda: ts.ones(2) / ts.zeros(2)),
    ("sqrt", lambda: ts.sqrt(ts.tensor(-1.0))), ("exp", lambda: ts.exp(ts.tensor([1e4]))),
    ("log", lambda: ts.log(ts.zeros(3))), ("mul", lambda: HUGE * 10),
    ("pow", lambda: ts.tensor([-8.0]) ** 0.5), ("matmul", lambda: HUGE @ HUGE),
    ("sum", lambda: ts.sum(HUGE)), ("astype", lambda: HUGE.astype(ts.float16)),
])  # fmt: skip
def test_the_operation_that_made_it_is_named(name: str, call: Callable[[], Any]) -> None:
    lines = message(call)
    assert lines[0].startswith(f"{name}: made ") and ("nan" in lines[0] or "inf" in lines[0])
    assert any("test_anomaly.py:" in line for line in lines)
    assert any(line.startswith("  hint: ") for line in lines)


def test_the_first_operation_is_named_and_not_a_later_one() -> None:
    def work() -> ts.Tensor:
        x = ts.tensor([1.0, -2.0])
        bad = ts.log(x)
        return (bad * 2 + 1).sum()

    assert message(work)[0].startswith("log: ")


def test_what_comes_in_as_nan_is_not_the_operations_fault() -> None:
    nan = ts.tensor([float("nan"), 1.0])
    with detect_anomaly():
        assert (nan * 2 + 1).sum().item() != 0
        assert ts.isnan(nan).tolist() == [True, False]
        assert ts.tensor([float("inf")]).item() == float("inf")
        ts.full((2,), float("nan"))
        ts.maximum(nan, ts.zeros(2))


def test_values_without_anomalies_pass() -> None:
    with detect_anomaly():
        x = leaf(1, 2)
        (ts.exp(x).log() * ts.tanh(x) / 3).sum().backward()
    assert grad_of(x).isfinite().all()


def test_a_gradient_that_is_made_nan_is_named_with_its_forward_line() -> None:
    def work() -> None:
        x = ts.zeros(2, requires_grad=True)
        y = ts.sqrt(x)  # the slope is infinite
        (y * 0).sum().backward()  # 0 times infinity

    place = next(line for line in message(work) if line.startswith("  in the gradient of sqrt"))
    assert "test_anomaly.py:" in place


def test_an_infinite_gradient_is_named() -> None:
    def work() -> None:
        x = ts.tensor([0.0, 1.0], requires_grad=True)
        x.sqrt().sum().backward()

    assert "sqrt" in "\n".join(message(work))


def test_gradients_of_leaves_stay_as_they_were() -> None:
    x, y = leaf(0, 1), leaf(1, 1)
    with pytest.raises(AnomalyError), detect_anomaly():
        (x.sqrt() * y).sum().backward()
    assert x.grad is None and y.grad is None


def test_a_users_function_is_named() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            return ts.full_like(g, float("nan"))

    with pytest.raises(AnomalyError, match="Bad"), detect_anomaly():
        Bad.apply(leaf(1)).sum().backward()


def test_writes_in_place_are_watched() -> None:
    def work() -> None:
        x = ts.zeros(2)
        x.log_()

    assert "log" in message(work)[0]


def test_nothing_is_watched_outside() -> None:
    with pytest.raises(AnomalyError), detect_anomaly():
        ts.log(ts.zeros(1))
    assert ts.log(ts.zeros(1)).item() == float("-inf")
    with detect_anomaly():
        pass
    assert ts.log(ts.zeros(1)).item() == float("-inf")


def test_it_nests_and_can_be_set() -> None:
    with detect_anomaly():
        with detect_anomaly():
            pass
        with pytest.raises(AnomalyError):
            ts.log(ts.zeros(1))
        with set_detect_anomaly(False):
            ts.log(ts.zeros(1))
        with pytest.raises(AnomalyError):
            ts.log(ts.zeros(1))
    try:
        set_detect_anomaly(True)
        with pytest.raises(AnomalyError):
            ts.log(ts.zeros(1))
    finally:
        set_detect_anomaly(False)
    ts.log(ts.zeros(1))


def test_integers_and_comparisons_are_left_alone() -> None:
    with detect_anomaly():
        ts.arange(5) * 1_000_000_007
        assert (ts.tensor([1.0]) < float("inf")).item()
        ts.full((3,), float("inf"))
        ts.isfinite(ts.tensor([float("inf")]))


def test_large_operations_on_several_threads_are_watched() -> None:
    x = ts.ones(1_000_000)
    x[999_999] = -1
    with ts.num_threads(4):
        lines = message(lambda: ts.log(x))
    assert lines[0].startswith("log: ")


def test_other_threads_are_not_watched() -> None:
    seen: list[Any] = []
    with detect_anomaly():
        thread = threading.Thread(target=lambda: seen.append(ts.log(ts.zeros(1)).item()))
        thread.start()
        thread.join()
    assert seen == [float("-inf")]
