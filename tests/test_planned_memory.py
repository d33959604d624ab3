"""plan: the memory of a compiled call, to the byte, without computing or changing anything."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from calls import DECLARED, calls_of
from tessella import _core, memory, nn, optim
from tessella.ops.random import default_generator
from test_compiled_memory import MODELS as STEPS, step_of
from test_compiled_programs import MODELS as PROGRAMS
from worlds import frozen, some

CaptureError = ts.errors.CaptureError
CALLS = 6


def growth_of(call: Callable[[], Any]) -> dict[str, int]:
    """Give what the account grows by, by kind, through calls whose results are dropped."""
    gc.collect()
    before = memory.stats().kinds
    for _ in range(CALLS):
        call()
    gc.collect()
    after = memory.stats().kinds
    return {kind: after[kind] - before[kind] for kind in after if after[kind] != before[kind]}


def specs_of(args: Any) -> list[ts.Tensor]:
    return [ts.spec(x.shape, x.dtype) for x in args]


def assert_foreseen(found: Any, growth: dict[str, int]) -> None:
    """Compare kind by kind, and the sum."""
    assert growth.get("programs", 0) == found.peak + found.scratch
    assert growth.get("tensors", 0) == found.results
    assert growth.get("gradients", 0) == found.gradients
    assert sum(growth.values()) == found.total


# --- the same bytes -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_plan_is_what_the_account_shows(name: str) -> None:
    function, arguments = PROGRAMS[name]()
    args = arguments(0)
    compiled = ts.compile(function)
    found = compiled.plan(*specs_of(args))
    assert_foreseen(found, growth_of(lambda: compiled(*args)))
    assert found.rows == compiled.memory().rows and found.peak == compiled.memory().peak
    assert compiled.plan(*args).peak == found.peak  # tensors are as good as specs


@pytest.mark.parametrize("name", STEPS)
def test_the_plan_of_a_step_is_what_the_account_shows(name: str) -> None:
    make, shape = STEPS[name]
    step, x, y = step_of(make()), ts.rand(*shape), ts.randint(0, 3, shape[:1])
    found = step.plan(*specs_of((x, y)))
    assert_foreseen(found, growth_of(lambda: step(x, y)))
    assert found.rows == step.memory().rows
    assert step.plan(x, y).gradients == 0  # they are there now


ROWS: dict[str, Callable[[ts.Tensor], Any]] = {
    "sum": lambda x: (x.exp() * 2).sum(-1),
    "mean of all": lambda x: (x * 2).mean(),
    "argmax": lambda x: (x * 2).argmax(-1),
    "two": lambda x: ((x * 2).sum(-1), (x * 2).amax(-1)),
    "softmax": lambda x: (x - x.amax(-1, True)).exp() / x.exp().sum(-1, True),
}


@pytest.mark.parametrize("length", [1000, 8000, 20_000, 40_000, 70_000])
@pytest.mark.parametrize("name", ROWS)
def test_rows_shorter_and_longer_than_a_tile_are_planned(name: str, length: int) -> None:
    x, compiled = ts.rand(2, length), ts.compile(ROWS[name])
    found = compiled.plan(*specs_of([x]))
    assert_foreseen(found, growth_of(lambda: compiled(x)))


def test_gradients_that_add_up_are_planned_as_they_will_be_added() -> None:
    model = nn.Linear(64, 64)

    @ts.compile
    def accumulate(x: ts.Tensor) -> None:
        model(x).square().sum().backward()

    found = accumulate.plan(ts.spec((32, 64)))
    assert found.gradients == sum(p.nbytes for p in model.parameters())
    x = ts.rand(32, 64)
    assert_foreseen(found, growth_of(lambda: accumulate(x)))


def test_a_function_that_is_part_of_a_graph_has_two_programs() -> None:
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.Dropout(0.2))
    encode = ts.compile(model)
    x = ts.rand(256, 64)
    found = encode.plan(ts.spec(x.shape))
    growth = growth_of(lambda: encode(x))
    assert_foreseen(found, growth)
    backward = growth_of(lambda: encode(x).square().sum().backward())
    assert backward["programs"] == found.backward.peak + found.backward.scratch  # type: ignore[union-attr]


# Their results have memory that is foreign, or belongs to the call: nothing of theirs is kept.
@pytest.mark.parametrize("name", sorted(DECLARED))
def test_every_function_is_planned_as_it_is_compiled(name: str) -> None:
    for call in calls_of(name):
        compiled = ts.compile(call.function)
        before = frozen(call.tensors())
        try:
            found = compiled.plan(*call.args, **call.named)
        except CaptureError:
            assert DECLARED[name].no_capture
            continue
        assert frozen(call.tensors()) == before
        for _ in range(2):
            compiled(*call.args, **call.named)
        program = compiled.program
        assert program is not None and found.rows == compiled.memory().rows


# --- without computing ----------------------------------------------------------------------------


def test_more_than_the_machine_has_is_planned_in_moments() -> None:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with memory.track() as figures:
        for make, shape in STEPS.values():
            step = step_of(make())
            found = step.plan(ts.spec((10_000_000, *shape[1:])), ts.spec((10_000_000,), ts.int64))
            assert found.peak > 10**10
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most  # KiB
    assert figures.peak < 10**6 and grown < 50_000


def test_the_plan_of_a_large_batch_is_not_limited_by_memory() -> None:
    with memory.limit("64MiB"):
        found = ts.compile(lambda x: (x @ x.T).sum()).plan(ts.spec((1 << 20, 4)))
    assert found.peak == 4 << 40 and found.results == 4


def world() -> tuple[Any, Any]:
    """Give a step, and all that it changes."""
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 2))
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    own = ts.Generator(5)

    @ts.compile
    def step(x: ts.Tensor, y: ts.Tensor) -> Any:
        optimizer.zero_grad()
        noise = ts.randn(*x.shape, generator=own)
        loss = F.mse_loss(model(x + noise), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    return step, [model, optimizer, own, default_generator]


@pytest.mark.parametrize("calls", [0, 1, 5])
def test_nothing_changes(calls: int) -> None:
    step, state = world()
    x, y = some(1, 16, 8), some(2, 16, 2)
    for _ in range(calls):
        step(x, y)
    before = frozen(state)
    parameters = list(state[0].parameters())
    gradients = [p.grad for p in parameters]
    step.plan(ts.spec((64, 8)), ts.spec((64, 2)))
    step.plan(x, y)
    assert frozen(state) == before
    assert all(p.grad is g for p, g in zip(parameters, gradients, strict=True))
    kinds = memory.stats().kinds
    step.plan(x, y)
    assert memory.stats().kinds == kinds
    step(x, y)  # and it goes on


def test_a_plan_writes_nothing_that_a_graph_keeps() -> None:
    weight = ts.ones(3).requires_grad_()
    kept = ts.ones(3)
    out = (weight * kept).sum()

    @ts.compile
    def change(x: ts.Tensor) -> Any:
        kept.add_(x)
        return kept * 2

    change.plan(ts.spec((3,)))
    out.backward()  # raises if what it keeps was written
    assert weight.grad is not None and weight.grad.tolist() == [1, 1, 1]
    assert kept.tolist() == [1, 1, 1]


def test_tensors_become_part_of_no_graph() -> None:
    weight, state = ts.ones(3).requires_grad_(), ts.zeros(3)

    @ts.compile
    def gather(x: ts.Tensor) -> None:
        state.add_(x * weight)

    with pytest.raises(CaptureError):
        gather.plan(ts.spec((3,)))
    assert state.grad_fn is None and not state.requires_grad and state.tolist() == [0, 0, 0]


def test_gradients_are_as_before_if_a_plan_fails() -> None:
    weight = ts.ones(3).requires_grad_()
    weight.sum().backward()
    held = weight.grad

    @ts.compile
    def step(x: ts.Tensor) -> Any:
        weight.grad = None
        (weight * x * ts.rand(3)).sum().backward()
        return float(x.sum())

    counter = default_generator.counter
    with pytest.raises(CaptureError, match="cannot be part of a compiled function"):
        step.plan(ts.spec((3,)))
    assert weight.grad is held and weight.tolist() == [1, 1, 1]
    assert default_generator.counter == counter
    assert (ts.ones(2) + 1).tolist() == [2, 2]  # computed again


kept_elsewhere: list[ts.Tensor] = []


def test_a_tensor_that_is_kept_has_no_memory() -> None:
    @ts.compile
    def keep(x: ts.Tensor) -> Any:
        kept_elsewhere.append(x * 2)
        return x + 1

    with pytest.raises(CaptureError, match="is kept"):
        keep.plan(ts.spec((3,)))
    assert kept_elsewhere.pop().is_virtual


def test_an_array_from_outside_stays_as_it_is() -> None:
    log = ts.DynamicArray(ts.float32)

    @ts.compile
    def note(x: ts.Tensor) -> Any:
        log.append(x.sum())
        return x * 2

    with pytest.raises(CaptureError, match="DynamicArray"):
        note.plan(ts.spec((3,)))
    assert len(log) == 0


# --- what is planned ------------------------------------------------------------------------------


def test_arguments_that_share_memory_are_planned_so() -> None:
    def shift(x: ts.Tensor, y: ts.Tensor) -> Any:
        x.mul_(2)
        return y.exp() + 1

    x = ts.ones(1000)
    for args in ((x, x), (x, x.clone()), (x[:500], x[500:])):
        compiled = ts.compile(shift)
        found = compiled.plan(*args)
        assert_foreseen(found, growth_of(lambda: compiled(*args)))  # noqa: B023


def test_values_and_names_of_arguments_count() -> None:
    @ts.compile
    def power(x: ts.Tensor, n: int, options: dict[str, Any]) -> Any:
        for _ in range(n):
            x = x @ options["by"]
        return x

    by = ts.spec((64, 64))
    assert power.plan(ts.spec((32, 64)), 1, {"by": by}).peak == 0
    assert power.plan(ts.spec((32, 64)), n=2, options={"by": by}).peak == 32 * 64 * 4
    assert not power.programs


def test_a_method_is_planned() -> None:
    class Scaled:
        def __init__(self) -> None:
            self.scale = ts.ones(1)

        @ts.compile
        def forward(self, x: ts.Tensor) -> Any:
            return (x * self.scale) @ x.T

    assert Scaled().forward.plan(ts.spec((8, 100))).results == 8 * 8 * 4


def test_a_plan_is_not_made_while_a_call_is_recorded() -> None:
    inner = ts.compile(lambda x: x * 2)
    outer = ts.compile(lambda x: x * inner.plan(x).peak)
    with pytest.raises(CaptureError, match="not planned inside"):
        outer(ts.ones(3))


def test_a_plan_prints_as_a_table() -> None:
    product = ts.compile(lambda x: x @ x @ x)
    assert str(product.plan(ts.spec((16, 16)))).splitlines() == [
        "compiled <lambda>: peak 1,024 B in 1 arena, 1 buffer (without reuse 1,024 B)",
        "  2,048 B: arena 1,024, scratch 0, results 1,024, gradients 0",
        "  buffer       shape        bytes     born  dies  offset",
        "  m1           (16, 16)     1,024        0     1       0",
    ]


def test_modules_that_load_inside_are_no_part_of_a_recording() -> None:
    code = """
import tessella as ts
find = ts.compile(lambda x: ts.searchsorted(ts.arange(9) * 1.0, x))
assert find.plan(ts.spec((4,))).results == 4 * 8
assert [find(ts.ones(4)).tolist() for _ in range(3)][2] == [1, 1, 1, 1]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_stand_ins_end_with_their_rehearsal() -> None:
    stage = _core.Rehearsal()
    stage.begin()
    x = stage.stand_in(ts.ones(3))
    with pytest.raises(CaptureError, match="inside of a rehearsal"):
        _core.Rehearsal().begin()
    assert not x.is_virtual
    stage.end()
    stage.end()
    assert x.is_virtual
