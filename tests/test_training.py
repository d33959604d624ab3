"""Whole trainings: torch's losses, steps inside an arena, short trainings that must succeed."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from bench.programs.training import TASKS, examples, start, step, tessella_loss

import tessella as ts
from tessella import memory, optim

# Losses that torch 2.13 has before steps 1, 2, 10 and 50 of torch_step, the same network with
# torch.optim.Adam(fused=True).
TORCH_LOSSES = {
    "xor": {1: 1.3928275, 2: 1.3687925, 10: 1.1869184, 50: 0.5664153},
    "digits": {1: 2.4023445, 2: 2.3131063, 10: 1.7681055, 50: 0.1585243},
}


@pytest.mark.parametrize("compile", [None, ts.compile])
@pytest.mark.parametrize("name", TORCH_LOSSES)
def test_steps_have_the_losses_that_torch_has(name: str, compile: Any) -> None:
    train_once = step(ts, np, compile, task=TASKS[name])
    losses = [train_once().item() for _ in range(50)]
    for number, wanted in TORCH_LOSSES[name].items():
        assert losses[number - 1] == pytest.approx(wanted, rel=1e-6)


# --- inside an arena ------------------------------------------------------------------------------


def train(name: str, arena: memory.Arena | None, updates_inside: bool) -> list[float]:
    """Give the losses of 100 steps; memory must stay what it is after the tenth."""
    task = TASKS[name]
    parameters = [ts.tensor(array, requires_grad=True) for array in start(np, task)]
    inputs, wanted = (ts.tensor(array) for array in examples(np, task))
    optimizer, losses, held = optim.Adam(parameters), [], []
    for _ in range(100):
        optimizer.zero_grad()
        with nullcontext() if arena is None else memory.use(arena):
            loss = tessella_loss(ts, ts.nn.functional, task, parameters, inputs, wanted)
            loss.backward()
            losses.append(loss.item())
            if updates_inside:
                optimizer.step()
        if arena is not None:
            arena.reset()
        if not updates_inside:
            optimizer.step()
        del loss
        held.append(memory.stats().live)
    assert len(set(held[10:])) == 1, "memory grows"
    for p in parameters:
        grad = p.grad
        assert grad is not None
        states = optimizer.state[p].values()
        assert [x.allocator for x in (p, grad, *states)] == [memory.heap] * 5
    return losses


@pytest.mark.parametrize("updates_inside", [False, True])
@pytest.mark.parametrize("name", ["xor", "digits"])
def test_training_in_an_arena_is_training_on_the_heap(name: str, updates_inside: bool) -> None:
    arena = memory.Arena("2MiB", name="step")
    losses = train(name, arena, updates_inside)
    assert losses == train(name, None, updates_inside)
    assert losses[-1] < 0.4 * losses[0]
    assert arena.live == 0


# --- trainings that must succeed ------------------------------------------------------------------


def test_xor_is_learnt() -> None:
    ts.manual_seed(0)
    w1, b1, w2, b2 = parameters = [
        (ts.randn(shape) * 0.5).requires_grad_() for shape in ((2, 8), (8,), (8, 1), (1,))
    ]
    x = ts.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = ts.tensor([[0.0], [1.0], [1.0], [0.0]])
    for _ in range(200):
        loss = ((ts.tanh(x @ w1 + b1) @ w2 + b2) - y).square().mean()
        loss.backward()
        with ts.no_grad():
            for p in parameters:
                assert p.grad is not None
                p -= 0.2 * p.grad
                p.zero_grad()
    assert loss.item() < 1e-3


def test_regression_comes_to_the_least_squares() -> None:
    ts.manual_seed(1)
    x, noise = ts.randn(200, 5), ts.randn(200)
    y = x @ ts.tensor([1.0, -2.0, 3.0, 0.5, 0.0]) + 0.1 * noise
    slope = ts.value_and_grad(lambda w: (x @ w - y).square().mean())
    w = ts.zeros(5)
    for _ in range(200):
        loss, g = slope(w)
        w = w - 0.1 * g
    best = np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(w.numpy(), best, rtol=1e-4, atol=1e-5)
    assert math.sqrt(loss.item()) == pytest.approx(0.1, rel=0.1)
