"""compile(f, recompute=True): less memory, the same bits, and nothing that was written is lost."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import memory, nn, optim
from tessella.compiler.plan import live_bytes
from worlds import frozen, some

DEPTH, WIDTH, BATCH, CALLS = 12, 16, 64, 5
Activation = Callable[[ts.Tensor], Any]


def gelu(x: ts.Tensor) -> Any:
    """Give what nine operations make of x; most of them are kept for backward."""
    return 0.5 * x * (1 + ts.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS: dict[str, tuple[Activation, float]] = {  # and how much of the peak is left at most
    "gelu": (gelu, 0.45),
    "silu": (lambda x: x * ts.sigmoid(x), 0.5),
    "F.gelu": (F.gelu, 0.7),
    "relu": (F.relu, 1.0),
}


def training(activation: Activation, p: float = 0.0) -> tuple[Any, nn.Module]:
    """Give the step of a training, and its model."""
    ts.manual_seed(3)
    layers = [nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)]
    model = nn.Sequential(*layers)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)

    def step(x: ts.Tensor, y: ts.Tensor) -> Any:
        optimizer.zero_grad()
        for layer in layers:
            x = activation(layer(x))
            if p:
                x = F.dropout(x, p)
        loss = F.mse_loss(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, model


def outcome(step: Any, model: nn.Module) -> Any:
    """Give all that a few calls leave."""
    ts.manual_seed(5)
    x, y = some(1, BATCH, WIDTH), some(2, BATCH, WIDTH)
    return frozen([step(x, y).clone() for _ in range(CALLS)]), frozen(model)


def assert_placed(compiled: Any) -> None:
    """Check the program, and that memories that live at one time lie apart but for places taken."""
    program = compiled.program
    program.verify()
    table = compiled.memory()
    assert table.peak == program.arena_bytes >= max(live_bytes(program), default=0)
    for name, _, size, born, dies, offset in table.rows:
        assert offset + size <= table.peak
        for other, _, length, first, last, start in table.rows:
            is_apart = offset + size <= start or start + length <= offset
            assert other == name or is_apart or last <= born or dies <= first, (name, other)


@pytest.mark.parametrize("p", [0.0, 0.2])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_deep_chain_needs_less_and_has_the_same_bits(name: str, p: float) -> None:
    activation, most = ACTIVATIONS[name]
    step, model = training(activation, p)
    want = outcome(step, model)
    peaks = []
    for recompute in (False, True):
        step, model = training(activation, p)
        compiled = ts.compile(step, recompute=recompute)
        assert outcome(compiled, model) == want
        assert_placed(compiled)
        peaks.append(compiled.memory().peak)
    assert peaks[1] <= peaks[0] * (most if not p else 1)
    assert name != "gelu" or peaks[1] < 0.6 * peaks[0]


def test_the_plan_is_of_what_will_be_run() -> None:
    step, _ = training(gelu)
    compiled = ts.compile(step, recompute=True)
    found = compiled.plan(ts.spec((BATCH, WIDTH)), ts.spec((BATCH, WIDTH)))
    x, y = some(1, BATCH, WIDTH), some(2, BATCH, WIDTH)
    before = memory.stats().kinds
    for _ in range(CALLS):
        compiled(x, y)
    after = memory.stats().kinds
    assert sum(after[kind] - before[kind] for kind in after) == found.total
    assert found.rows == compiled.memory().rows


def test_what_draws_is_done_once() -> None:
    step, _ = training(gelu, 0.2)
    drawn = []
    for recompute in (False, True):
        compiled = ts.compile(step, recompute=recompute)
        for _ in range(3):
            compiled(some(1, BATCH, WIDTH), some(2, BATCH, WIDTH))
        drawn.append([each.draw for each in compiled.program.instructions if each.draw])
    assert len(drawn[0]) == 2 * DEPTH and drawn[0] == drawn[1]  # backward draws them again
    assert any(each.is_again for each in compiled.program.instructions)


def test_without_asking_nothing_is_done_again() -> None:
    step, _ = training(gelu)
    compiled = ts.compile(step)
    for _ in range(3):
        compiled(some(1, BATCH, WIDTH), some(2, BATCH, WIDTH))
    assert not any(each.is_again for each in compiled.program.instructions)


# --- writes ---------------------------------------------------------------------------------------


def spread(x: ts.Tensor, w: ts.Tensor) -> Any:
    """Need much memory for a while."""
    parts = [x @ w for _ in range(6)]
    return sum(parts[1:], parts[0]) @ w


@pytest.mark.parametrize("where", ["argument", "captured", "made", "view", "nowhere"])
def test_what_was_written_meanwhile_is_not_read_again(where: str) -> None:
    w = some(9, 32, 32)

    def play(wrap: Any) -> Any:
        state = some(7, 64, 32)

        def f(x: ts.Tensor) -> Any:
            made = x @ w
            kept = {"argument": x, "captured": state, "view": state[:], "nowhere": x}.get(
                where, made
            )
            cheap = kept * 2 + 1
            y = cheap @ w
            if where != "nowhere":
                kept.add_(1)
            z = spread(y, w)
            return z + cheap, kept * 1

        f = wrap(f)
        results = [[y.clone() for y in f(some(i, 64, 32))] for i in range(CALLS)]
        return frozen(results), frozen(state)

    compiled: list[Any] = []

    def wrap(f: Any) -> Any:
        compiled.append(ts.compile(f, recompute=True))
        return compiled[0]

    assert play(wrap) == play(lambda f: f)
    assert_placed(compiled[0])
    is_again = any(each.is_again for each in compiled[0].program.instructions)
    assert is_again == (where == "nowhere")


def test_a_function_that_is_part_of_a_graph_has_the_same_bits() -> None:
    def play(wrap: Any) -> Any:
        ts.manual_seed(1)
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(4)])

        def f(x: ts.Tensor) -> Any:
            for layer in model:
                x = gelu(layer(x))
            return x

        f = wrap(f)
        for i in range(CALLS):
            f(some(i, BATCH, WIDTH)).square().sum().backward()
        return frozen(model)

    assert play(lambda f: ts.compile(f, recompute=True)) == play(lambda f: f)


# --- programs by chance ---------------------------------------------------------------------------

UNARY: list[Any] = [ts.exp, ts.tanh, ts.sigmoid, lambda x: x * 0.5, lambda x: x + 1, ts.sin]


def program_of(seed: int) -> Callable[[ts.Tensor, ts.Tensor, ts.Tensor], Any]:
    """Give a function of some operations, of which some write in place."""
    chance = random.Random(seed)
    plan = [tuple(chance.randrange(1000) for _ in range(4)) for _ in range(30)]

    def f(x: ts.Tensor, state: ts.Tensor, w: ts.Tensor) -> Any:
        values: list[Any] = [x, state, x * 1]
        for kind, i, k, which in plan:
            a, b = values[i % len(values)], values[-1 - k % min(6, len(values))]
            if kind < 400:
                values.append(UNARY[which % len(UNARY)](a) * 0.5)
            elif kind < 600:
                values.append(a * 0.3 + b)
            elif kind < 800:
                values.append(ts.tanh(a @ w))
            elif kind < 900 and a is not x:
                a.mul_(0.5).add_(b * 0.1)
            else:
                values.append(a - a.mean(axis=-1, keepdims=True))
        return ts.tanh(values[2]) + values[-1] + values[3], values[-2]

    return f


@pytest.mark.parametrize("seed", range(40))
def test_programs_by_chance_have_the_same_bits(seed: int) -> None:
    def play(wrap: Any) -> Any:
        f, state, w = wrap(program_of(seed)), some(3, 32, 16), some(4, 16, 16)
        results = [[y.clone() for y in f(some(i, 32, 16), state, w)] for i in range(CALLS)]
        return frozen(results), frozen(state)

    compiled: list[Any] = []

    def wrap(f: Any) -> Any:
        compiled.append(ts.compile(f, recompute=True))
        return compiled[0]

    assert play(wrap) == play(lambda f: f)
    assert_placed(compiled[0])
