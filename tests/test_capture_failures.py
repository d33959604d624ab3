"""Compiled calls that fail after they have written: what they leave is what eager leaves."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from tessella import memory
from worlds import Wrap, attempt, same, some

World = tuple[ts.Tensor, ts.Tensor, ts.Tensor]


def ends(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    p.grad = None
    (x * p).sum().backward()
    steps.add_(1)
    return table[i]


def begins(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    steps.add_(1)
    p.grad = None
    found = table[i]
    (x * p).sum().backward()
    return found


def sets_later(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    (slope,) = ts.autograd.grad((x * p).sum(), [p])
    steps.add_(1)
    found = table[i]
    p.grad = slope
    return found


def sets_later_and_writes_nothing(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, _ = world
    (slope,) = ts.autograd.grad((x * p).sum(), [p])
    found = table[i]
    p.grad = slope
    return found


def adds(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    (x * p).sum().backward()
    steps.add_(1)
    found = table[i]
    (x * p * 2).sum().backward()
    return found


def removes(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    steps.add_((x * p).sum().detach())
    found = table[i]
    p.grad = None
    return found


def removes_before(world: World, x: ts.Tensor, i: ts.Tensor) -> Any:
    p, table, steps = world
    steps.add_((x * p).sum().detach())
    p.grad = None
    return table[i]


FAILING: dict[str, Callable[[World, ts.Tensor, ts.Tensor], Any]] = {
    each.__name__: each
    for each in (
        ends, begins, sets_later, sets_later_and_writes_nothing, adds, removes, removes_before,
    )
}  # fmt: skip


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("is_given", [False, True])
@pytest.mark.parametrize("name", FAILING)
def test_gradients_are_those_that_were_there_when_it_failed(
    name: str, is_given: bool, is_held: bool
) -> None:
    def play(wrap: Wrap) -> Any:
        world = some(1, 3).requires_grad_(), ts.ones(4), ts.zeros(1)
        call = wrap(lambda x, i: FAILING[name](world, x, i))
        held, seen = [], []
        for i in range(12):
            if is_given:
                world[0].grad = ts.ones(3) * i
            seen.append(attempt(call, some(i, 3), ts.tensor([9 if i in (5, 8, 9) else 1])))
            if is_held:
                held.append(world[0].grad)
            grad = world[0].grad
            seen.append((None if grad is None else grad.clone(), world[2].clone()))
            del grad
        return held, seen, world

    same(play)


def test_numbers_that_other_threads_draw_meanwhile_are_others() -> None:
    generator, big = ts.Generator(5), ts.ones(700, 700)

    def draw(x: ts.Tensor) -> Any:
        first = ts.rand(4, generator=generator)
        for _ in range(8):
            x = x @ big * 1e-3
        return first, x.sum()

    call = ts.compile(draw)
    for _ in range(4):
        call(big)
    drawn: list[Any] = []
    is_over = threading.Event()

    def other() -> None:
        while not is_over.wait(0.001):
            drawn.append(str(ts.rand(4, generator=generator).tolist()))

    start, thread = generator.counter, threading.Thread(target=other)
    thread.start()
    drawn += [str(call(big)[0].tolist()) for _ in range(5)]
    is_over.set()
    thread.join()
    assert len(set(drawn)) == len(drawn)
    assert generator.counter - start == 16 * len(drawn)


@pytest.mark.parametrize("writes", [False, True])
def test_numbers_are_given_back_by_who_fails(writes: bool) -> None:
    def play(wrap: Wrap) -> Any:
        generator, steps, table, seen = ts.Generator(5), ts.zeros(1), ts.ones(4), []

        def f(i: ts.Tensor) -> Any:
            first = ts.rand(2, generator=generator)
            if writes:
                steps.add_(1)
            return first, table[i], ts.rand(3, generator=generator)

        call = wrap(f)
        for i in range(8):
            seen.append(attempt(call, ts.tensor([9 if i in (5, 6) else 1])))
            seen.append(generator.get_state())
        return seen, steps

    same(play)


def test_what_has_failed_first_is_what_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    generator, steps, table = ts.Generator(5), ts.zeros(1), ts.ones(4)

    def f(i: ts.Tensor) -> Any:
        steps.add_(1)
        return ts.rand(2, generator=generator), table[i]

    def move(self: ts.Generator, name: str, value: int) -> None:
        if value == getattr(self, name):
            raise RuntimeError("it is there already")
        object.__setattr__(self, name, value)

    call = ts.compile(f)
    for _ in range(4):
        call(ts.tensor([1]))
    monkeypatch.setattr(ts.Generator, "__setattr__", move)
    with pytest.raises(ts.errors.IndexOutOfBounds):
        call(ts.tensor([9]))
    assert steps.item() == 5


def test_a_call_that_cannot_read_a_generator_moves_no_other() -> None:
    first, second = ts.Generator(5), ts.Generator(6)
    call = ts.compile(lambda x: x + ts.rand(2, generator=first) + ts.rand(2, generator=second))
    for _ in range(4):
        call(ts.ones(2))
    before, second.counter = first.counter, "nowhere"  # type: ignore[assignment]
    with pytest.raises(TypeError):
        call(ts.ones(2))
    assert first.counter == before


def test_what_ends_with_a_gradient_after_a_failure_computes_for_itself() -> None:
    size = 1 << 20
    p, buffer, arena = ts.ones(size).requires_grad_(), ts.zeros(size), memory.Arena("64MiB")
    is_busy, resets = threading.Event(), []

    def f(x: ts.Tensor, i: ts.Tensor) -> ts.Tensor:
        buffer.add_(x)
        p.grad = None
        found = x[i]
        (p * x).sum().backward()
        return found

    def reset() -> None:
        is_busy.wait()
        while is_busy.is_set():
            try:
                arena.reset()
                resets.append(is_busy.is_set())
            except ts.errors.TessellaError:
                time.sleep(1e-3)  # what is used is not taken away

    def work(_: Any) -> None:
        x = ts.ones(1500, 1500, allocator=arena)
        is_busy.set()
        x @ x  # which alone lets the other thread run
        is_busy.clear()

    call, x, gradients = ts.compile(f), ts.ones(size), []
    for k in range(4):
        p.grad = ts.ones(size)
        call(x, ts.tensor([k]))
    p.grad = ts.ones(size)
    gradients.append(weakref.ref(p.grad, work))
    thread = threading.Thread(target=reset)
    thread.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(10)
    try:
        with pytest.raises(ts.errors.IndexOutOfBounds):
            call(x, ts.tensor([size]))
    finally:
        sys.setswitchinterval(before)
        is_busy.set()  # if it was not: it ends
        is_busy.clear()
        thread.join(60)
    assert resets == []
