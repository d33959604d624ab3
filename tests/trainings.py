"""Trainings of a few steps with optimizers of the table in optimizing.py."""

from __future__ import annotations

from typing import Any

import optimizing
import tessella as ts
from optimizing import OPTIMIZERS, STARTS, STEPS
from tessella import optim

CLASSES = [optim.SGD, optim.Adam, optim.AdamW, optim.Adamax, optim.NAdam, optim.RAdam,
           optim.RMSprop, optim.Adagrad, optim.Adadelta]  # fmt: skip


def start(dtype: str = "float32") -> list[ts.Tensor]:
    """Make the parameters that trainings begin with."""
    kind = ts.dtypes.BY_NAME[dtype]
    return [ts.tensor(each, dtype=kind, requires_grad=True) for each in STARTS]


def give_gradients(params: list[ts.Tensor], step: int) -> None:
    """Give the parameters their gradients for a step."""
    for i, p in enumerate(params):
        found = optimizing.gradient(i, step, p.size)
        p.grad = None if found is None else ts.tensor(found, dtype=p.dtype).reshape(p.shape)


def train(optimizer: Any, params: list[ts.Tensor], steps: range = range(STEPS)) -> None:
    """Make steps as the figures were made."""
    for step in steps:
        give_gradients(params, step)
        if step == optimizing.CHANGE:
            optimizer.param_groups[0]["lr"] *= optimizing.FACTOR
        optimizer.step()


def make(label: str, params: Any) -> Any:
    """Make an optimizer of the table."""
    name, options = OPTIMIZERS[label]
    return getattr(optim, name)(params, **options)


def bits(optimizer: Any, params: list[ts.Tensor]) -> list[Any]:
    """Give everything that a step depends on."""
    states = [{name: x.tolist() for name, x in optimizer.state[p].items()} for p in params]
    rates = [group.plain()["lr"] for group in optimizer.param_groups]
    return [[p.tolist() for p in params], states, rates]
