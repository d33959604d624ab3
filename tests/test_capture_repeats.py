"""Functions that do the same at each call are repeated, whatever they make, read and import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

import tessella as ts
from worlds import some

CALLS = 8
RECORDED: list[None] = []
# Unseen by whatever watches the function: an event of the interpreter, which a hook counts.
sys.addaudithook(lambda event, _: RECORDED.append(None) if event == "tests.objects" else None)


class Made:
    """An object of the call, which reads what it has just written."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.y = self.x * 2


class Loader(Mapping[str, Any]):
    """A mapping that makes what it is asked for."""

    def __getitem__(self, key: str) -> Any:
        return ts.ones(3)

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


def steady_functions() -> dict[str, Callable[[Any], Any]]:
    """Give functions that do the same at each call, whatever they make for it."""
    loader, config = Loader(), SimpleNamespace(k=2.0)
    circle: list[Any] = [2.0]
    circle.append(circle)
    shared: list[Any] = [[] for _ in range(12)]
    for each in shared:
        each.extend(shared)
    table = [[float(i) for i in range(900)] for _ in range(10)]

    def helper(holder: Any, x: Any) -> Any:
        holder.saved = x * 2
        return holder.saved.sum()

    def made_inside(x: Any) -> Any:
        objects = [SimpleNamespace(k=2.0)]

        def step(x: Any) -> Any:
            for each in objects:
                each.k += 1
            return x * objects[0].k

        return step(x)

    def unreached(x: Any) -> Any:
        if config.k > 5:
            import time  # noqa: F401
        from datetime import timedelta

        return x * timedelta(seconds=2).seconds

    def at(i: int) -> float:
        return table[i % 10][i]

    return {
        "reads itself": lambda x: Made(x).y,
        "given": lambda x: helper(SimpleNamespace(), x),
        "made": made_inside,
        "circle": lambda x: x * circle[1][0],
        "shared": lambda x: x * len(shared),
        "mapping": lambda x: x * loader["a"] + config.k,
        "imports": unreached,
        "many reads": lambda x: x * sum(at(i) for i in range(100)),
    }


@pytest.mark.parametrize("name", steady_functions())
def test_what_does_the_same_is_repeated(name: str) -> None:
    function = steady_functions()[name]

    def counted(x: ts.Tensor) -> Any:
        sys.audit("tests.objects")
        return function(x)

    RECORDED.clear()
    compiled = ts.compile(counted)
    for i in range(CALLS):
        assert compiled(some(i, 3)).tolist() == function(some(i, 3)).tolist()
    assert len(RECORDED) <= 3
