"""Training steps at several thread counts, eager and compiled: one loss, one model, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tessella as ts
from conftest import sampled
from training_steps import TRAININGS
from worlds import Wrap

STEPS = 5
THREADS = (1, 2, 3, 5)
WAYS: dict[str, Wrap] = {"eager": lambda step: step, "compiled": ts.compile}


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = ts.get_num_threads()
    yield
    ts.set_num_threads(before)


def bits_of(name: str, wrap: Wrap, threads: int) -> dict[str, Any]:
    """Train from one seed; give all losses, parameters, gradients and statistics."""
    ts.set_num_threads(threads)
    ts.manual_seed(3)
    network, function, batch = TRAININGS[name]()
    step = wrap(function)
    found: dict[str, Any] = {f"loss {i}": step(*batch(i)).numpy().copy() for i in range(STEPS)}
    for key, x in [*network.named_parameters(), *network.named_buffers()]:
        found[key] = x.detach().numpy().copy()
        if x.grad is not None:
            found[f"gradient of {key}"] = x.grad.numpy().copy()
    assert any(key.startswith("gradient") for key in found)
    assert wrap is not ts.compile or step.program is not None, "it was never repeated"
    return found


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_has_the_same_bits_at_any_number_of_threads(name: str) -> None:
    want = bits_of(name, WAYS["eager"], 1)
    ways = [(way, n) for way in WAYS for n in THREADS if (way, n) != ("eager", 1)]
    for way, threads in sampled(ways, 4):
        found = bits_of(name, WAYS[way], threads)
        assert list(found) == list(want)
        wrong = [key for key in want if found[key].tobytes() != want[key].tobytes()]
        assert not wrong, f"{way}, {threads} threads: {wrong}"
