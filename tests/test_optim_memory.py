"""Memory of optimizers: where states are, what they count as, and what happens where it ends."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import tessella as ts
from tessella import _core, memory, nn, optim
from tessella.sizes import to_text

CLASSES: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adamax": {}, "NAdam": {},
    "RAdam": {}, "RMSprop": {"momentum": 0.5, "centered": True}, "Adagrad": {}, "Adadelta": {},
}  # fmt: skip


def make(name: str, params: list[ts.Tensor]) -> Any:
    """Make an optimizer with all the states that it can have."""
    return getattr(optim, name)(params, **CLASSES[name])


def parameters(*sizes: int) -> list[ts.Tensor]:
    """Make parameters with gradients."""
    params = [ts.linspace(-1, 1, size).requires_grad_() for size in sizes]
    for p in params:
        p.grad = ts.ones(p.shape)
    return params


def everything(optimizer: Any, params: list[ts.Tensor]) -> list[Any]:
    """Give all numbers that a step writes."""
    states = [x.tolist() for p in params for x in optimizer.state[p].values()]
    return [*(p.tolist() for p in params), *states]


# --- kinds ----------------------------------------------------------------------------------------


def kinds() -> dict[str, int]:
    """Give live bytes by kind."""
    return memory.stats().kinds


@pytest.mark.parametrize("name", CLASSES)
def test_states_count_as_the_optimizers(name: str) -> None:
    params = parameters(1000, 10)
    before = kinds()
    optimizer = make(name, params)
    states = [x for p in params for x in optimizer.state[p].values()]
    held = sum(x.nbytes for x in states) + 8 * sum(
        len(value) if isinstance(value, tuple) else 1
        for key, value in optimizer.param_groups[0].items()
        if key in optimizer.varying
    )
    grown = {kind: kinds()[kind] - before[kind] for kind in before}
    assert grown == {**dict.fromkeys(before, 0), "optimizer": held}
    optimizer.step()
    assert kinds()["optimizer"] - before["optimizer"] == held
    del optimizer, states
    assert kinds() == before


def test_kinds_are_marked_and_told() -> None:
    x = ts.zeros(1000)
    before = kinds()
    for kind in ("weights", "optimizer", "tensors"):
        _core.mark_kind(x, kind)
        assert _core.kind_of(x) == kind
    assert kinds() == before
    with pytest.raises(ValueError, match="no kind of memory"):
        _core.mark_kind(x, "treasure")


def test_reports_name_optimizer_state_and_weights() -> None:
    before = memory.stats().kinds
    params = parameters(200_000)
    _core.mark_kind(params[0], "weights")
    optimizer = optim.Adam(params)
    report, kinds = memory.report(largest=20), memory.stats().kinds
    shown = {kind: to_text(kinds[kind]) for kind in ("optimizer", "weights")}
    assert kinds["weights"] - before["weights"] == 800_000
    assert 1_600_000 <= kinds["optimizer"] - before["optimizer"] < 1_601_000
    assert all(f"{kind} {size}" in report for kind, size in shown.items())
    assert report.count(", optimizer state") >= 2
    assert report.count(", weights") >= 1
    with memory.limit(memory.stats().live + 1000), pytest.raises(ts.errors.OutOfMemory) as caught:
        ts.zeros(1_000_000)
    assert f"optimizer {shown['optimizer']}" in str(caught.value)
    assert "float32 (200000,), optimizer state" in str(caught.value)
    del optimizer


# --- places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSES)
def test_states_are_where_their_parameter_is(name: str) -> None:
    arena = memory.Arena("1MiB")
    with memory.use(arena):
        inside = ts.ones(10, requires_grad=True)
    outside = ts.ones(10, requires_grad=True)
    scope = memory.Arena("1MiB")
    with memory.use(scope):
        optimizer = make(name, [inside, outside])
        shaped = optimizer.shaped
    assert all(optimizer.state[inside][k].allocator == arena
               for k in shaped if k in optimizer.state[inside])  # fmt: skip
    assert all(x.allocator == memory.heap for x in optimizer.state[outside].values())
    assert optimizer.param_groups[0]["lr"].allocator == memory.heap
    scope.reset()
    inside.grad, outside.grad = ts.ones(10), ts.ones(10)
    optimizer.step()


@pytest.mark.parametrize("name", [*CLASSES, "LBFGS"])
def test_training_inside_an_arena_that_is_reset_each_time(name: str) -> None:
    def train(arena: memory.Arena | None) -> list[Any]:
        ts.manual_seed(7)
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        params = list(model.parameters())
        x, y = ts.randn(16, 3), ts.randn(16, 1)
        options = {"line_search_fn": "strong_wolfe"} if name == "LBFGS" else CLASSES[name]
        optimizer = getattr(optim, name)(params, **options)
        schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

        def closure() -> ts.Tensor:
            optimizer.zero_grad()
            loss: ts.Tensor = (model(x) - y).square().mean()
            loss.backward()
            return loss

        held = []
        for _ in range(10):
            if arena is None:
                optimizer.step(closure)
                schedule.step()
            else:
                with memory.use(arena):
                    optimizer.step(closure)
                    schedule.step()
                arena.reset()
            held.append(memory.stats().live)
        assert name == "LBFGS" or len(set(held[3:])) == 1, "memory grows"
        return [p.tolist() for p in params]

    assert train(None) == train(memory.Arena("4MiB"))


def test_a_step_allocates_nothing() -> None:
    params = parameters(100, 70_000, 3)
    optimizers = [make(name, params) for name in CLASSES]
    for optimizer in optimizers:
        optimizer.step()
        with memory.track() as m:
            optimizer.step()
        assert m.allocations == 0


# --- where memory ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSES)
def test_a_constructor_that_runs_out_leaves_nothing(name: str) -> None:
    params = parameters(50, 60)
    before = memory.stats().live
    failures = 0
    for n in range(1, 30):
        _core.fail_allocations_from(n)
        try:
            make(name, params)
        except ts.errors.OutOfMemory:
            failures += 1
        else:
            break
        finally:
            _core.fail_allocations_from(0)
    assert failures > 2
    assert memory.stats().live == before


def test_adding_a_group_that_runs_out_adds_nothing() -> None:
    x, y = parameters(10, 20)
    optimizer = optim.Adam([x])
    for n in range(1, 20):
        _core.fail_allocations_from(n)
        try:
            optimizer.add_param_group({"params": [y]})
        except ts.errors.OutOfMemory:
            assert len(optimizer.param_groups) == 1 and y not in optimizer.state
        else:
            break
        finally:
            _core.fail_allocations_from(0)
    assert len(optimizer.param_groups) == 2 and n > 2
    optimizer.step()


def test_an_option_that_runs_out_is_not_written() -> None:
    (x,) = parameters(10)
    optimizer = optim.SGD([x])
    group = optimizer.param_groups[0]
    for n in (1, 2):
        _core.fail_allocations_from(n)
        try:
            with pytest.raises(ts.errors.OutOfMemory):
                group["momentum"] = 0.5
        finally:
            _core.fail_allocations_from(0)
        assert group["momentum"].item() == 0 and not optimizer.state[x]
    group["momentum"] = 0.5
    assert sorted(optimizer.state[x]) == ["momentum_buffer", "step"]


@pytest.mark.parametrize("name", CLASSES)
def test_a_step_needs_no_memory(name: str) -> None:
    params = parameters(50, 70_000)
    optimizer = make(name, params)
    optimizer.step()
    before = everything(optimizer, params)
    _core.fail_allocations_from(1)
    try:
        optimizer.step()
    finally:
        _core.fail_allocations_from(0)
    assert everything(optimizer, params) != before


@pytest.mark.parametrize("label", ["same", "fresh", "amsgrad"])
def test_loading_a_state_that_runs_out_changes_nothing(label: str) -> None:
    params = parameters(50, 60)
    optimizer = optim.Adam(params, amsgrad=label != "amsgrad")
    optimizer.step()
    other = optim.Adam(parameters(50, 60), amsgrad=True)
    other.step()
    other.step()
    saved = other.state_dict() if label != "fresh" else {
        "state": {}, "param_groups": other.state_dict()["param_groups"]}  # fmt: skip
    before = everything(optimizer, params)
    for n in range(1, 40):
        _core.fail_allocations_from(n)
        try:
            optimizer.load_state_dict(saved)
        except ts.errors.OutOfMemory:
            assert everything(optimizer, params) == before
        else:
            break
        finally:
            _core.fail_allocations_from(0)
    assert everything(optimizer, params) != before


def test_a_search_that_runs_out_puts_the_parameters_back() -> None:
    x = ts.tensor([-1.2, 1.0], requires_grad=True)
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure() -> ts.Tensor:
        optimizer.zero_grad()
        loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
        loss.backward()
        return loss

    for n in (1, 10, 60, 200, 500):
        _core.fail_allocations_from(n)
        try:
            with pytest.raises(ts.errors.OutOfMemory):
                optimizer.step(closure)
        finally:
            _core.fail_allocations_from(0)
        assert x.tolist() == [-1.2000000476837158, 1.0] and not optimizer.state[x]
    optimizer.step(closure)
    assert x.tolist() != [-1.2000000476837158, 1.0]


# --- interruption ---------------------------------------------------------------------------------


INTERRUPTED = """
import os, signal, threading
import tessella as ts
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
x, y = (ts.zeros(4_000_000, requires_grad=True) for _ in range(2))
x.grad, y.grad = ts.ones(x.shape), ts.ones(y.shape)
optimizer = ts.optim.SGD([{"params": [x]}, {"params": [y]}], lr=1.0)
for delay in (0.02, 0.03, 0.05):
    try:
        threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        while True:
            optimizer.step()
    except KeyboardInterrupt:
        pass
    print(len({p.min().item() for p in (x, y)} | {p.max().item() for p in (x, y)}))
"""


def test_an_interrupt_comes_before_a_step_or_after_all_of_it() -> None:
    """Two groups are one call: neither is written without the other."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert done.stdout.split() == ["1", "1", "1"], done.stderr
