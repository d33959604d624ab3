"""Leaves for tests of gradients, and the gradients that they got."""

from __future__ import annotations

import tessella as ts


def leaf(*values: float) -> ts.Tensor:
    """Give a vector in float64 that asks for gradients."""
    return ts.tensor(list(values), dtype=ts.float64, requires_grad=True)


def grad_of(x: ts.Tensor) -> ts.Tensor:
    """Give the gradient that a tensor has."""
    assert x.grad is not None, "no gradient arrived"
    return x.grad


def slopes(x: ts.Tensor) -> object:
    """Give the gradient that a tensor has, as nested lists."""
    return grad_of(x).tolist()
