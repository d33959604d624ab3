"""docs/tour.py does what it says: it runs, gradients are right, programs repeat the bits."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).resolve().parent.parent / "docs" / "tour.py"


@pytest.fixture(scope="module")
def tour() -> Any:
    spec = importlib.util.spec_from_file_location("tour", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["tour"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_tour_runs_and_learns() -> None:
    done = subprocess.run([sys.executable, str(PATH)], capture_output=True, text=True, check=True)
    *groups, arena, error = done.stdout.splitlines()
    assert "add -> mul -> exp -> add -> invert" in groups
    assert arena == "arena 88, without plan 328"
    before, after = error.split(",")[0].removeprefix("error ").split(" -> ")
    assert float(after) < 0.01 < 1 < float(before)


def drawn(tour: Any, shape: tuple[int, int], seed: int) -> Any:
    draw = random.Random(seed)
    return tour.Tensor([draw.uniform(0.5, 2) for _ in range(shape[0] * shape[1])], shape)


def total(tour: Any, x: Any) -> Any:
    return tour.apply(tour.SUM, x, shape=(1, 1))


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "square": lambda tour, x: x * x,
    "row": lambda tour, x: x * drawn(tour, (1, 5), 1) + x,
    "sigmoid": lambda tour, x: tour.sigmoid(x) - x,
    "turned": lambda tour, x: x @ tour.apply(tour.TURN, x),
    "sums": lambda tour, x: x * tour.apply(tour.SUM, x, shape=(1, 5)),
    "column": lambda tour, x: x + tour.apply(tour.SUM, x * x, shape=(3, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_the_tour_agree_with_differences(name: str, tour: Any) -> None:
    def loss(x: Any) -> Any:
        return total(tour, FUNCTIONS[name](tour, x))

    x = drawn(tour, (3, 5), 0)
    x.needs_grad = True
    tour.backward(loss(x))
    found = x.grad.tolist()
    for place in range(15):
        step = 1e-6
        moved = [list(x.memory), list(x.memory)]
        moved[0][place] += step
        moved[1][place] -= step
        up, down = (loss(tour.Tensor(memory, (3, 5))).tolist()[0] for memory in moved)
        assert found[place] == pytest.approx((up - down) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_of_the_tour_have_the_same_bits(name: str, tour: Any) -> None:
    def function(x: Any) -> Any:
        return FUNCTIONS[name](tour, x) * 3.0

    _, program = tour.record(function, drawn(tour, (3, 5), 0))
    for seed in range(1, 5):
        x = drawn(tour, (3, 5), seed)
        held = x.tolist()
        assert program.run(x).tolist() == function(x).tolist()
        assert x.tolist() == held


def test_writes_of_the_tour_wait_for_who_reads_in_another_order(tour: Any) -> None:
    """A square is added to its transpose, in place: element k needs more than element k."""

    def function(x: Any) -> Any:
        turned = tour.apply(tour.TURN, x)
        doubled = x + turned
        tour.write(x, doubled)
        return x * turned

    eager, compiled = drawn(tour, (3, 3), 0), drawn(tour, (3, 3), 0)
    first, program = tour.record(function, compiled)
    assert first.tolist() == function(eager).tolist()
    for _ in range(3):
        assert program.run(compiled).tolist() == function(eager).tolist()
        assert compiled.tolist() == eager.tolist()
