"""LBFGS: Rosenbrock's valley, searches, states, and closures that fail."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

import tessella as ts
from tessella import optim
from tessella.optim.searches import Point, armijo, strong_wolfe

START = [-1.2, 1.0, -0.5, 0.8]


def valley(x: ts.Tensor) -> ts.Tensor:
    """Rosenbrock's function, whose minimum is at ones."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def closure_of(optimizer: Any, loss_of: Any) -> Any:
    """Give a closure that counts its calls."""

    def closure() -> ts.Tensor:
        closure.calls += 1  # type: ignore[attr-defined]
        optimizer.zero_grad()
        loss: ts.Tensor = loss_of()
        loss.backward()
        return loss

    closure.calls = 0  # type: ignore[attr-defined]
    return closure


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("search", ["strong_wolfe", "armijo"])
@pytest.mark.parametrize("size", [2, 4])
def test_the_valley_is_walked_to_its_end(search: str, dtype: Any, size: int) -> None:
    x = ts.tensor(START[:size], dtype=dtype, requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=100, line_search_fn=search, tolerance_change=1e-14)
    closure = closure_of(optimizer, lambda: valley(x))
    first = optimizer.step(closure)
    for _ in range(3):
        optimizer.step(closure)
    assert first.item() == pytest.approx(valley(ts.tensor(START[:size])).item())
    limit = 1e-3 if dtype is ts.float32 else 1e-6
    assert (x.detach() - 1).abs().max().item() < limit, x
    assert closure.calls < 250
    assert optimizer.state[x]["func_evals"] == closure.calls


def test_steps_of_a_fixed_rate_are_those_of_torch() -> None:
    """Torch 2.13 in float64: 30 steps of 20 iterations, lr=0.05, with 420 evaluations."""
    x = ts.tensor(START[:2], dtype=ts.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], lr=0.05)
    closure = closure_of(optimizer, lambda: valley(x))
    for _ in range(30):
        optimizer.step(closure)
    assert x.tolist() == pytest.approx([0.9999462851943004, 0.9998918178746026], rel=1e-8)
    assert closure.calls == 420


