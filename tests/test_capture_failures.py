"""Compiled calls that fail after they have written: what they leave is what eager leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
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
