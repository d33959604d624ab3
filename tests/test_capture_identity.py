"""Compiled functions that ask which objects their arguments are."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import tessella as ts
from tessella import nn
from worlds import Wrap, same, some


def compares_with_one(x: ts.Tensor, pad: ts.Tensor) -> Any:
    return x * 0 if x is pad else x * 3


def held_in_a_tuple(held: tuple[ts.Tensor, ...]) -> Callable[[ts.Tensor], Any]:
    def compares(x: ts.Tensor, of: tuple[ts.Tensor, ...] = held) -> Any:
        return x * (2.0 if x is of[0] else 3.0)

    return compares


NAMED: dict[str, Callable[[list[ts.Tensor]], Callable[[ts.Tensor], Any]]] = {
    "is": lambda known: lambda x: compares_with_one(x, known[0]),
    "in": lambda known: lambda x: x * any(x is each for each in known[:1]),
    "id": lambda known: lambda x: x * {id(known[0]): 5.0}.get(id(x), 2.0),
    "tuple": lambda known: held_in_a_tuple((known[0],)),
}


def named_by_id(known: list[ts.Tensor]) -> Callable[[ts.Tensor], Any]:
    names = {id(x): float(i) for i, x in enumerate(known)}
    return lambda x: x * names.get(id(x), 9.0)


def named_by_attribute(known: list[ts.Tensor]) -> Callable[[ts.Tensor], Any]:
    config = SimpleNamespace(pad=known[0], other=id(known[1]))
    return lambda x: x * (7.0 if x is config.pad else 5.0 if id(x) == config.other else 2.0)


def named_weakly(known: list[ts.Tensor]) -> Callable[[ts.Tensor], Any]:
    pad = weakref.ref(known[0])
    return lambda x: x * (2.0 if x is pad() else 3.0)


def named_by_parameter(known: list[ts.Tensor]) -> Callable[[ts.Tensor], Any]:
    model = nn.Sequential(nn.Linear(3, 3))
    model[0].register_buffer("pad", known[0])
    return lambda x: x * (7.0 if x is model[0].pad else 2.0)


NAMED |= {
    "ids": named_by_id,
    "attribute": named_by_attribute,
    "weakly": named_weakly,
    "parameter": named_by_parameter,
}


@pytest.mark.parametrize("order", [[3, 4, 5, 3, 0, 0, 0, 3, 1, 1], [0, 0, 0, 3, 4, 0, 1, 2, 5]])
@pytest.mark.parametrize("name", NAMED)
def test_an_argument_that_the_function_knows_is_told_from_others(
    name: str, order: list[int]
) -> None:
    def play(wrap: Wrap) -> Any:
        known = [some(i, 3) for i in range(6)]
        call = wrap(NAMED[name](known[:3]))
        return [call(known[i]) for i in order]

    same(play)


def test_one_object_twice_is_told_from_two_over_one_memory() -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda q, k: q + k if q is k else q - 2 * k)
        pairs = [(x, x if i // 4 % 2 else x.detach()) for i, x in enumerate([some(1, 3)] * 16)]
        return [call(*pair) for pair in pairs]

    same(play)


def test_many_that_the_function_knows_are_no_reason_to_refuse_it() -> None:
    known = [some(i, 3) for i in range(4)]
    compiled = ts.compile(named_by_id(known))
    for _ in range(3):
        for i, x in enumerate(known):
            assert compiled(x).tolist() == (x * float(i)).tolist()
    assert compiled.program is not None
