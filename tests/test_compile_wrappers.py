"""What stands in place of a compiled function or module: attributes, keywords, modes, checks."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tessella as ts
from tessella import nn
from tessella.compiler.check import same_bits
from worlds import Wrap, attempt, same, some

CALLS = 8
# The warning has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._check = 1.0  # whatever the names are
        self._kinds = 1.0
        self.scale = 1.0

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x * self._check * self._kinds * self.scale


class Plain:
    _k = 1.0
    _scale = 1.0

    def __call__(self, x: ts.Tensor) -> ts.Tensor:
        return x * self._k * self._scale


@pytest.mark.parametrize("name", ["_check", "_kinds", "scale"])
@pytest.mark.parametrize("where", ["whole", "part"])
def test_attributes_are_those_of_the_module(name: str, where: str) -> None:
    def play(wrap: Wrap) -> Any:
        inner: Any = wrap(Scaled())
        model: Any = nn.Sequential(inner) if where == "part" else inner
        call = wrap(model) if where == "part" else model
        found = []
        for i in range(2 * CALLS):
            if i == CALLS:
                setattr(inner, name, 2.0)
            found.append((call(some(i, 3)), getattr(inner, name)))
        return found

    def whole(wrap: Wrap) -> Any:
        return play(lambda function: function if wrap is not ts.compile else ts.compile(function))

    assert [x[1] for x in whole(ts.compile)] == [1.0] * CALLS + [2.0] * CALLS
    eager, compiled = whole(lambda function: function), whole(ts.compile)
    assert all(same_bits(x, y) for (x, _), (y, _) in zip(eager, compiled, strict=True))


def test_attributes_are_those_of_an_object_and_of_a_function() -> None:
    thing: Any = ts.compile(Plain())

    def function(x: ts.Tensor) -> Any:
        return x * named._k

    named: Any = ts.compile(function)
    named._k = 1.0
    for call in (thing, named):
        found = []
        for i in range(2 * CALLS):
            if i == CALLS:
                call._k = 2.0
            found.append(call(ts.ones(1)).item())
        assert found == [1.0] * CALLS + [2.0] * CALLS


def test_attributes_can_be_deleted_and_parameters_have_any_name() -> None:
    model: Any = ts.compile(Scaled())
    model.extra = 3
    del model.extra
    assert not hasattr(model, "extra")
    model._w = nn.Parameter(ts.ones(2))
    assert [name for name, _ in model.named_parameters()] == ["_w"]


def test_a_keyword_may_be_named_self() -> None:
    def f(x: ts.Tensor, **keywords: float) -> ts.Tensor:
        return x * keywords["self"]

    call: Any = ts.compile(f)
    for _ in range(4):
        assert call(ts.ones(2), self=2.0).tolist() == [2.0, 2.0]
    assert call.plan(ts.ones(2), self=2.0).results == 8
    assert call.profile(ts.ones(2), self=2.0).result.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("way", ["forward", "backward", "left on"])
def test_anomalies_are_looked_for_where_a_function_asks_for_it(way: str) -> None:
    def play(wrap: Wrap) -> Any:
        w = ts.zeros(1).requires_grad_()

        def f(x: ts.Tensor) -> Any:
            if way == "left on":
                ts.autograd.set_detect_anomaly(True)
                return x * 2
            with ts.autograd.detect_anomaly():
                return x.log() if way == "forward" else ((w * x) ** 0.5).sum().backward()

        call, found = wrap(f), []
        try:
            for i in range(CALLS):
                found.append(attempt(call, ts.tensor([-1.0 if i == 6 else float(i + 1)])))
                found.append(attempt(lambda: ts.zeros(1).log()))
        finally:
            ts.autograd.set_detect_anomaly(False)
        return found

    same(play)


def test_anomaly_mode_outside_leaves_programs_as_they_are() -> None:
    call = ts.compile(lambda x: x * 2)
    for _ in range(4):
        call(ts.ones(2))
    program = call.program
    with ts.autograd.detect_anomaly():
        call(ts.ones(2))
    call(ts.ones(2))
    assert call.program is program is not None


@pytest.mark.parametrize(("x", "y", "is_same"), [
    (math.nan, math.nan, True), (0.0, -0.0, False), (1.0, 1, False),
    (complex(0.0, math.nan), complex(0.0, math.nan), True), (0j, complex(0.0, -0.0), False),
    (ts.tensor([0j]), ts.tensor([complex(-0.0, 0.0)]), False),
    (ts.tensor([complex(math.nan, 1.0)]), ts.tensor([complex(-math.nan, 1.0)]), True),
    (ts.tensor([complex(math.nan, 1.0)]), ts.tensor([complex(math.nan, 2.0)]), False),
])  # fmt: skip
def test_bits_are_compared_of_numbers_too(x: Any, y: Any, is_same: bool) -> None:
    assert same_bits(x, y) is is_same
