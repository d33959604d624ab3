"""Ways for a compiled function to be silently wrong: Python values that change.

Each comes out as eager does, or raises. Values that are arguments are part of a program's key;
those that are none are seen to change, or the function is refused.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import UserDict
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

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


Changing = dict[str, tuple[Callable[[ts.Tensor], ts.Tensor], Callable[[int], Any]]]


def changing_names() -> Changing:
    """Give functions of what a name stands for, and of defaults."""
    k, w = 2.0, some(1, 3)

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
        "default within": (
            lambda x: function(x),
            lambda i: setattr(function, "__defaults__", (2.0 + i,)),
        ),
        "default": (function, lambda i: setattr(function, "__defaults__", (2.0 + i,))),
    }


def changing_containers() -> Changing:
    """Give functions of what a list, a dict or an array holds."""
    names, table, helper = [2.0, 3.0], {"k": 2.0}, [lambda x: x + 1]
    array, weights, by_name = np.ones(3), [some(1, 3)], {"w": some(1, 3)}
    return {
        "global list": (lambda x: x * FACTORS[0], lambda i: FACTORS.__setitem__(0, 2.0 + i)),
        "length of a list": (lambda x: x * len(names), lambda i: names.append(1.0)),
        "loop over a list": (lambda x: x * sum(names), lambda i: names.append(1.0)),
        "dict": (lambda x: x * table["k"], lambda i: table.update(k=2.0 + i)),
        "list of tensors": (lambda x: x * weights[0], lambda i: weights.insert(0, some(i, 3))),
        "dict of tensors": (lambda x: x * by_name["w"], lambda i: by_name.update(w=some(i, 3))),
        "array": (lambda x: x * ts.tensor(array), lambda i: array.fill(2.0 + i)),
        "shared array": (lambda x: x * ts.asarray(array), lambda i: array.fill(2.0 + i)),
        "number in an array": (lambda x: x * float(array[0]), lambda i: array.fill(2.0 + i)),
        "function in a list": (
            lambda x: helper[0](x),
            lambda i: helper.__setitem__(0, lambda x: x * i),
        ),
    }


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


def changing_attributes() -> Changing:
    """Give functions of what an object has."""
    plain, deep = SimpleNamespace(k=2.0), SimpleNamespace(inner=SimpleNamespace(k=[2.0]))
    scaled, classed = Scaled(), type("Classed", (Scaled,), {})
    slotted, module = Slotted(), Configured()
    slotted.k = 2.0
    return {
        "attribute": (lambda x: x * plain.k, lambda i: setattr(plain, "k", 2.0 + i)),
        "deep": (lambda x: x * deep.inner.k[0], lambda i: deep.inner.k.insert(0, 2.0 + i)),
        "by name": (lambda x: x * getattr(plain, "k"), lambda i: setattr(plain, "k", 2.0 + i)),  # noqa: B009
        "slot": (lambda x: x * slotted.k, lambda i: setattr(slotted, "k", 2.0 + i)),
        "dict of a module": (module, lambda i: module.table.update(k=2.0 + i)),
        "list of a module": (module, lambda i: module.factors.insert(0, 2.0 + i)),
        "method within": (lambda x: scaled.method(x), lambda i: setattr(scaled, "scale", 2.0 + i)),
        "own attribute": (scaled.method, lambda i: setattr(scaled, "scale", 2.0 + i)),
        "attribute of a class": (classed().method, lambda i: setattr(classed, "scale", 2.0 + i)),
    }


def changing_values() -> Changing:
    """Give functions of something that is no argument, each with what changes it."""
    return changing_names() | changing_containers() | changing_attributes()


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


# --- code and its defaults ------------------------------------------------------------------------

OPTIONS = {"k": 2.0}


class Defaulted:
    def __call__(self, x: Any, options: Any = OPTIONS) -> Any:
        return x * options["k"]

    def __matmul__(self, x: Any, options: Any = OPTIONS) -> Any:
        return x * options["k"]

    @classmethod
    def made(cls, x: Any, options: Any = OPTIONS) -> Any:
        return x * options["k"]


class Net(nn.Module):
    def forward(self, x: Any, options: Any = OPTIONS) -> Any:
        return x * options["k"]


def defaulted(x: Any, options: Any = OPTIONS) -> Any:
    return x * options["k"]


plain, net, parts = Defaulted(), Net(), nn.Sequential(Net())
nested = ts.compile(defaulted)
DEFAULTED: dict[str, Callable[[Any], Any]] = {
    "call": lambda x: plain(x),
    "operator": lambda x: plain @ x,
    "class": lambda x: Defaulted.made(x),
    "module": net,
    "part": lambda x: parts(x),
    "compiled": lambda x: nested(x),
}


@pytest.mark.parametrize("name", DEFAULTED)
def test_defaults_of_what_others_call(name: str) -> None:
    def play(wrap: Wrap) -> Any:
        OPTIONS["k"] = 2.0
        call, results = wrap(DEFAULTED[name]), []
        for i in range(8):
            OPTIONS["k"] = 2.0 + i // 4
            results.append(call(some(i, 3)))
        return results

    same(play)


@pytest.mark.parametrize("is_module", [False, True])
def test_methods_that_are_replaced(is_module: bool) -> None:
    def play(wrap: Wrap) -> Any:
        class Base(nn.Module if is_module else object):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return x * 2

            def __call__(self, x: Any) -> Any:
                return self.forward(x) + self.last(x)

            @ts.no_grad()
            def last(self, x: Any) -> Any:
                return x + 1

        class Derived(Base):
            pass

        call, results = wrap(Derived()), []
        for i in range(4 * 4):
            if i == 12:
                Base.last = lambda self, x: x + 2  # type: ignore[method-assign]
            if i == 4:
                Base.forward = lambda self, x: x * 3  # type: ignore[method-assign]
            if i == 8:
                Base.__call__ = lambda self, x: x * 5 + self.last(x)  # type: ignore[method-assign]
            results.append(call(some(i, 3)))
        return results

    same(play)


def test_code_that_is_replaced() -> None:
    def play(wrap: Wrap) -> Any:
        def scale(x: Any) -> Any:
            return x * 2

        def other(x: Any) -> Any:
            return x * 3

        def outer(x: Any) -> Any:
            return scale(x) + 1

        calls, results = [wrap(outer), wrap(scale)], []
        for i in range(2 * 4):
            if i == 4:
                scale.__code__ = other.__code__
            results += [call(some(i, 3)) for call in calls]
        return results

    same(play)


# --- arguments that are more than what they hold --------------------------------------------------


class Listed(list[Any]):
    k: float


class Mapped(dict[str, Any]):
    k: float


class Pair(NamedTuple):
    a: int


class Paired(Pair):
    k: float


class Arrayed(np.ndarray[Any, Any]):
    k: float


MORE: dict[str, Callable[[], Any]] = {
    "list": lambda: Listed([1]),
    "dict": lambda: Mapped(a=1),
    "mapping": lambda: UserDict(a=1),
    "tuple": lambda: Paired(1),
    "array": lambda: np.ones(2).view(Arrayed),
}


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize("name", MORE)
def test_attributes_of_containers_that_are_arguments(name: str, is_inside: bool) -> None:
    def play(wrap: Wrap) -> Any:
        call = wrap(lambda x, of: x * (of[0] if is_inside else of).k)
        results = []
        for i in range(8):
            of = MORE[name]()
            of.k = float(i // 4)
            results.append(call(some(i, 3), [of] if is_inside else of))
        return results, len(getattr(call, "programs", [])) in (0, 2)

    ts.manual_seed(0)
    same(lambda wrap: play(wrap)[0])
    assert play(ts.compile)[1]


def test_a_container_that_knows_itself() -> None:
    def play(wrap: Wrap) -> Any:
        of, call, results = Listed([1.0]), wrap(lambda x, of: x * of[0] * of.k), []
        of.of, of.k, of.all = of, 1.0, [of]  # type: ignore[attr-defined]
        for i in range(8):
            of.k = float(i // 4)
            results.append(call(some(i, 3), of))
        return results

    same(play)


@pytest.mark.parametrize("is_argument", [False, True])
def test_arrays_of_objects_and_complex_zeros(is_argument: bool) -> None:
    def play(wrap: Wrap) -> Any:
        held, lists, zeros = np.array([[1.0]], dtype=object), np.array([None]), [0j]
        lists[0] = [1.0]
        given = wrap(lambda x, a, b, c: (x * a[0, 0] * b[0][0], c[0]))
        captured = wrap(lambda x: (x * held[0, 0] * lists[0][0], zeros[0]))
        results = []
        for i in range(16):
            held[0, 0], lists[0][0] = float(i // 4), 1.0 + i // 8
            zeros[0] = complex(0.0, -0.0 if i > 9 else 0.0)
            x = some(i, 3)
            results.append(given(x, held, lists, zeros) if is_argument else captured(x))
        return results

    same(play)
