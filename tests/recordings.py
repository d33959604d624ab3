"""Small graphs that the tests look at, recorded as if their code stood in a user's file."""

from __future__ import annotations

from typing import Any

import tessella as ts
from tessella.diagrams import Graph

STEP = """\
h = (x @ w1 + b1).tanh()
loss = (h @ w2 - target).square().mean()
"""


def leaf(*shape: int) -> ts.Tensor:
    """Give a tensor of ones that gradients are asked of."""
    return ts.ones(shape).requires_grad_()


def run(code: str, **names: ts.Tensor) -> dict[str, Any]:
    """Run code as if it stood in a user's file."""
    found: dict[str, Any] = dict(names)
    exec(compile(code, "/home/me/train.py", "exec"), found)
    return found


def step() -> Graph:
    """Give the graph of a small network's loss."""
    w1, b1, w2 = leaf(3, 8), leaf(8), leaf(8, 2)
    found = run(STEP, x=ts.ones(4, 3), target=ts.zeros(4, 2), w1=w1, b1=b1, w2=w2)
    return ts.graph(found["loss"], names={"w1": w1, "b1": b1, "w2": w2, "h": found["h"]})


def chain(x: ts.Tensor, count: int) -> ts.Tensor:
    """Record so many operations one after the other."""
    for _ in range(count):
        x = x + 1.0
    return x
