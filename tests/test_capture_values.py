"""Ways for a compiled function to be silently wrong: Python values that change.

Each comes out as eager does, or raises. Values that are arguments are part of a program's key;
those that are none are seen to change, or the function is refused.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella import nn
from tessella.errors import CaptureError
from worlds import Wrap, network, same, some

FACTOR = 2.0
FACTORS = [2.0, 3.0]


def test_arguments_that_are_python_values() -> None:
    def play(wrap: Wrap) -> Any:
        def f(x: ts.Tensor, *parts: Any, **named: Any) -> Any:
            for part in [*parts, *named.values()]:
                for k in part if isinstance(part, list) else [part]:
                    x = x * len(k) if isinstance(k, str) else x if k is None else x * k
            return x

        call, changing = wrap(f), [1.0, 2.0]
        plain = [(), (2.0,), (3.0,), ("ab",), ("abc",), (None,), ([2.0, 3.0],), ([3.0],)]
        results = [call(some(i, 3), *args) for args in plain for i in range(4)]
        results += [call(some(1, 3), k=k) for k in [2.0, 2.0, 2.0, 4.0]]
        for i in range(8):
            changing[i % 2] = float(i // 4)
            results.append(call(some(i, 3), changing))
        return results

    same(play)


@pytest.mark.parametrize(
    "values", [[1, 1.0, True], [0.0, -0.0], [2, np.float32(2)], [float("nan")]]
)
@pytest.mark.parametrize("backwards", [False, True])
def test_arguments_that_are_equal_and_not_the_same(values: list[Any], backwards: bool) -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x, k: (x * k, x + k))
        order = values[::-1] if backwards else values
        return [call(ts.tensor([1, 2, -3]), k) for k in order * 5 for _ in range(4)]

    same(play)


def test_objects_as_arguments() -> None:
    def play(wrap: Wrap) -> Any:
        model, plain, results = network(nn.Dropout(0.5)), SimpleNamespace(k=2.0), []
        forward, scale = wrap(lambda model, x: model(x)), wrap(lambda x, plain: x * plain.k)
        for i in range(9):
            results += [scale(some(i, 3), plain), forward(model, some(i, 5, 3))]
            if i == 4:
                plain.k = 3.0
                model = network().eval()
        return results, model

    same(play, may_refuse=True)


def test_arrays_as_arguments() -> None:
    def play(wrap: Wrap) -> Any:
        call, array, results = wrap(lambda x, a: x * float(a[0])), np.ones(3), []
        for i in range(9):
            array.fill(1.0 + i // 4)
            results.append(call(some(i, 3), array))
        return results

    same(play, may_refuse=True)


def changing_values() -> dict[str, tuple[Callable[[ts.Tensor], ts.Tensor], Callable[[int], Any]]]:
    """Give functions of something that is no argument, each with what changes it."""
    k, names, table = 2.0, [2.0, 3.0], {"k": 2.0}
    plain, deep = SimpleNamespace(k=2.0), SimpleNamespace(inner=SimpleNamespace(k=[2.0]))
    array, w, weights, by_name = np.ones(3), some(1, 3), [some(1, 3)], {"w": some(1, 3)}

    class Scaled:
        scale = 2.0

        def method(self, x: ts.Tensor) -> ts.Tensor:
            return x * self.scale

    class Slotted:
        __slots__ = ("k",)
        k: float

    class Configured(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.factors = {"k": 2.0}, [2.0]

        def forward(self, x: ts.Tensor) -> ts.Tensor:
            return x * self.table["k"] * self.factors[0]

    scaled, classed, slotted, module = (
        Scaled(),
        type("Classed", (Scaled,), {}),
        Slotted(),
        Configured(),
    )
    slotted.k = 2.0
    helper = [lambda x: x + 1]

    def function(x: ts.Tensor, by: float = 2.0) -> ts.Tensor:
        return x * by

    def rebind(i: int) -> None:
        nonlocal k
        k = 2.0 + i

    def rebind_tensor(i: int) -> None:
        nonlocal w
        w = some(i, 3)

    def rebind_global(i: int) -> None:
        global FACTOR
        FACTOR = 2.0 + i

    return {
        "closure": (lambda x: x * k, rebind),
        "closure through a call": (lambda x: (lambda y: y * k)(x), rebind),
        "tensor in a closure": (lambda x: x * w, rebind_tensor),
        "global": (lambda x: x * FACTOR, rebind_global),
        "global list": (lambda x: x * FACTORS[0], lambda i: FACTORS.__setitem__(0, 2.0 + i)),
        "length of a list": (lambda x: x * len(names), lambda i: names.append(1.0)),
        "loop over a list": (lambda x: x * sum(names), lambda i: names.append(1.0)),
        "dict": (lambda x: x * table["k"], lambda i: table.update(k=2.0 + i)),
        "attribute": (lambda x: x * plain.k, lambda i: setattr(plain, "k", 2.0 + i)),
        "deep": (lambda x: x * deep.inner.k[0], lambda i: deep.inner.k.insert(0, 2.0 + i)),
        "by name": (lambda x: x * getattr(plain, "k"), lambda i: setattr(plain, "k", 2.0 + i)),  # noqa: B009
        "slot": (lambda x: x * slotted.k, lambda i: setattr(slotted, "k", 2.0 + i)),
        "dict of a module": (module, lambda i: module.table.update(k=2.0 + i)),
        "list of a module": (module, lambda i: module.factors.insert(0, 2.0 + i)),
        "method within": (lambda x: scaled.method(x), lambda i: setattr(scaled, "scale", 2.0 + i)),
        "own attribute": (scaled.method, lambda i: setattr(scaled, "scale", 2.0 + i)),
        "attribute of a class": (classed().method, lambda i: setattr(classed, "scale", 2.0 + i)),
        "list of tensors": (lambda x: x * weights[0], lambda i: weights.insert(0, some(i, 3))),
        "dict of tensors": (lambda x: x * by_name["w"], lambda i: by_name.update(w=some(i, 3))),
        "array": (lambda x: x * ts.tensor(array), lambda i: array.fill(2.0 + i)),
        "shared array": (lambda x: x * ts.asarray(array), lambda i: array.fill(2.0 + i)),
        "number in an array": (lambda x: x * float(array[0]), lambda i: array.fill(2.0 + i)),
        "function in a list": (
            lambda x: helper[0](x),
            lambda i: helper.__setitem__(0, lambda x: x * i),
        ),
        "default within": (
            lambda x: function(x),
            lambda i: setattr(function, "__defaults__", (2.0 + i,)),
        ),
        "default": (function, lambda i: setattr(function, "__defaults__", (2.0 + i,))),
    }


@pytest.mark.parametrize("call", [1, 2, 4])
@pytest.mark.parametrize("label", changing_values())
def test_a_value_that_is_no_argument_changes(
    label: str, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(wrap: Wrap) -> Any:
        monkeypatch.setitem(globals(), "FACTOR", 2.0)
        monkeypatch.setitem(globals(), "FACTORS", [2.0, 3.0])
        function, change = changing_values()[label]
        compiled, results = wrap(function), []
        for i in range(9):
            if i == call:
                change(i)
            results.append(compiled(some(i, 3)))
        return results

    same(play, may_refuse=True)


def restless_functions() -> dict[str, Callable[[ts.Tensor], Any]]:
    """Give functions that change what they read."""
    n, log, numbers, chance = 0, [0], itertools.count(), random.Random(0)
    plain, coin = SimpleNamespace(n=0), np.random.default_rng(0)

    def counter(x: ts.Tensor) -> ts.Tensor:
        nonlocal n
        n += 1
        return x * n

    def slow_counter(x: ts.Tensor) -> ts.Tensor:
        nonlocal n
        n += 1
        return x * (n // 4)

    def attribute(x: ts.Tensor) -> ts.Tensor:
        plain.n += 1
        return x * int(plain.n // 4)

    def appending(x: ts.Tensor) -> ts.Tensor:
        log.append(1)
        return x * (len(log) // 4)

    return {
        "counter": counter,
        "slow counter": slow_counter,
        "attribute": attribute,
        "appending": appending,
        "iterator": lambda x: x * next(numbers),
        "slow iterator": lambda x: x * (next(numbers) // 4),
        "chance": lambda x: x * chance.random(),
        "coin": lambda x: x * chance.randrange(2),
        "coin of NumPy": lambda x: x * int(coin.integers(2)),
        "result": lambda x: (x, next(numbers)),
    }


@pytest.mark.parametrize("label", restless_functions())
@pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")
def test_a_function_that_never_does_the_same(label: str) -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(restless_functions()[label])
        return [call(some(i, 3)) for i in range(12)]

    same(play, may_refuse=True)


def test_a_counter_is_refused_with_its_line_and_both_values() -> None:
    function = restless_functions()["counter"]
    call = ts.compile(function)
    with pytest.raises(CaptureError) as caught:
        for i in range(5):
            call(some(i, 3))
    line = function.__code__.co_firstlineno + 3
    assert f"test_capture_values.py:{line}" in str(caught.value)
    assert "2" in str(caught.value) and "3" in str(caught.value)


@pytest.mark.parametrize("what", ["tensor", "number", "attribute", "global"])
def test_what_a_function_keeps_elsewhere(what: str) -> None:
    def play(wrap: Wrap) -> Any:
        seen: list[Any] = []
        plain = SimpleNamespace(count=0)

        def f(x: ts.Tensor) -> ts.Tensor:
            global FACTOR
            if what == "tensor":
                seen.append(x * 2)
            if what == "number":
                seen.append(1)
            if what == "attribute":
                plain.count += 1
            if what == "global":
                FACTOR += 1
            return x * 3

        start, call = FACTOR, wrap(f)
        return [call(some(i, 3)) for i in range(6)], seen, plain.count, FACTOR - start

    same(play, may_refuse=True)


def test_context_managers_and_generators_of_the_call_itself_are_fine() -> None:
    def play(wrap: Wrap) -> Any:
        @contextlib.contextmanager
        def doubling(x: ts.Tensor) -> Iterator[ts.Tensor]:
            yield x * 2

        class Walk:
            def __init__(self, parts: Any) -> None:
                self.parts = parts

            def total(self) -> Any:
                return sum(self.parts)

        def f(x: ts.Tensor) -> Any:
            with doubling(x) as y:
                return Walk(part * 3 for part in (x, y)).total()

        call = wrap(f)
        return [call(some(i, 3)) for i in range(6)]

    same(play)
