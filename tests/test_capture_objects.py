"""Ways for a compiled function to be silently wrong: objects without a name of their own.

Attributes of items, of what local names stand for, of results of calls; functions of one code;
what is not there yet; values that are compared by what they hold.
"""

from __future__ import annotations

import array
import functools
import os
import pickle
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

import tessella as ts
from tessella import nn
from tessella.errors import CaptureError
from worlds import Wrap, same, some

CALLS = 8


class Holder(NamedTuple):
    o: Any


class Layer:
    rate = 1.0

    def __init__(self, k: float) -> None:
        self.k = k
        self.cfg = SimpleNamespace(k=k)

    @property
    def inner(self) -> Any:
        return self.cfg


class Taller(Layer):
    rate = 5.0

    def short(self, x: Any) -> Any:
        return x * super().rate

    def long(self, x: Any) -> Any:
        return x * super(Taller, self).rate  # noqa: UP008


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cfg = SimpleNamespace(k=2.0)
        self.list = [2.0]


Case = tuple[Callable[[Any], Any], Callable[[float], Any]]


def layered() -> tuple[list[Layer], Callable[[float], None]]:
    """Give layers, and what sets the first one."""
    layers = [Layer(2.0), Layer(3.0)]

    def set_k(k: float) -> None:
        layers[0].k = layers[0].cfg.k = k

    return layers, set_k


def objects_in_expressions() -> dict[str, Case]:
    """Give functions that read an attribute of what an expression gives."""
    layers, set_k = layered()
    table, held, named_layer = {"a": layers[0], "b": layers[1]}, Holder(layers[0]), layers[0]

    def called(x: Any) -> Any:
        return x * max(layers, key=lambda each: each.k).k

    return {
        "item": (lambda x: x * layers[0].k, set_k),
        "value": (lambda x: x * table["a"].k, set_k),
        "field": (lambda x: x * held.o.k, set_k),
        "property": (lambda x: x * layers[0].inner.k, set_k),
        "result": (called, set_k),
        "sum": (lambda x: x * sum(each.k for each in layers), set_k),
        "by name": (lambda x: x * getattr(layers[0], "k", 0.0), set_k),
        "class": (lambda x: x * layers[0].rate, lambda k: setattr(Layer, "rate", k)),
        "super": (Taller(2.0).short, lambda k: setattr(Layer, "rate", k)),
        "super of": (Taller(2.0).long, lambda k: setattr(Layer, "rate", k)),
        "named property": (lambda x: x * named_layer.inner.k, set_k),
    }


def objects_with_local_names() -> dict[str, Case]:
    """Give functions that read an attribute of what a local name stands for."""
    layers, set_k = layered()
    table, held = {"a": layers[0], "b": layers[1]}, Holder(layers[0])

    def looped(x: Any) -> Any:
        for layer in layers:
            x = x * layer.k
        return x

    def named(x: Any) -> Any:
        first, *_ = layers
        second = table["a"].cfg
        return x * first.k + second.k

    def walrus(x: Any) -> Any:
        return x * (found := held.o.cfg).k + found.k

    @contextmanager
    def entered() -> Iterator[Any]:
        yield layers[0]

    def within(x: Any) -> Any:
        with entered() as layer:
            return x * layer.k

    def matched(x: Any) -> Any:
        match layers[0]:
            case Layer(k=found):
                return x * found
        return x

    functions = {"loop": looped, "local": named, "walrus": walrus, "with": within, "match": matched}
    return {name: (function, set_k) for name, function in functions.items()}


def objects_of_other_types() -> dict[str, Case]:
    """Give functions that read an attribute of modules, tensors, a class and a Python module."""
    blocks = nn.ModuleList([Block(), Block()])
    tensors: list[Any] = [nn.Parameter(ts.ones(3))]
    own = ModuleType("own")

    def of_modules(x: Any) -> Any:
        for block in blocks:
            x = x * block.cfg.k + block.list[0]
        return x

    def of_tensors(x: Any) -> Any:
        for w in tensors:
            x = x * (2 if w.requires_grad else 3) * w.scale
        return x

    def of_kinds(x: Any) -> Any:
        kind, module = Layer, own
        return x * kind.rate * module.k

    def set_block(k: float) -> None:
        blocks[1].cfg.k = blocks[1].list[0] = k

    def set_tensors(k: float) -> None:
        tensors[0].requires_grad_(k > 0)
        tensors[0].scale = k

    def set_kinds(k: float) -> None:
        Layer.rate = k
        own.k = k  # type: ignore[attr-defined]  # modules take any name

    return {
        "modules": (of_modules, set_block),
        "tensors": (of_tensors, set_tensors),
        "kinds": (of_kinds, set_kinds),
    }


