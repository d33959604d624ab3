"""Training inside an arena that is reset each step: what is kept lives elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

import tessella as ts
from leaves import grad_of, slopes
from tessella import _core
from tessella.errors import TessellaError

STEPS = 100


def data() -> tuple[ts.Tensor, ts.Tensor]:
    """Give a small problem: a circle in a square."""
    generator = ts.Generator(1)
    x = ts.rand(64, 2, generator=generator) * 2 - 1
    return x, ((x * x).sum(axis=1, keepdims=True) < 0.5).astype(ts.float32)


def parameters() -> list[ts.Tensor]:
    """Give the weights of two layers."""
    generator = ts.Generator(2)
    shapes = [(2, 16), (16,), (16, 1), (1,)]
    return [(ts.randn(s, generator=generator) * 0.5).requires_grad_() for s in shapes]


def loss_of(params: list[ts.Tensor], x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    """Give the mean squared error."""
    a, b, c, d = params
    out = ts.sigmoid(ts.tanh(x @ a + b) @ c + d)
    return ((out - y) ** 2).mean()


def step(params: list[ts.Tensor], rate: float) -> None:
    """Go downhill."""
    with ts.no_grad():
        for p in params:
            assert p.grad is not None
            p -= rate * p.grad


def train(arena: Any, clear: Any) -> tuple[list[float], list[ts.Tensor]]:
    """Train for a hundred steps, with everything between zero_grad and the update in the arena."""
    params, (x, y), losses = parameters(), data(), []
    for _ in range(STEPS):
        for p in params:
            clear(p)
        if arena is None:
            loss = loss_of(params, x, y)
            loss.backward()
            losses.append(loss.item())
            step(params, 2.0)
            continue
        with ts.memory.use(arena):
            loss = loss_of(params, x, y)
            loss.backward()
            losses.append(loss.item())
            step(params, 2.0)
        del loss
        arena.reset()
    return losses, params


def forget(p: ts.Tensor) -> None:
    """Let the gradient go."""
    p.grad = None


@pytest.mark.parametrize("clear", [ts.Tensor.zero_grad, forget], ids=["zero_grad", "None"])
@pytest.mark.parametrize("size", ["64KiB", "1MiB"])
def test_a_hundred_steps_inside_an_arena_are_those_outside(size: str, clear: Any) -> None:
    arena = ts.memory.Arena(size, growable=True)
    losses, params = train(arena, clear)
    wanted, plain = train(None, clear)
    assert losses == wanted and losses[-1] < losses[0] / 2
    for p, q in zip(params, plain, strict=True):
        assert p.tolist() == q.tolist() and slopes(p) == slopes(q)


def test_gradients_live_where_their_leaf_lives() -> None:
    arena, other = ts.memory.Arena("1MiB"), ts.memory.Arena("1MiB")
    x = ts.ones(10, requires_grad=True)
    y = ts.ones(10, allocator=other).requires_grad_()
    with ts.memory.use(arena):
        (x * y).sum().backward()
    assert grad_of(x).allocator == x.allocator and grad_of(y).allocator == other
    arena.reset()
    assert slopes(x) == [1.0] * 10 and slopes(y) == [1.0] * 10


def test_retained_gradients_live_where_their_tensor_lives() -> None:
    arena = ts.memory.Arena("1MiB")
    x = ts.ones(10, requires_grad=True)
    h = x * 2
    h.retain_grad()
    with ts.memory.use(arena):
        (h * h).sum().backward()
    arena.reset()
    assert slopes(h) == [4.0] * 10 and slopes(x) == [8.0] * 10


def test_the_arena_grows_no_more_after_the_first_step() -> None:
    arena = ts.memory.Arena("16KiB", growable=True)
    params, (x, y), peaks = parameters(), data(), []
    for _ in range(5):
        with ts.memory.use(arena):
            loss = loss_of(params, x, y)
            loss.backward()
            step(params, 0.1)
        del loss
        for p in params:
            p.zero_grad()
        peaks.append(_core.memory_counts()[0])
        arena.reset()
    assert len(set(peaks[1:])) == 1


def test_a_graph_whose_memory_was_reset_says_so() -> None:
    arena = ts.memory.Arena("1MiB")
    x = ts.ones(10, requires_grad=True)
    with ts.memory.use(arena):
        out = x.exp().exp().sum()
    arena.reset()
    with pytest.raises(TessellaError):
        out.backward()
    assert x.grad is None


def test_a_graph_may_be_dropped_after_the_reset() -> None:
    arena = ts.memory.Arena("1MiB")
    x = ts.ones(10, requires_grad=True)
    with ts.memory.use(arena):
        out = x.exp().exp().sum()
    arena.reset()
    del out
    with ts.memory.use(arena):
        x.exp().sum().backward()
    arena.reset()
    assert x.grad is not None and grad_of(x)[0].item() == pytest.approx(2.718281828)