def test_the_strong_search_is_that_of_torch() -> None:
    """Torch 2.13 in float64: 10 steps of up to 20 iterations, with 52 evaluations."""
    x = ts.tensor(START[:2], dtype=ts.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
    closure = closure_of(optimizer, lambda: valley(x))
    for _ in range(10):
        optimizer.step(closure)
    assert x.tolist() == pytest.approx([0.9999814210791366, 0.9999619651810989], rel=1e-9)
    assert closure.calls == 52


def test_one_iteration_for_each_step_builds_a_history() -> None:
    x = ts.tensor([3.0, -2.0], dtype=ts.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=1, history_size=2, lr=0.9)
    scale = ts.tensor([1.0, 5.0], dtype=ts.float64)
    closure = closure_of(optimizer, lambda: (scale * x * x).sum())
    for _ in range(12):
        optimizer.step(closure)
    assert len(optimizer.state[x]["old_dirs"]) == 2
    assert x.abs().max().item() < 1e-3


def test_several_parameters_and_those_without_gradient() -> None:
    x = ts.zeros(2, 2, requires_grad=True)
    y = ts.zeros(3, dtype=ts.float64, requires_grad=True)
    z = ts.tensor([1 + 1j], requires_grad=True)
    unused = ts.ones(2, requires_grad=True)
    optimizer = optim.LBFGS([x, y, z, unused], line_search_fn="strong_wolfe")

    def loss() -> ts.Tensor:
        return (x - 1).square().sum() + (y - 2).square().sum() + (z - 3j).abs().square().sum()

    optimizer.step(closure_of(optimizer, loss))
    assert x.flatten().tolist() == pytest.approx([1.0] * 4, abs=1e-5)
    assert y.tolist() == pytest.approx([2.0] * 3, abs=1e-5)
    assert z.tolist() == pytest.approx([3j], abs=1e-5)
    assert unused.tolist() == [1.0, 1.0]


def test_states_travel() -> None:
    x = ts.tensor(START, dtype=ts.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=5, line_search_fn="strong_wolfe")
    optimizer.step(closure_of(optimizer, lambda: valley(x)))
    y = x.detach().clone().requires_grad_()
    other = optim.LBFGS([y])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[y]["old_dirs"][0] is not optimizer.state[x]["old_dirs"][0]
    third: Any = copy.deepcopy(optimizer)
    (w,) = third.param_groups[0]["params"]
    for each, point in ((optimizer, x), (other, y), (third, w)):
        each.step(closure_of(each, lambda point=point: valley(point)))
    assert x.tolist() == y.tolist() == w.tolist()


def test_a_closure_that_raises_leaves_everything_as_it_was() -> None:
    x = ts.tensor(START, requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="armijo")
    before = x.tolist()
    left = [4]

    def loss() -> ts.Tensor:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return valley(x)

    with pytest.raises(KeyboardInterrupt):
        optimizer.step(closure_of(optimizer, loss))
    assert x.tolist() == before and not optimizer.state[x]
    optimizer.step(closure_of(optimizer, loss))
    assert x.tolist() != before


def test_a_loss_that_is_nan_ends_the_step() -> None:
    x = ts.tensor([1.0], requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
    optimizer.step(closure_of(optimizer, lambda: (x * math.nan).sum()))
    assert x.tolist() == [1.0]


def test_a_flat_place_needs_no_step() -> None:
    x = ts.zeros(2, requires_grad=True)
    optimizer = optim.LBFGS([x])
    closure = closure_of(optimizer, lambda: x.square().sum())
    optimizer.step(closure)
    assert closure.calls == 1 and x.tolist() == [0.0, 0.0]


def test_searches_step_back_from_where_there_is_no_value() -> None:
    gradient = ts.zeros(1)

    def evaluate(t: float) -> Point:
        loss = (t - 0.25) ** 2 if t < 1 else math.inf
        return Point(t, loss, 2 * (t - 0.25), gradient)

    start = evaluate(0.0)
    for search in (armijo, strong_wolfe):
        found = search(evaluate, start, 100.0)
        assert found.loss < start.loss and found.t < 1
    steep = Point(0.0, 0.0, -1.0, gradient)
    assert armijo(lambda t: Point(t, 1.0, 0.0, gradient), steep, 1.0) is steep
    assert strong_wolfe(lambda t: Point(t, 1.0, 0.0, gradient), steep, 1.0).t == 0


X = ts.ones(2, requires_grad=True)
REFUSED: dict[str, tuple[Any, str]] = {
    "closure": (lambda: optim.LBFGS([X]).step(), "LBFGS.step: a closure is needed"),
    "groups": (lambda: optim.LBFGS([{"params": [X]}, {"params": [ts.ones(1, requires_grad=True)]}]),
               "LBFGS: there can be one parameter group only"),
    "search": (lambda: optim.LBFGS([X], line_search_fn="wolf"), "line_search_fn is 'wolf'"),
    "history": (lambda: optim.LBFGS([X], history_size=0), "history_size is 0"),
    "group": (lambda: optim.LBFGS([{"params": [X], "max_iter": "x"}]),
              "LBFGS: max_iter must be an integer, got str"),
    "added": (lambda: optim.LBFGS([X]).add_param_group({"params": []}), "one parameter group only"),
    "state": (lambda: optim.LBFGS([X]).load_state_dict(
        {"state": {0: {"d": X}}, "param_groups": [{"params": [0]}]}), "this is no state of LBFGS"),
    "lr": (lambda: optim.LBFGS([X], lr=-1), "lr is -1"),
    "loss": (lambda: optim.LBFGS([X]).step(lambda: "x"), "the closure's loss must be a real"),  # type: ignore[arg-type, return-value]
}  # fmt: skip


@pytest.mark.parametrize("label", REFUSED)
def test_wrong_arguments_are_refused(label: str) -> None:
    call, match = REFUSED[label]
    with pytest.raises(ts.errors.TessellaError, match=match) as caught:
        call()
    assert "  at test_lbfgs.py:" in str(caught.value) and "  hint: " in str(caught.value)
