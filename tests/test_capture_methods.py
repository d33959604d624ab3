"""Ways for a compiled function to be silently wrong: objects that methods and descriptors give.

Items by methods of containers, what getters and descriptors give, what users put on modules of the
package; and leaves that a call makes of memory that was there.
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections import UserDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import pytest

import tessella as ts
from tessella import changes, models, nn, optim
from tessella.errors import CaptureError
from worlds import Wrap, same, some

CALLS = 8


class Layer:
    def __init__(self, k: float) -> None:
        self.k = k


class Terms:
    """An object whose method looks through a dict, and that gives a part by a method."""

    def __init__(self) -> None:
        self.terms = {"a": Layer(2.0), "b": Layer(3.0)}

    def first(self) -> Layer:
        return self.terms["a"]

    def run(self, x: Any) -> Any:
        for term in self.terms.values():
            x = x * term.k
        return x


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.terms, self.inner = {"a": Layer(2.0)}, nn.Identity()
        self.inner.cfg = {"k": 1.0}

    def forward(self, x: Any) -> Any:
        for name, term in self.terms.items():
            x = x * (term.k + len(name))
        inner: Any = self.inner
        return x * inner.cfg["k"]


class Proxy:
    """It gives the attributes of another object."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of, name)


class Stored:
    """It gives what is in a dict."""

    def __init__(self) -> None:
        self.__dict__["values"] = {"k": 2.0}

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["values"][name]


