"""Ways for a compiled function to be silently wrong: what is reached through what can be called,
attributes of tensors and by computed names, errors that the function catches, keys that only look
alike, classes of results.
"""

from __future__ import annotations

import contextlib
import copy
import cProfile
import gc
import pickle
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import nn
from tessella.errors import CaptureError

BEFORE, AFTER = 1.0, 5.0


class Rules:
    """What holds the number that changes: an object in a list, which has no name of its own."""

    def __init__(self) -> None:
        self.rules = [SimpleNamespace(k=BEFORE)]

    def run(self, x: Any) -> Any:
        for rule in self.rules:
            x = x * rule.k
        return x

    def hook(self, module: Any, args: Any, out: Any) -> Any:
        return self.run(out)

    def __call__(self, module: Any, args: Any, out: Any) -> Any:
        return self.run(out)

    def set(self, k: float) -> None:
        self.rules[0].k = k


class Config:
    rate = BEFORE


class Slots:
    __slots__ = ("rate",)
    rate: float


def by_default(rules: Rules) -> Callable[[Any], Any]:
    def helper(x: Any, given: Any = rules) -> Any:
        for rule in given.rules:
            x = x * rule.k
        return x

    return lambda x: helper(x)


def by_keyword(rules: Rules) -> Callable[[Any], Any]:
    def helper(x: Any, *, given: Any = rules) -> Any:
        return given.run(x)

    return lambda x: helper(x)


def by_partial(rules: Rules) -> Callable[[Any], Any]:
    def helper(given: Any, x: Any) -> Any:
        for rule in given.rules:
            x = x * rule.k
        return x

    called = partial(helper, rules)
    return lambda x: called(x)


def in_dict(rules: Rules) -> Callable[[Any], Any]:
    table = {"run": rules.run}
    return lambda x: table["run"](x)


def in_list(rules: Rules) -> Callable[[Any], Any]:
    calls = [rules.run, abs]

    def f(x: Any) -> Any:
        for each in calls:
            x = each(x)
        return x

    return f


def by_hook(rules: Rules, register: str = "register_forward_hook", how: Any = None) -> Any:
    module = nn.Identity()
    getattr(module, register)(rules.hook if how is None else how(rules))
    return lambda x: module(x)


def by_gradient_hook(rules: Rules) -> Callable[[Any], Any]:
    weight = nn.Parameter(ts.ones(2))
    weight.register_hook(rules.run)

    def f(x: Any) -> Any:
        weight.grad = None
        (x * weight).sum().backward()
        return weight.grad

    return f


def through_sequential(rules: Rules) -> Callable[[Any], Any]:
    class Ruled(nn.Module):
        def forward(self, x: Any, given: Any = rules) -> Any:
            return given.run(x)

    model = nn.Sequential(nn.Identity(), Ruled())
    return lambda x: model(x)


REACHED: dict[str, Callable[[Rules], Any]] = {
    "a bound method in a dict": in_dict,
    "bound methods in a list": in_list,
    "a default": by_default,
    "a keyword's default": by_keyword,
    "a partial": by_partial,
    "a hook that is a method": by_hook,
    "a hook that is an object": partial(by_hook, how=lambda rules: rules),
    "a hook that is a partial": partial(
        by_hook, how=lambda rules: partial(lambda r, m, a, out: r.run(out), rules)
    ),
    "a hook of a gradient": by_gradient_hook,
    "a default of a module's forward": through_sequential,
}


@pytest.mark.parametrize("name", REACHED)
def test_objects_behind_what_is_called_are_watched(name: str) -> None:
    rules, other = Rules(), Rules()
    eager, compiled = REACHED[name](rules), ts.compile(REACHED[name](other))
    x = ts.ones(2)
    for k in (BEFORE,) * 4 + (AFTER,) * 3:
        rules.set(k)
        other.set(k)
        assert repr(compiled(x)) == repr(eager(x)), k


def of_class(name: str) -> tuple[Any, Any]:
    class Own(Config):
        pass

    return Own, Own


def of_instance(name: str) -> tuple[Any, Any]:
    class Own(Config):
        pass

    return Own(), Own


def of_slots(name: str) -> tuple[Any, Any]:
    found = Slots()
    found.rate = BEFORE
    return found, found


def of_later(name: str) -> tuple[Any, Any]:
    found = SimpleNamespace(other=1.0)
    return found, found


