"""Optimizer states that move between PyTorch and Tessella, in both directions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tessella as ts
from tessella import optim

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import optimizing

LABELS = [label for label in optimizing.OPTIMIZERS if "maximize" not in label]


def arrays(step: int) -> list[Any]:
    """Give the gradients of a step."""
    starts = [np.array(start) for start in optimizing.STARTS]
    found = [optimizing.gradient(i, step, start.size) for i, start in enumerate(starts)]
    pairs = zip(found, starts, strict=True)
    return [None if g is None else np.array(g).reshape(start.shape) for g, start in pairs]


def train_torch(optimizer: Any, params: Any, steps: range) -> None:
    """Make steps with PyTorch."""
    for step in steps:
        for p, g in zip(params, arrays(step), strict=True):
            p.grad = None if g is None else torch.from_numpy(g)
        optimizer.step()


def train_tessella(optimizer: Any, params: Any, steps: range) -> None:
    """Make steps with Tessella."""
    for step in steps:
        for p, g in zip(params, arrays(step), strict=True):
            p.grad = None if g is None else ts.tensor(g, dtype=ts.float64)
        optimizer.step()


def to_torch(value: Any) -> Any:
    """Give a state with PyTorch's tensors."""
    if isinstance(value, dict):
        return {key: to_torch(each) for key, each in value.items()}
    if isinstance(value, list):
        return [to_torch(each) for each in value]
    return torch.tensor(value.numpy()) if isinstance(value, ts.Tensor) else value


@pytest.fixture(autouse=True)
def wide_counts() -> Any:
    """Let PyTorch count in float64 too."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("label", LABELS)
def test_a_training_of_torch_goes_on_here(label: str) -> None:
    name, options = optimizing.OPTIMIZERS[label]
    theirs = [torch.tensor(start, requires_grad=True) for start in optimizing.STARTS]
    torch_optimizer = getattr(torch.optim, name)(theirs, **options)
    train_torch(torch_optimizer, theirs, range(7))
    ours = [ts.tensor(p.detach().numpy(), dtype=ts.float64, requires_grad=True) for p in theirs]
    optimizer = getattr(optim, name)(ours, **options)
    optimizer.load_state_dict(torch_optimizer.state_dict())
    train_torch(torch_optimizer, theirs, range(7, 20))
    train_tessella(optimizer, ours, range(7, 20))
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("label", LABELS)
def test_a_training_of_ours_goes_on_in_torch(label: str) -> None:
    name, options = optimizing.OPTIMIZERS[label]
    ours = [ts.tensor(start, dtype=ts.float64, requires_grad=True) for start in optimizing.STARTS]
    optimizer = getattr(optim, name)(ours, **options)
    train_tessella(optimizer, ours, range(7))
    theirs = [torch.tensor(p.detach().numpy(), requires_grad=True) for p in ours]
    torch_optimizer = getattr(torch.optim, name)(theirs, **options)
    torch_optimizer.load_state_dict(to_torch(optimizer.state_dict()))
    train_torch(torch_optimizer, theirs, range(7, 20))
    train_tessella(optimizer, ours, range(7, 20))
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-13, atol=1e-14)