class Named:
    """A descriptor that reads another attribute by its name."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return getattr(owner, self.name)


class Described:
    k: Any = Named()

    def __init__(self, k: float) -> None:
        self._k = k


class Asked:
    def __init__(self, k: float) -> None:
        self.value = k

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "value" if name == "k" else name)


Case = tuple[Callable[[Any], Any], Callable[[float], Any]]


def cases_of_containers() -> dict[str, Case]:
    """Give functions of objects that a container or an object gives, each with what changes it."""
    layer = Layer(2.0)
    table, rows, user = {"a": layer}, [layer], UserDict(a=layer)
    proxy, stored, described, asked = Proxy(layer), Stored(), Described(2.0), Asked(2.0)

    def values(x: Any) -> Any:
        for each in table.values():
            x = x * each.k
        return x

    def items(x: Any) -> Any:
        for _, each in user.items():
            x = x * each.k
        return x

    def copied(x: Any) -> Any:
        for each in rows.copy():
            x = x * each.k
        return x

    def set_k(k: float) -> None:
        layer.k = k

    return {
        "values": (values, set_k),
        "items": (items, set_k),
        "get": (lambda x: x * table.get("a", layer).k, set_k),
        "copy": (copied, set_k),
        "proxy": (lambda x: x * proxy.k, set_k),
        "stored": (lambda x: x * stored.k, lambda k: stored.__dict__["values"].update(k=k)),
        "descriptor": (lambda x: x * described.k, lambda k: setattr(described, "_k", k)),
        "asked": (lambda x: x * asked.k, lambda k: setattr(asked, "value", k)),
    }


def cases_of_modules() -> dict[str, Case]:
    """Give functions of what modules and objects with terms hold, each with what changes it."""
    terms, loss = Terms(), Loss()
    inner: Any = loss.inner
    linear: Any = nn.Linear(3, 3)
    linear.cfg, linear.info, linear.scales = {"k": 1.0}, Layer(1.0), [1.0]
    several = [linear]

    def looped(x: Any) -> Any:
        for each in several:
            x = x * each.cfg["k"] + each.info.k
        return x

    def later(x: Any) -> Any:
        for each in several:
            x = each(x)
        return looped(x)

    def set_first(k: float) -> None:
        terms.terms["a"].k = k

    def set_linear(k: float) -> None:
        linear.cfg["k"] = linear.info.k = linear.scales[0] = k

    return {
        "terms of an object": (lambda x: terms.run(x), set_first),
        "terms of a module": (lambda x: loss(x), lambda k: setattr(loss.terms["a"], "k", k)),
        "on a part": (lambda x: loss(x), lambda k: inner.cfg.update(k=k)),
        "getter": (lambda x: x * terms.first().k, set_first),
        "on a module": (lambda x: linear(x) * linear.cfg["k"], set_linear),
        "object on a module": (lambda x: x * linear.info.k, set_linear),
        "list on a module": (lambda x: x * linear.scales[0], set_linear),
        "on modules": (looped, set_linear),
        "on modules, later": (later, set_linear),
    }


def cases() -> dict[str, Case]:
    """Give functions, each with what changes what they read."""
    return cases_of_containers() | cases_of_modules()


@pytest.mark.parametrize("name", cases())
def test_objects_that_code_gives(name: str) -> None:
    def play(wrap: Wrap) -> Any:
        function, change = cases()[name]
        change(1.0)
        call, results = wrap(function), []
        for i in range(CALLS):
            change(1.0 + i // 4)
            results.append(call(some(i, 3)))
        return results

    same(play)


@pytest.mark.parametrize(
    "view", [lambda x: x.detach(), lambda x: x[:3], lambda x: x.reshape(-1)[:].detach()]
)
def test_a_leaf_that_a_call_makes_of_memory_that_was_there(view: Callable[[Any], Any]) -> None:
    def play(wrap: Wrap) -> Any:
        weight = nn.Parameter(some(9, 3))

        def slope(x: Any) -> Any:
            leaf = view(x).requires_grad_()
            (leaf * weight).tanh().sum().backward()
            return leaf.grad

        call, results = wrap(slope), []
        for i in range(CALLS):
            results.append(call(some(i, 3)))
        return [*results, weight.grad]

    same(play)


# --- what counts its changes ----------------------------------------------------------------------


def test_attributes_of_schedules() -> None:
    def play(wrap: Wrap) -> Any:
        def made(gamma: float) -> Any:
            optimizer = optim.SGD([some(0, 3).requires_grad_()], lr=0.1)
            return optim.lr_scheduler.ExponentialLR(optimizer, gamma)

        schedule, saved = made(0.9), made(0.5).state_dict()
        call, results = wrap(lambda x: (schedule.step(), x * 2)), []
        for i in range(2 * CALLS):
            if i == 5:
                schedule.load_state_dict(saved)
            if i == 11:
                schedule.gamma = 0.25
            call(some(i, 3))
            results.append(schedule.get_last_lr())
        return results

    same(play)


def test_attributes_of_samplers_and_caches() -> None:
    def play(wrap: Wrap) -> Any:
        sampler = models.Sampler(seed=1)
        cache = models.KVCache(1, batch=1, heads=1, capacity=64, features=2)

        def advance(k: Any) -> None:
            with ts.no_grad():
                cache.put(0, cache.places(1), k, k)
                cache.advance(1)

        draw, call, results = wrap(lambda x: sampler(x)), wrap(advance), []
        for i in range(3 * CALLS):
            if i == 5:
                sampler.temperature, cache.length = 0.0, ts.tensor(2)
            if i == 11:
                sampler.temperature, sampler.top_k = 1.0, 2
            if i == 17:
                sampler.generator = ts.Generator(7)
            call(some(i, 1, 1, 1, 2))
            results += [
                draw(some(i, 4, 50)),
                int(cache.length),
                cache.keys[0][:, :, : int(cache.length)],
            ]
        return results

    same(play)


def test_steps_of_schedules_and_caches_change_nothing() -> None:
    optimizer = optim.SGD([some(0, 3).requires_grad_()], lr=0.1)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2)
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    cache = models.KVCache(1, batch=1, heads=1, capacity=4, features=2)
    before = changes.count()
    schedule.step()
    plateau.step(0.5)
    cache.advance(1)
    assert changes.count() == before
    call = ts.compile(lambda x: models.Sampler(top_k=1)(x))
    for i in range(4):
        call(some(i, 2, 5))
    assert call.program is not None


# --- by other names -------------------------------------------------------------------------------


class Config:
    k = 2.0

    def by_class(self, x: Any) -> Any:
        return x * self.__class__.k

    def by_type(self, x: Any) -> Any:
        return x * type(self).k


@dataclass
class Options:
    k: float


@dataclass(slots=True)
class Slotted:
    k: float


class Key:
    k = 2.0


def by_other_names() -> dict[str, Case]:
    """Give functions, each with what changes what they read."""
    config: Any = Config()
    config.k = 7.0
    options, slotted, key, many = Options(2.0), Slotted(2.0), Key(), [Config(), Config()]
    table, numbers = {key: 1.0}, {"k": 2.0}
    get, rows = numbers.get, [key]
    reference: Callable[[], Any] = weakref.ref(key)
    item, copied = rows.__getitem__, rows.copy

    def set_class(k: float) -> None:
        Config.k = k

    def by_place(x: Any) -> Any:
        match options, slotted:
            case Options(k), Slotted(other):
                return x * k + other
        return x

    def set_options(k: float) -> None:
        options.k = slotted.k = k

    def as_dict(x: Any) -> Any:
        return x * asdict(options)["k"] * dataclasses.astuple(slotted)[0]

    def by_keys(x: Any) -> Any:
        for each in table:
            x = x * each.k
        return x

    def of_each(x: Any) -> Any:
        for each in many:
            x = x * type(each).k
        return x

    return {
        "class": (config.by_class, set_class),
        "type": (config.by_type, set_class),
        "types": (of_each, set_class),
        "position": (by_place, set_options),
        "dict": (as_dict, set_options),
        "keys": (by_keys, lambda k: setattr(key, "k", k)),
        "get": (lambda x: x * get("k"), lambda k: numbers.update(k=k)),
        "item": (lambda x: x * item(0).k * copied()[0].k, lambda k: setattr(key, "k", k)),
        "reference": (lambda x: x * reference().k, lambda k: setattr(key, "k", k)),
    }


@pytest.mark.parametrize("name", by_other_names())
def test_attributes_by_other_names(name: str) -> None:
    def play(wrap: Wrap) -> Any:
        function, change = by_other_names()[name]
        change(1.0)
        call, results = wrap(function), []
        for i in range(CALLS):
            change(1.0 + i // 4)
            results.append(call(some(i, 3)))
        return results

    same(play)


# --- what is asked of tensors and generators ------------------------------------------------------


@pytest.mark.parametrize("what", ["is_leaf", "grad_fn"])
def test_whether_a_tensor_is_a_leaf_is_watched(what: str) -> None:
    def play(wrap: Wrap) -> Any:
        held, factor = some(0, 3), some(1, 3).requires_grad_()

        def leaf(x: Any) -> Any:
            return x * 2 if held.is_leaf else x * 3

        def made(x: Any) -> Any:
            return x * 2 if held.grad_fn is None else x * 3

        call, results = wrap(leaf if what == "is_leaf" else made), []
        for i in range(CALLS):
            if i == 4:
                held.mul_(factor)
            results.append(call(some(i, 3)))
        return results

    same(play)


@pytest.mark.parametrize(
    "asked",
    [
        lambda g: g.get_state(),
        lambda g: g.state_dict()["counter"],
        lambda g: g.counter,
        lambda g: g.seed,
    ],
    ids=["get_state", "state_dict", "counter", "seed"],
)
def test_the_state_of_a_generator_is_refused(asked: Callable[[Any], Any]) -> None:
    generator = ts.Generator(1)
    call = ts.compile(lambda x: x * asked(generator) + ts.rand(1, generator=generator))
    with pytest.raises(CaptureError, match=r"generator|Generator"):
        call(some(0, 1))


def test_threads_have_variables_of_their_own() -> None:
    def play(wrap: Wrap) -> Any:
        local = threading.local()
        results: list[Any] = []
        call = wrap(lambda x: x * local.k)

        def run(k: float) -> None:
            local.k = k
            results.extend(call(some(i, 3)) for i in range(4))

        for k in (2.0, 3.0, 2.0):
            thread = threading.Thread(target=run, args=(k,))
            thread.start()
            thread.join()
        return results

    same(play)
