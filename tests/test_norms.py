"""Norms and distances where they have a tip, and at sizes that are cut into parts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tessella as ts
from nested import listed
from tessella.ops import norms


def gradient(out: ts.Tensor, x: ts.Tensor) -> list[float]:
    """Give the gradient of the sum of a result."""
    (found,) = ts.autograd.grad(out.sum(), x)
    flat: list[float] = listed(found.reshape(-1))
    return flat


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, math.inf])
def test_norm_of_zeros_has_gradient_zero(p: float) -> None:
    x = ts.zeros(2, 3, requires_grad=True)
    out = ts.norm(x, p, axis=1)
    assert out.tolist() == [0.0, 0.0]
    assert gradient(out, x) == [0.0] * 6


def test_norm_beside_a_zero_has_its_gradient() -> None:
    x = ts.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    assert gradient(ts.norm(x, axis=1), x) == pytest.approx([0, 0, 0.6, 0.8])


def test_distance_of_equal_rows_is_zero_and_so_is_its_gradient() -> None:
    a = (ts.rand(4, 3) * 1e3).requires_grad_()
    out = ts.cdist(a, a.detach())
    assert ts.diagonal(out).tolist() == [0.0] * 4
    assert not any(map(math.isnan, gradient(out, a)))


def test_distances_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = ts.rand(2, 7, 3), ts.rand(5, 3)
    whole = ts.cdist(a, b)
    monkeypatch.setattr(norms, "_DIFFERENCES", 61)  # two rows at once
    assert np.array_equal(ts.cdist(a, b).numpy(), whole.numpy())


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
def test_norms_of_halves_are_rounded_once(dtype: ts.DType) -> None:
    x = ts.full((5000,), 1.0, dtype=dtype)
    out = ts.norm(x)
    assert out.dtype is dtype
    assert out.item() == ts.tensor(math.sqrt(5000)).astype(dtype).item()


def test_norm_of_integers_is_a_float() -> None:
    assert ts.norm(ts.tensor([3, 4])).item() == 5.0
    assert ts.norm(ts.tensor([100, 100], dtype=ts.int8), 1).item() == 200.0
    assert ts.norm(ts.tensor([3, 4]), dtype=ts.float64).dtype is ts.float64
