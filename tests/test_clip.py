"""Clipping of gradients, compared with NumPy."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from tessella.nn.clip import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)

SHAPES: list[tuple[int, ...]] = [(3, 4), (7,), (), (0, 2), (2, 1, 5)]


def parameters(dtype: Any = ts.float32, seed: int = 0) -> list[ts.Tensor]:
    """Make parameters with gradients of both signs; one has none."""
    rng = np.random.default_rng(seed)
    params = [ts.zeros(shape, dtype=dtype).requires_grad_() for shape in SHAPES]
    for p in params:
        p.grad = ts.tensor(rng.uniform(-3, 3, p.shape), dtype=dtype)
    return [*params, ts.zeros(2, requires_grad=True)]


def gradients(params: list[ts.Tensor]) -> list[Any]:
    """Give the gradients as arrays of float64."""
    return [np.array(p.grad.astype(ts.float64).numpy()) for p in params if p.grad is not None]


@pytest.mark.parametrize("order", [2.0, 1.0, 3.0, math.inf, 0.5])
@pytest.mark.parametrize("most", [0.5, 1e6])
def test_the_norm_of_all_gradients_is_brought_down(order: float, most: float) -> None:
    params = parameters()
    before = gradients(params)
    wanted = np.linalg.norm(np.concatenate([g.ravel() for g in before]), order)
    found = clip_grad_norm_(params, most, norm_type=order)
    assert found.shape == () and found.item() == pytest.approx(wanted, rel=1e-6)
    factor = min(1.0, most / (wanted + 1e-6))
    for g, old in zip(gradients(params), before, strict=True):
        np.testing.assert_allclose(g, old * factor, rtol=1e-6)


def test_the_largest_is_asked_for_by_its_word() -> None:
    norm: Any = "inf"
    params = parameters()
    largest = max(float(abs(g).max()) for g in gradients(params) if g.size)
    assert get_total_norm([p.grad for p in params if p.grad is not None], norm).item() == (
        pytest.approx(largest)
    )
    assert clip_grad_norm_(params, 1.0, norm_type=norm).item() == pytest.approx(largest)
    with pytest.raises(ts.errors.ArgumentError, match="norm_type must be a real number, got str"):
        clip_grad_norm_(params, 1.0, norm_type="most")  # type: ignore[arg-type]


def test_gradients_keep_their_memory_and_their_version_advances() -> None:
    params = parameters()
    held = [p.grad for p in params]
    clip_grad_norm_(iter(params), 0.5)
    clip_grad_value_(params, 0.01)
    assert all(p.grad is g for p, g in zip(params, held, strict=True))
    assert max(abs(g).max() for g in gradients(params) if g.size) <= 0.0100001


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float64], ids=lambda d: d.name)
def test_other_dtypes(dtype: Any) -> None:
    params = parameters(dtype)
    before = gradients(params)
    wanted = np.linalg.norm(np.concatenate([g.ravel() for g in before]))
    found = clip_grad_norm_(params, 1.0)
    assert found.dtype is (ts.float64 if dtype is ts.float64 else ts.float32)
    assert found.item() == pytest.approx(wanted, rel=1e-6)
    for g, old in zip(gradients(params), before, strict=True):
        np.testing.assert_allclose(g, old / wanted, rtol=1e-2 if dtype.itemsize == 2 else 1e-5)


def test_large_halves_do_not_overflow() -> None:
    x = ts.zeros(4, dtype=ts.float16).requires_grad_()
    x.grad = ts.full((4,), 60000.0, dtype=ts.float16)
    assert clip_grad_norm_(x, 2.0).item() == 120000.0
    assert x.grad.tolist() == pytest.approx([1.0] * 4, rel=1e-3)


def test_mixed_and_complex_gradients() -> None:
    x, y = ts.zeros(2, requires_grad=True), ts.zeros(1, dtype=ts.complex64).requires_grad_()
    x.grad, y.grad = ts.tensor([1.0, 2.0]), ts.tensor([2 + 4j])
    for order, wanted in ((2.0, 5.0), (math.inf, 20**0.5)):
        assert get_total_norm([x.grad, y.grad], order).item() == pytest.approx(wanted)
    clip_grad_norm_([x, y], 0.5)
    assert x.grad.tolist() == pytest.approx([0.1, 0.2])
    assert y.grad.tolist() == pytest.approx([0.2 + 0.4j])
    clip_grad_value_([x, y], 0.15)
    assert y.grad.tolist() == pytest.approx([0.15 + 0.15j])


def test_strided_gradients_have_the_same_bits() -> None:
    wide = ts.linspace(-1, 1, 24).reshape(4, 6)
    norms = [
        get_total_norm([g])
        for g in (wide.T, wide.T.clone(), wide[::2, ::3], wide[::2, ::3].clone())
    ]
    assert norms[0].item() == norms[1].item() and norms[2].item() == norms[3].item()
    x = ts.zeros(6, 4, requires_grad=True)
    x.grad = wide.clone().T
    clip_grad_norm_([x], 1.0)
    y = ts.zeros(6, 4, requires_grad=True)
    y.grad = wide.T.clone()
    clip_grad_norm_([y], 1.0)
    assert x.grad.tolist() == y.grad.tolist()


def test_no_gradients_have_the_norm_0() -> None:
    assert clip_grad_norm_([ts.zeros(2, requires_grad=True)], 1.0).item() == 0.0
    assert get_total_norm([]).item() == 0.0
    clip_grad_value_([], 1.0)


def test_a_given_norm_is_used() -> None:
    x = ts.zeros(2, requires_grad=True)
    x.grad = ts.tensor([3.0, 4.0])
    clip_grads_with_norm_(x, 1.0, get_total_norm(x.grad))
    assert x.grad.tolist() == pytest.approx([0.6, 0.8])


def test_nothing_is_read_unless_an_error_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    params = parameters()
    for name in ("item", "tolist", "__float__", "__bool__"):
        monkeypatch.setattr(ts.Tensor, name, lambda x: pytest.fail("a value was read"))
    clip_grad_norm_(params, 1.0)
    clip_grad_value_(params, 1.0)


def test_norms_that_are_not_finite_raise_if_asked() -> None:
    x = ts.zeros(2, requires_grad=True)
    x.grad = ts.tensor([math.inf, 1.0])
    with pytest.raises(RuntimeError, match="the norm of the gradients is inf") as caught:
        clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
    assert "clip_grad_norm_: " in str(caught.value) and "  at test_clip.py:" in str(caught.value)
    assert x.grad.tolist() == [math.inf, 1.0]
    clip_grad_norm_([x], 1.0)


def test_names_stand_where_torch_has_them() -> None:
    found = importlib.import_module("tessella.nn.utils").clip_grad_norm_
    assert found is clip_grad_norm_ is ts.nn.utils.clip_grad_norm_


ANY: Any = "x"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: clip_grad_norm_(3, 1.0), "parameters must be tensors in a list, or one tensor"),  # type: ignore[arg-type]
        (lambda: clip_grad_norm_([3], 1.0), r"parameters\[0\] must be a tensor, got int"),  # type: ignore[list-item]
        (lambda: clip_grad_norm_([], ANY), "max_norm must be a real number, got str"),
        (lambda: clip_grad_norm_([], 1.0, math.nan), "norm_type is nan"),
        (lambda: clip_grad_norm_([], 1.0, error_if_nonfinite=ANY), "error_if_nonfinite must be"),
        (lambda: clip_grad_value_([], ANY), "clip_value must be a real number"),
        (lambda: get_total_norm(ANY), r"tensors\[0\] must be a tensor"),
        (lambda: clip_grads_with_norm_([], 1.0, ANY), "total_norm must be a real number, got str"),
        (lambda: clip_grads_with_norm_([], 1.0, ts.ones(3)), r"total_norm.shape is \(3,\)"),
        (lambda: clip_grads_with_norm_(3, 1.0, ts.ones(())), "parameters must be tensors"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_refused(call: Any, match: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=match) as caught:
        call()
    assert "  at test_clip.py:" in str(caught.value) and "  hint: " in str(caught.value)