def objects_without_names() -> dict[str, Case]:
    """Give functions that read an attribute, each with what sets it."""
    return objects_in_expressions() | objects_with_local_names() | objects_of_other_types()


@pytest.mark.parametrize("name", objects_without_names())
def test_attributes_of_objects_that_have_no_name(name: str) -> None:
    def play(wrap: Wrap) -> Any:
        function, change = objects_without_names()[name]
        change(0.0)
        call, results = wrap(function), []
        for i in range(CALLS):
            change(float(i // 4))
            results.append(call(some(i, 3)))
        return results

    same(play)


def test_objects_in_arguments() -> None:
    def play(wrap: Wrap) -> Any:
        layer, results = Layer(2.0), []
        calls = [wrap(lambda x, of: x * of[0].k), wrap(lambda x, of: x * of["c"].k)]
        rest = [wrap(lambda x, *of: x * of[0].k), wrap(lambda x, **of: x * of["c"].k)]
        many = wrap(lambda x, of: x * of[0].k)
        for i in range(CALLS):
            layer.k = float(i // 4)
            results += [calls[0](some(i, 3), [layer]), calls[1](some(i, 3), {"c": layer})]
            results += [rest[0](some(i, 3), layer), rest[1](some(i, 3), c=layer)]
            results.append(many(some(i, 3), [layer] * 1200))
        return results

    same(play)


def test_objects_that_a_call_changes_itself() -> None:
    def play(wrap: Wrap) -> Any:
        layers: list[Any] = [SimpleNamespace(k=1)]

        def count(x: ts.Tensor) -> ts.Tensor:
            layers[0].k += 1
            return x * (1 if layers[0].k < 4 else 2)

        call = wrap(count)
        return [call(some(i, 3)) for i in range(CALLS)], layers[0].k

    same(play)


def test_functions_of_one_code_have_variables_of_their_own() -> None:
    def play(wrap: Wrap) -> Any:
        def make(k: float) -> tuple[Callable[[Any], Any], list[float], Callable[[float], None]]:
            held = [k]

            def f(x: Any, more: list[float] = held) -> Any:
                return x * held[0] + k + more[0]

            def change(value: float) -> None:
                nonlocal k
                k = value

            return f, held, change

        same_number = 1.0
        (a, _, _), (b, held, change) = make(same_number), make(same_number)
        c, _, last = make(3.0)
        many, by_name, results = [a, b], {"a": a, "b": b}, []
        call = wrap(lambda x: a(x) + by_name["b"](x) + many[1](x) + functools.partial(c)(x))
        for i in range(3 * CALLS):
            held[0] = float(i // 4 % 2)
            change(float(i // 8))
            last(float(i // 16))
            results.append(call(some(i, 3)))
        return results

    same(play)


def test_whether_a_tensor_needs_gradients_is_watched() -> None:
    def play(wrap: Wrap) -> Any:
        w, held = nn.Parameter(ts.ones(2)), SimpleNamespace(w=nn.Parameter(ts.ones(2)))
        call = wrap(
            lambda x: x * (2 if w.requires_grad else 3) * (5 if held.w.requires_grad else 7)
        )
        results = []
        for i in range(2 * CALLS):
            w.requires_grad_(i // 4 % 2 == 0)
            held.w.requires_grad_(i // 8 == 0)
            results.append(call(some(i, 2)))
        return results

    same(play)


@pytest.mark.parametrize("is_assigned", [False, True])
def test_what_is_toggled_in_a_call_is_toggled_in_each(is_assigned: bool) -> None:
    def play(wrap: Wrap) -> Any:
        w, results = nn.Parameter(ts.ones(2)), []

        def freeze(x: ts.Tensor) -> ts.Tensor:
            if is_assigned:
                w.requires_grad = False
            else:
                w.requires_grad_(False)
            return x * 2

        call = wrap(freeze)
        for i in range(CALLS - 1):
            w.requires_grad_(True)
            results += [call(some(i, 2)), w.requires_grad]
        return results

    same(play)


def test_what_is_not_there_yet() -> None:
    def play(wrap: Wrap) -> Any:
        plain: Any = SimpleNamespace()
        globals().pop("COMING", None)

        def tried(x: Any) -> Any:
            try:
                return x * plain.k
            except AttributeError:
                return x

        def missing(x: Any) -> Any:
            try:
                return x * COMING  # type: ignore[name-defined]
            except NameError:
                return x

        def cell(x: Any) -> Any:
            try:
                return x * late
            except NameError:
                return x

        found = wrap(lambda x: x * plain.k if hasattr(plain, "k") else x)
        calls, results = [found, wrap(tried), wrap(missing), wrap(cell)], []
        for i in range(CALLS):
            if i == 4:
                plain.k = globals()["COMING"] = late = 5.0
            results += [call(some(i, 3)) for call in calls]
        return results

    same(play)


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: {2.0}, lambda v, k: (v.clear(), v.add(k))),
        (lambda: deque([2.0]), lambda v, k: (v.clear(), v.append(k))),
        (lambda: UserDict({2.0: [2.0]}), lambda v, k: (v.clear(), v.update({k: [k]}))),
        (lambda: UserList([2.0]), lambda v, k: v.__setitem__(0, k)),
        (lambda: bytearray([2]), lambda v, k: v.__setitem__(0, int(k))),
        (lambda: array.array("d", [2.0]), lambda v, k: v.__setitem__(0, k)),
    ],
    ids=["set", "deque", "mapping", "list", "bytearray", "array"],
)
@pytest.mark.parametrize("is_argument", [False, True])
def test_values_that_change_where_they_are(make: Any, change: Any, is_argument: bool) -> None:
    def play(wrap: Wrap) -> Any:
        held, results = make(), []
        given = wrap(lambda x, of: x * float(max(of)))
        captured = wrap(lambda x: x * float(max(held)))
        for i in range(CALLS):
            change(held, float(i // 4))
            results.append(given(some(i, 3), held) if is_argument else captured(some(i, 3)))
        return results

    same(play)


@pytest.mark.parametrize("name", ["UserDict", "ChainMap", "environment", "nested", "partial"])
def test_mappings_and_deep_lists_that_change(name: str) -> None:
    def play(wrap: Wrap) -> Any:
        user, chain, options = UserDict(k=2.0), ChainMap({"k": 2.0}), {"k": 2.0}
        deep: list[Any] = [[[[[[2.0]]]]]]
        scaled = functools.partial(lambda x, of: x * of["k"], of=options)

        def change(k: float) -> None:
            user["k"] = chain["k"] = options["k"] = deep[0][0][0][0][0][0] = k
            os.environ["TESSELLA_TEST_K"] = str(k)

        change(2.0)
        functions: dict[str, Callable[[Any], Any]] = {
            "UserDict": lambda x: x * user["k"],
            "ChainMap": lambda x: x * chain["k"],
            "environment": lambda x: x * float(os.environ["TESSELLA_TEST_K"]),
            "nested": lambda x: x * deep[0][0][0][0][0][0],
            "partial": lambda x: scaled(x),
        }
        call, results = wrap(functions[name]), []
        for i in range(CALLS):
            change(float(i // 4))
            results.append(call(some(i, 3)))
        return results

    same(play)


class Shown(int):
    def __repr__(self) -> str:
        return "shown"


class Named(str):
    def __repr__(self) -> str:
        return "named"


def test_numbers_and_texts_that_print_alike() -> None:
    def play(wrap: Wrap) -> Any:
        call, results = wrap(lambda x, k, name: x * int(k) + len(name)), []
        for i in range(CALLS):
            results.append(call(some(i, 3), Shown(i // 2), Named("n" * (i // 4))))
        return results

    same(play)


def test_numbers_of_many_digits_are_arguments() -> None:
    call, large = ts.compile(lambda x, k: x + k % 7), 10**5000
    assert [call(ts.zeros(1), large + i).item() for i in range(3)] == [
        float((large + i) % 7) for i in range(3)
    ]


def imports_inside(x: ts.Tensor) -> ts.Tensor:
    import random

    return x * random.randrange(2)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (imports_inside, "random"),
        (lambda x: x * os.urandom(1)[0], "urandom"),
        (lambda x: x * datetime.now().year, "datetime.now"),
    ],
    ids=["import", "urandom", "datetime"],
)
def test_chance_and_clocks_are_refused(function: Any, name: str) -> None:
    with pytest.raises(CaptureError, match=name):
        ts.compile(function)(ts.ones(2))


def scaled_by_two(x: ts.Tensor) -> ts.Tensor:
    return (x.exp() * 2).sum()


def test_copies_are_compiled_in_the_same_way() -> None:
    compiled = ts.compile(scaled_by_two, recompute=True)
    made = type(compiled)(*compiled.__reduce__()[1])  # type: ignore[misc]
    assert made._compiled_recomputes is True
    assert pickle.loads(pickle.dumps(compiled.__reduce__()[1]))[2] is True


@pytest.mark.parametrize("count", [3, 2000])
def test_lists_of_tensors_that_change(count: int) -> None:
    def play(wrap: Wrap) -> Any:
        weights: list[Any] = [some(i, 3) for i in range(count)]
        scaled = functools.partial(lambda of, x: x * of[0] + len(of), weights)
        calls = [wrap(lambda x: x * weights[0] + len(weights)), wrap(lambda x: scaled(x))]
        results = []
        for i in range(CALLS):
            if i == 3:
                weights[0] = some(9, 3)
            if i == 6:
                weights.pop()
            results += [call(some(i, 3)) for call in calls]
        return results

    same(play)
