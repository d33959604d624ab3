"""Sweeps within sweeps, sweeps that are broken off, and gradients that share memory."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, leaf, slopes
from tessella.autograd import Function, grad


class Parameter(ts.Tensor):
    """A subclass, as modules have."""


def test_backward_within_a_hook_of_another_graph() -> None:
    x, y = leaf(1), leaf(2)

    def hook(g: ts.Tensor) -> None:
        with ts.enable_grad():
            (y * y).sum().backward()

    h = x * 3
    h.register_hook(hook)
    h.sum().backward()
    assert slopes(x) == [3.0] and slopes(y) == [4.0]


def test_backward_within_backward_into_the_same_leaf() -> None:
    x = leaf(1)

    class Inner(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
            with ts.enable_grad():
                inner = ctx.saved_tensors[0].detach().requires_grad_()
                (slope,) = grad((inner**3).sum(), inner)
                (x * 10).sum().backward()
            return g * ts.asarray(slope)

    Inner.apply(x * 2).sum().backward()
    assert slopes(x) == [10.0 + 2 * 3 * 4]


def test_a_hundred_sweeps_within_each_other() -> None:
    x = leaf(1)

    class Deep(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor, depth: int) -> ts.Tensor:
            ctx.depth = depth
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: ts.Tensor) -> Any:
            if ctx.depth == 0:
                return g, None
            with ts.enable_grad():
                inner = ctx.saved_tensors[0].detach().requires_grad_()
                out = Deep.apply(inner, ctx.depth - 1)
                (found,) = grad(out.sum(), inner)
            return g * found, None

    Deep.apply(x, 100).sum().backward()
    assert slopes(x) == [1.0]


def test_the_mode_is_as_before_whatever_happens() -> None:
    def fail(g: ts.Tensor) -> None:
        raise KeyError

    for enabled in (True, False):
        for hook in (fail, lambda g: None):
            h = leaf(1) * 2
            h.register_hook(hook)
            with ts.set_grad_enabled(enabled):
                with contextlib.suppress(KeyError):
                    h.backward()
                assert ts.is_grad_enabled() is enabled


def test_backward_works_where_nothing_is_recorded() -> None:
    x = leaf(1, 2)
    out = (x * x).sum()
    with ts.no_grad():
        out.backward()
    assert slopes(x) == [2.0, 4.0]


def test_a_graph_keeps_its_leaves() -> None:
    seen: list[Any] = []
    x = leaf(3)
    x.register_hook(lambda g: seen.append(g.tolist()))
    out = x * x
    del x
    out.sum().backward()
    assert seen == [[6.0]]


def test_leaves_that_share_one_gradient_do_not_add_up_each_others() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    shared = ts.zeros(2, dtype=ts.float64)
    x.grad = shared
    y.grad = shared
    (x * 2 + y * 3).sum().backward()
    assert slopes(x) == [2.0, 2.0] and slopes(y) == [3.0, 3.0] and shared.tolist() == [0.0, 0.0]


def test_a_gradient_may_be_a_view() -> None:
    flat = ts.zeros(4, dtype=ts.float64)
    x, y = leaf(1, 2), leaf(3, 4)
    x.grad, y.grad = flat[:2], flat[::-1][:2]
    (x * 2 + y * 3).sum().backward()
    assert slopes(x) == [2.0, 2.0] and slopes(y) == [3.0, 3.0]


def test_leaves_that_share_memory_have_gradients_of_their_own() -> None:
    x = leaf(1, 2)
    twin = x.detach().requires_grad_()
    (x * 2 + twin * 5).sum().backward()
    assert slopes(x) == [2.0, 2.0] and slopes(twin) == [5.0, 5.0]


def test_subclasses_are_leaves_and_give_plain_results() -> None:
    p = Parameter(ts.ones(2))
    assert p.requires_grad_() is p
    out = p * 2
    assert type(out) is ts.Tensor
    out.sum().backward()
    assert type(grad_of(p)) is ts.Tensor and slopes(p) == [2.0, 2.0]


def test_gradients_of_huge_and_tiny_numbers_do_not_lose_each_other() -> None:
    x = leaf(1)
    (x * 1e300 + x * 1e-300 - x * 1e300).sum().backward()
    assert slopes(x) in ([1e-300], [0.0])


def test_an_interrupt_breaks_a_sweep_off_and_changes_no_gradient() -> None:
    assert threading.current_thread() is threading.main_thread()
    x = leaf(1, 2)
    x.grad = ts.tensor([5.0, 6.0], dtype=ts.float64)
    out = x
    for _ in range(300_000):
        out = out * 1.0
    loss = out.sum()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            loss.backward()
            time.sleep(5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 2, "it was raised within the sweep, or right after it"
    assert slopes(x) in ([5.0, 6.0], [6.0, 7.0]), "all of the sweep, or nothing"
    assert ts.is_grad_enabled()