@pytest.mark.parametrize("make", [of_class, of_instance, of_slots, of_later])
def test_attributes_by_computed_names_are_watched(make: Callable[[str], tuple[Any, Any]]) -> None:
    names = ["rate"]
    owner, changed = make("rate")
    f = ts.compile(lambda x: x * getattr(owner, names[0], BEFORE))
    x = ts.ones(2)
    for k in (BEFORE,) * 4 + (AFTER,) * 3:
        if k != BEFORE:
            changed.rate = k
        assert f(x).tolist() == [k, k]


def test_attributes_of_tensors_are_watched() -> None:
    weight: Any = nn.Parameter(ts.ones(1), requires_grad=False)
    weight.scale, weight.meta = BEFORE, SimpleNamespace(k=BEFORE)
    several, x = [weight], ts.ones(1)

    def in_loop(x: Any) -> Any:
        for each in several:
            x = x * each.meta.k
        return x

    given = ts.compile(lambda p: p * p.scale)
    captured, looped = ts.compile(lambda x: x * weight.meta.k), ts.compile(in_loop)
    for k in (BEFORE,) * 4 + (AFTER,) * 3:
        weight.scale = weight.meta.k = k
        assert [f.item() for f in (given(weight), captured(x), looped(x))] == [k, k, k]


# --- errors that are caught ----------------------------------------------------------------------


def catching(x: Any) -> Any:
    try:
        k = x.sum().item()
    except Exception:
        k = 1.0
    return x * k


def suppressing(x: Any) -> Any:
    with contextlib.suppress(RuntimeError):
        x = x * float(x.sum())
    return x


class Reading:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __del__(self) -> None:
        self.x.sum().item()


def reading_at_the_end(x: Any) -> Any:
    Reading(x)
    return x * 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("f", [catching, suppressing, reading_at_the_end])
def test_refusal_that_is_caught_is_raised_all_the_same(f: Callable[[Any], Any]) -> None:
    compiled = ts.compile(f)
    for _ in range(2):
        with pytest.raises(CaptureError, match="cannot be part of a compiled function"):
            compiled(ts.ones(3))


TABLE = ts.arange(5.0)


def taking(i: Any) -> Any:
    try:
        return ts.take(TABLE, i, axis=0) * 1
    except IndexError:
        return TABLE[:1] - 1


def embedding(i: Any) -> Any:
    try:
        return F.embedding(i, TABLE[:, None]) * 1
    except IndexError:
        return TABLE[:1, None] - 1


def putting(i: Any) -> Any:
    x = TABLE * 1
    try:
        x[i] = 9.0
    except IndexError:
        x += 100
    return x


@pytest.mark.parametrize("f", [taking, embedding, putting])
def test_error_of_values_that_is_caught_is_caught_at_each_call(f: Callable[[Any], Any]) -> None:
    compiled = ts.compile(f)
    for k in (9, 9, 9, 2, 3, 9, 1):
        i = ts.tensor([k])
        assert repr(compiled(i)) == repr(f(i)), k


def test_texts_of_errors_that_may_come_are_not_errors() -> None:
    """An assignment by a mask prepares the error of a value that would not fit."""

    def f(x: Any) -> Any:
        x = x * 1
        x[x.sum(axis=-1) > 0] = x[:1]
        return x

    compiled = ts.compile(f)
    for _ in range(3):
        compiled(ts.ones(0, 4))
    assert compiled.program is not None


# --- keys and results ----------------------------------------------------------------------------


def first_key(given: Any) -> Any:
    ((key, x),) = given.items()
    return x * (key[0] if isinstance(key, tuple) else key)


def in_order(x: Any, given: Any) -> Any:
    for each in given:
        x = x * 2 + each
    return x


def test_keys_that_are_equal_and_not_the_same_are_told_apart() -> None:
    compiled, x = ts.compile(first_key), ts.arange(3)
    for key in ((1,), (1,), (1,), (1.0,), (1,)):
        assert compiled({key: x}).dtype is first_key({key: x}).dtype
    for number in (0.0, 0.0, 0.0, -0.0):
        assert repr(compiled({number: ts.ones(1)})) == repr(first_key({number: ts.ones(1)}))
    ordered, one = ts.compile(in_order), ts.ones(1)
    for given in ({8, 0}, {8, 0}, {8, 0}, {0, 8}):
        assert repr(ordered(one, given)) == repr(in_order(one, given))


class Tagged(ts.Tensor):
    pass


@pytest.mark.parametrize("kind", [nn.Buffer, Tagged])
def test_result_keeps_its_class(kind: Any) -> None:
    compiled = ts.compile(lambda x: kind(x * 2))
    assert {type(compiled(ts.ones(3))) for _ in range(5)} == {kind}


