"""A compiled step allocates nothing: its intermediates, scratch and results have their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import memory, nn, optim
from worlds import Wrap, same, some

WARM = 3  # calls that are recorded: without gradients, then twice with them


class Reader(nn.Module):
    """The last state of an LSTM, classified."""

    def __init__(self) -> None:
        super().__init__()
        self.states = nn.LSTM(8, 16, batch_first=True)
        self.classes = nn.Linear(16, 3)

    def forward(self, x: ts.Tensor) -> Any:
        """Read a batch of sequences."""
        return self.classes(self.states(x)[0][:, -1])


def attention() -> nn.Module:
    """Give a layer of a transformer with a classifier behind it."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(160, 3))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "dense": (lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.1),
                                    nn.BatchNorm1d(128), nn.Linear(128, 3)), (64, 64)),
    "images": (lambda: nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                     nn.Linear(8 * 13 * 13, 3)), (16, 1, 28, 28)),
    "sequences": (Reader, (4, 10, 8)),
    "attention": (attention, (4, 10, 16)),
}  # fmt: skip


def step_of(model: nn.Module) -> Any:
    """Give a training step of a model, compiled."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)

    @ts.compile
    def step(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


@pytest.mark.parametrize("name", MODELS)
def test_a_compiled_step_allocates_nothing_from_the_fourth_call_on(name: str) -> None:
    make, shape = MODELS[name]
    step, x, y = step_of(make()), ts.rand(*shape), ts.randint(0, 3, shape[:1])
    for _ in range(WARM):
        step(x, y)
    with memory.track() as figures:
        for _ in range(5):
            step(x, y)
    assert (figures.allocations, figures.peak) == (0, 0)


def test_results_that_are_held_are_the_only_allocations() -> None:
    double = ts.compile(lambda x: (x @ x) * 2)
    x = ts.ones(64, 64)
    for _ in range(2):
        double(x)
    with memory.track() as figures:
        held = [double(x) for _ in range(4)]
    assert figures.allocations == 3 and figures.live == 3 * x.nbytes  # the first was there
    del held[1:]
    with memory.track() as figures:
        for _ in range(4):
            double(x)
    assert figures.allocations == 0 and held[0].sum().item() == 2 * 64**3


def test_plans_reuse_memory() -> None:
    model = nn.Sequential(*[nn.Linear(64, 64, bias=False) for _ in range(8)])
    with ts.no_grad():
        forward = ts.compile(model)
        for _ in range(2):
            forward(ts.ones(32, 64))
    assert forward.program.arena_bytes == 2 * 32 * 64 * 4  # type: ignore[union-attr]  # one is read, one written
    forward.program.verify()  # type: ignore[union-attr]


def test_arguments_of_recorded_calls_are_let_go() -> None:
    weight = ts.ones(4, 4).requires_grad_()
    project = ts.compile(lambda x: (x @ weight).sum().detach())
    before = memory.stats().kinds["tensors"]
    for _ in range(3):
        x = ts.ones(1000, 4)
        project(x)
        del x
    assert memory.stats().kinds["tensors"] - before <= 64  # the result, for the next call


def test_arguments_of_calls_that_came_once_are_let_go() -> None:
    total = ts.compile(lambda x: x.sum())
    before = memory.stats().kinds["tensors"]
    for n in range(8):
        total(ts.ones(1000 + n))
    assert memory.stats().kinds["tensors"] - before <= 64


def test_arguments_in_an_arena_that_is_reset_between_calls() -> None:
    def play(wrap: Wrap) -> Any:
        arena, seen = memory.Arena("64KiB"), []
        call = wrap(lambda x: x * 2)
        for i in range(6):
            with memory.use(arena):
                x = some(i, 3)
                seen.append(call(x).tolist())
            arena.reset()
        return seen

    same(play)
