"""Ways for a compiled function to be silently wrong: objects that methods and descriptors give.

Items by methods of containers, what getters and descriptors give, what users put on modules of the
package; and leaves that a call makes of memory that was there.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from typing import Any

import pytest

from tessella import nn
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


def cases() -> dict[str, Case]:
    """Give functions, each with what changes what they read."""
    layer = Layer(2.0)
    table, rows, user = {"a": layer}, [layer], UserDict(a=layer)
    terms, loss, proxy, stored = Terms(), Loss(), Proxy(layer), Stored()
    described, asked = Described(2.0), Asked(2.0)
    inner: Any = loss.inner
    linear: Any = nn.Linear(3, 3)
    linear.cfg, linear.info, linear.scales = {"k": 1.0}, Layer(1.0), [1.0]
    several = [linear]

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

    def looped(x: Any) -> Any:
        for each in several:
            x = x * each.cfg["k"] + each.info.k
        return x

    def later(x: Any) -> Any:
        for each in several:
            x = each(x)
        return looped(x)

    def set_k(k: float) -> None:
        layer.k = k

    def set_first(k: float) -> None:
        terms.terms["a"].k = k

    def set_linear(k: float) -> None:
        linear.cfg["k"] = linear.info.k = linear.scales[0] = k

    return {
        "values": (values, set_k),
        "items": (items, set_k),
        "get": (lambda x: x * table.get("a", layer).k, set_k),
        "copy": (copied, set_k),
        "terms of an object": (lambda x: terms.run(x), set_first),
        "terms of a module": (lambda x: loss(x), lambda k: setattr(loss.terms["a"], "k", k)),
        "on a part": (lambda x: loss(x), lambda k: inner.cfg.update(k=k)),
        "getter": (lambda x: x * terms.first().k, set_first),
        "on a module": (lambda x: linear(x) * linear.cfg["k"], set_linear),
        "object on a module": (lambda x: x * linear.info.k, set_linear),
        "list on a module": (lambda x: x * linear.scales[0], set_linear),
        "on modules": (looped, set_linear),
        "on modules, later": (later, set_linear),
        "proxy": (lambda x: x * proxy.k, set_k),
        "stored": (lambda x: x * stored.k, lambda k: stored.__dict__["values"].update(k=k)),
        "descriptor": (lambda x: x * described.k, lambda k: setattr(described, "_k", k)),
        "asked": (lambda x: x * asked.k, lambda k: setattr(asked, "value", k)),
    }


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