class Model:
    def __init__(self) -> None:
        self.weight = ts.ones(3)

    @ts.compile
    def run(self, x: Any) -> Any:
        return (x * self.weight).sum()


def test_bound_functions_are_copied_and_compared_as_methods_are() -> None:
    model: Any = Model()
    assert model.run == model.run
    assert hash(model.run) == hash(model.run)
    assert model.run != Model().run
    assert copy.copy(model.run) == model.run
    assert model.run.__self__ is model
    other = copy.deepcopy(model.run)
    other.__self__.weight *= 2
    assert [f(ts.ones(3)).item() for f in (model.run, other)] == [3.0, 6.0]
    assert pickle.loads(pickle.dumps(model.run.__self__)).run(ts.ones(3)).item() == 3.0


class Decorated(list):  # type: ignore[type-arg]
    note: Any = None


def test_result_keeps_attributes_of_its_container() -> None:
    def f(x: Any) -> Any:
        out = Decorated([x * 2])
        out.note = 5
        return out, 1

    compiled = ts.compile(f)
    assert [compiled(ts.ones(1))[0].note for _ in range(5)] == [5] * 5


# --- attributes of what is hardly an object ------------------------------------------------------


class Table(dict):  # type: ignore[type-arg]
    k = BEFORE


class Number(float):
    k = BEFORE


class Shadowed:
    """Its property comes before what its dict has under the same name."""

    def __init__(self) -> None:
        self.held = BEFORE
        vars(self)["k"] = 7.0

    @property
    def k(self) -> float:
        return self.held


def in_container(made: Any) -> tuple[Any, Callable[[Any], Any], str]:
    table = [made]
    return made, lambda x: x * table[0].k, "k"


def private_of_module() -> tuple[Any, Callable[[Any], Any], str]:
    module: Any = nn.Identity()
    module._config = SimpleNamespace(k=BEFORE)
    return module._config, lambda x: x * module._config.k, "k"


def shadowed() -> tuple[Any, Callable[[Any], Any], str]:
    owner = Shadowed()
    return owner, lambda x: x * owner.k, "held"


ODD = {
    "a dict": lambda: in_container(Table()),
    "a number": lambda: in_container(Number(3.0)),
    "a private name of a module": private_of_module,
    "a property before an attribute": shadowed,
}


@pytest.mark.parametrize("name", ODD)
def test_attributes_of_odd_objects_are_watched(name: str) -> None:
    owner, f, attribute = ODD[name]()
    compiled, x = ts.compile(f), ts.ones(2)
    for k in (BEFORE,) * 4 + (AFTER,) * 3:
        setattr(owner, attribute, k)
        assert compiled(x).tolist() == [k, k]


def test_whether_a_gradient_is_kept_is_read_at_each_call() -> None:
    weight = ts.ones(2, requires_grad=True)
    x = weight * 1
    compiled = ts.compile(lambda: x.detach() * (2.0 if x.retains_grad else 3.0))
    assert [compiled()[0].item() for _ in range(3)] == [3.0] * 3
    x.retain_grad()
    assert [compiled()[0].item() for _ in range(3)] == [2.0] * 3


def test_profiler_that_is_switched_on_inside_hides_nothing() -> None:
    config = SimpleNamespace(k=BEFORE)

    def f(x: Any) -> Any:
        profile = cProfile.Profile()
        profile.enable()
        profile.disable()
        return helper(x)

    def helper(x: Any) -> Any:
        return x * config.k

    compiled, x = ts.compile(f), ts.ones(2)
    for k in (BEFORE,) * 4 + (AFTER,) * 3:
        config.k = k
        assert compiled(x).tolist() == [k, k]


# --- what others do ------------------------------------------------------------------------------


class Garbage:
    """It refers to itself, so that the collector ends it, wherever that comes."""

    def __init__(self, total: Any) -> None:
        self.own, self.total = self, total

    def __del__(self) -> None:
        self.total.add_(1)


@pytest.mark.parametrize("is_planned", [False, True])
def test_what_the_collector_ends_in_a_recorded_call_is_no_part_of_it(is_planned: bool) -> None:
    total = ts.zeros(3)

    def f(x: Any) -> Any:
        y = x * 2
        gc.collect()
        return y

    gc.collect()
    compiled = ts.compile(f)
    for calls in range(1, 3):
        Garbage(total)
        if is_planned:
            compiled.plan(ts.spec((3,), "float32"))
        else:
            compiled(ts.ones(3))
        assert total.tolist() == [calls] * 3
    for _ in range(4):
        compiled(ts.ones(3))
    assert total.tolist() == [2, 2, 2]
