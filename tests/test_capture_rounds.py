"""What a compiled function reads of Python and changes itself, or reads by ways without a name.

Each play is a function that makes a fresh world and gives what is called and what to look at. It
runs as it is and compiled; all that it gives must be the same.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import tessella as ts
from reference import assert_same_tensors
from tessella import nn, optim

CALLS = 12
Wrap = Callable[..., Any]


def plain(function: Any) -> Any:
    return function


def gradients_every_second_call(wrap: Wrap) -> list[Any]:
    count, p = 0, nn.Parameter(ts.ones(1))
    optimizer = optim.SGD([p], lr=0.1)

    def step(x: ts.Tensor) -> None:
        nonlocal count
        (x * p).sum().backward()
        count = (count + 1) % 2
        if count == 0:
            optimizer.step()
            optimizer.zero_grad()

    called = wrap(step)
    found = []
    for _ in range(CALLS):
        called(ts.ones(1))
        found.append(p.detach().clone())
    return found


def flag_that_turns(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(is_on=False)

    def f(x: ts.Tensor) -> ts.Tensor:
        state.is_on = not state.is_on
        return x * 2 if state.is_on else x * 3

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def buffers_that_change_places(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(now=ts.ones(1), then=ts.full((1,), 2.0))

    def f(x: ts.Tensor) -> ts.Tensor:
        state.now, state.then = state.then, state.now
        now: ts.Tensor = state.now
        return x * now

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def list_that_is_reversed(wrap: Wrap) -> list[Any]:
    factors = [2.0, 3.0]

    def f(x: ts.Tensor) -> ts.Tensor:
        factors.reverse()
        return x * factors[0]

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def queue_that_goes_round(wrap: Wrap) -> list[Any]:
    factors = deque([1.0, 2.0])

    def f(x: ts.Tensor) -> ts.Tensor:
        factors.rotate()
        return x * factors[0]

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def number_that_returns(wrap: Wrap) -> list[Any]:
    k = 2.0

    def f(x: ts.Tensor) -> ts.Tensor:
        nonlocal k
        k = 5.0 - k
        return x * k

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def first_call_that_comes_again(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(is_first=True)

    def f(x: ts.Tensor) -> ts.Tensor:
        if state.is_first:
            state.is_first = False
            return x * 2
        return x * 3

    called = wrap(f)
    found = []
    for i in range(CALLS):
        state.is_first |= i % 4 == 0
        found.append(called(ts.ones(1)))
    return found


def name_that_is_computed(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(w0=2.0, w1=3.0)
    called = wrap(lambda x: x * sum(getattr(state, f"w{i}") for i in range(2)))
    found = []
    for i in range(CALLS):
        state.w1 += i == 6
        found.append(called(ts.ones(1)))
    return found


def name_that_is_given(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(w=2.0)
    called = wrap(lambda x, name: x * getattr(state, name))
    found = []
    for i in range(CALLS):
        state.w += i == 6
        found.append(called(ts.ones(1), "w"))
    return found


def attributes_as_a_dict(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(w=2.0)
    called = wrap(lambda x: x * vars(state)["w"] * state.__dict__["w"])
    found = []
    for i in range(CALLS):
        state.w += i == 6
        found.append(called(ts.ones(1)))
    return found


def iterator_as_an_argument(wrap: Wrap) -> list[Any]:
    numbers = itertools.count(1.0)
    called = wrap(lambda x, given: x * next(given))
    return [called(ts.ones(1), numbers) for _ in range(CALLS)]


def iterator_in_a_list(wrap: Wrap) -> list[Any]:
    several = [itertools.count(1.0)]
    called = wrap(lambda x: x * next(several[0]))
    return [called(ts.ones(1)) for _ in range(CALLS)]


def iterator_of_a_local_name(wrap: Wrap) -> list[Any]:
    state = SimpleNamespace(numbers=itertools.count(1.0))

    def f(x: ts.Tensor) -> ts.Tensor:
        own = state
        number: float = next(own.numbers)
        return x * number

    called = wrap(f)
    return [called(ts.ones(1)) for _ in range(CALLS)]


def bound_next(wrap: Wrap) -> list[Any]:
    called = wrap(lambda x, more: x * more())
    more = itertools.count(1.0).__next__
    return [called(ts.ones(1), more) for _ in range(CALLS)]


def modes_that_stay_changed(wrap: Wrap) -> list[Any]:
    def f(x: ts.Tensor) -> ts.Tensor:
        ts.set_grad_enabled(False)
        return x * 2

    called = wrap(f)
    found = []
    try:
        for _ in range(CALLS):
            ts.set_grad_enabled(True)
            called(ts.ones(1))
            found.append(ts.is_grad_enabled())
    finally:
        ts.set_grad_enabled(True)
    return found


def list_among_the_arguments_that_shrinks(wrap: Wrap) -> list[Any]:
    called = wrap(lambda several: several.pop() * 2)
    found = []
    for _ in range(CALLS):
        several = [ts.ones(1), ts.ones(1)]
        found += [called(several), len(several)]
    return found


def statistics_of_a_checkpoint(wrap: Wrap) -> list[Any]:
    norm = nn.BatchNorm1d(3)
    called = wrap(lambda x: ts.checkpoint(norm, x))
    found: list[Any] = []
    for i in range(CALLS):
        out = called(ts.arange(12.0).reshape(4, 3) + i)
        if i % 2:
            out.sum().backward()
        found.append(tuple(x.clone() for x in norm.buffers()))
    return found


def numbers_of_a_checkpoint(wrap: Wrap) -> list[Any]:
    ts.manual_seed(3)
    p = nn.Parameter(ts.ones(4))
    dropout = nn.Dropout(0.5)
    called = wrap(lambda x: ts.checkpoint(dropout, x * p, preserve_rng_state=False))
    return [(called(ts.ones(4)).detach(), ts.rand(1)) for _ in range(CALLS)]


def groups_that_go(wrap: Wrap) -> list[Any]:
    p, q = nn.Parameter(ts.ones(1)), nn.Parameter(ts.ones(1))
    optimizer = optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        (p + q).sum().backward()
        optimizer.step()

    called = wrap(step)
    found = []
    for i in range(CALLS):
        if i == 5:
            optimizer.param_groups.pop()
        if i == 8:
            optimizer.param_groups = [{"params": [q], "lr": 0.5}]  # type: ignore[list-item]
        called()
        found.append((p.detach().clone(), q.detach().clone()))
    return found


def gradient_as_another_shape(wrap: Wrap) -> list[Any]:
    p = nn.Parameter(ts.ones(2, 2))

    def f(x: ts.Tensor) -> ts.Tensor:
        p.grad = None
        (x * p).sum().backward()
        assert p.grad is not None
        return p.grad.reshape(-1)

    called = wrap(f)
    found: list[Any] = []
    for i in range(CALLS):
        out = called(ts.full((2, 2), float(i)))
        if i % 3 == 0:
            out += 1  # it is the gradient itself
        found += [out, p.grad]
    return found


def absolute_values_of_complex_numbers(wrap: Wrap) -> list[Any]:
    called = wrap(lambda x: (x.abs() * 2, (x * 2).abs().sqrt()))
    numbers = [ts.complex(ts.arange(5.0) - i, ts.arange(5.0) * i) for i in range(CALLS)]
    return [called(x) for x in numbers]


PLAYS = [
    gradients_every_second_call,
    flag_that_turns,
    buffers_that_change_places,
    list_that_is_reversed,
    queue_that_goes_round,
    number_that_returns,
    first_call_that_comes_again,
    name_that_is_computed,
    name_that_is_given,
    attributes_as_a_dict,
    iterator_as_an_argument,
    iterator_in_a_list,
    iterator_of_a_local_name,
    bound_next,
    modes_that_stay_changed,
    list_among_the_arguments_that_shrinks,
    statistics_of_a_checkpoint,
    numbers_of_a_checkpoint,
    groups_that_go,
    gradient_as_another_shape,
    absolute_values_of_complex_numbers,
]


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.__name__)
@pytest.mark.filterwarnings("ignore:.*was recorded at each of 8 calls")
def test_compiled_play_gives_what_it_gives_as_it_is(play: Callable[[Wrap], list[Any]]) -> None:
    for got, want in zip(play(ts.compile), play(plain), strict=True):
        pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for x, y in pairs:
            if isinstance(y, ts.Tensor):
                assert_same_tensors(x, y)
            else:
                assert x == y


class Clock:
    """A clock that stands somewhere in an object."""

    now = staticmethod(time.monotonic)


@pytest.mark.parametrize("clocks", [[time.monotonic], {"now": time.monotonic}, (Clock.now,)])
@pytest.mark.filterwarnings("ignore:.*was recorded at each of 8 calls")
def test_a_clock_in_a_container_is_read_at_each_call(clocks: Any) -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        several = list(clocks.values()) if isinstance(clocks, dict) else clocks
        now: float = several[0]()
        return x.astype(ts.float64) * now

    called = ts.compile(f)
    found = [called(ts.ones(1)).item() for _ in range(5)]
    assert found == sorted(set(found))


class Settings(dict[str, Any]):
    """Items as attributes; a name that is not there is a KeyError, as many write it."""

    __getattr__ = dict.__getitem__


def test_objects_that_answer_to_any_name_work() -> None:
    settings = Settings(k=2.0)
    own: Any = settings
    closed, given = ts.compile(lambda x: x * own.k), ts.compile(lambda x, own: x * own.k)
    for i in range(6):
        settings["k"] = float(i // 3)
        assert closed(ts.ones(1)).item() == given(ts.ones(1), settings).item() == i // 3


def test_dates_are_constants() -> None:
    import datetime

    day = datetime.date(2000, 1, 2)
    called = ts.compile(lambda x: x * day.year)
    assert [called(ts.ones(1)).item() for _ in range(4)] == [2000] * 4


def test_a_group_of_another_optimizer_becomes_one_of_this() -> None:
    p, q = nn.Parameter(ts.ones(1)), nn.Parameter(ts.ones(1))
    first, second = optim.SGD([p], lr=0.1), optim.SGD([q], lr=0.2)
    first.param_groups += second.param_groups
    assert [group["lr"].item() for group in first.param_groups] == [0.1, 0.2]
    first.param_groups[1]["lr"] = 0.4
    assert second.param_groups[0]["lr"].item() == 0.2
    with pytest.raises(ts.errors.InvalidArgument, match="params"):
        first.param_groups.append({"params": [p]})  # type: ignore[arg-type]
    assert len(first.param_groups) == 2
