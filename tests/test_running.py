"""Running extremes and sums of exponentials at NaN and infinities, long lines, and slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from cases import to_array, to_tensor
from tessella.dtypes import DTYPES, DType

NAN, INF = float("nan"), float("inf")
ORDERED = [dtype for dtype in DTYPES if not dtype.is_complex]


def running(x: list[float], is_greatest: bool) -> list[int]:
    """Find the places one after the other, as PyTorch does."""
    best, found = 0, []
    for i, value in enumerate(x):
        is_better = value >= x[best] if is_greatest else value <= x[best]
        if value != value or is_better:
            best = i
        found.append(best)
    return found


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@given(seed=st.integers(0, 1 << 30), shape=st.sampled_from([(9,), (6, 7), (5, 1), (3, 130)]))
def test_running_extremes_one_after_the_other(dtype: DType, seed: int, shape: Any) -> None:
    rng = np.random.default_rng(seed)
    choices = [0, 1, 2, 3] if not dtype.is_floating else [NAN, -INF, -0.0, 0.0, 1.5, INF, 2.0]
    x = to_tensor(rng.choice(choices, shape), ts.float64).astype(dtype)
    for turned in (x, x.mT if x.ndim > 1 else x[::2], x.flip()):
        for axis in range(turned.ndim):
            for name in ("cummax", "cummin"):
                values, indices = getattr(ts, name)(turned, axis)
                lines = np.moveaxis(to_array(turned), axis, -1)
                places = np.moveaxis(indices.numpy(), axis, -1).reshape(-1, lines.shape[-1])
                for line, place in zip(lines.reshape(-1, lines.shape[-1]), places, strict=True):
                    assert running(line.tolist(), name == "cummax") == place.tolist()
                taken = np.take_along_axis(to_array(turned), indices.numpy(), axis)
                np.testing.assert_array_equal(to_array(values), taken)
                assert values.dtype is dtype and indices.dtype is ts.int64


def test_long_lines_are_the_same_at_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    for shape, axis in (((3_000_000,), 0), ((20, 40_000), 1), ((40_000, 20), 0), ((700, 900), 0)):
        x = ts.tensor(rng.standard_normal(shape))
        found = []
        for threads in (1, 2):
            with ts.num_threads(threads):
                found.append((ts.cummax(x, axis).indices, ts.logcumsumexp(x, axis)))
        for one, two in zip(*found, strict=True):
            assert one.numpy().tobytes() == two.numpy().tobytes()
        want = np.maximum.accumulate(x.numpy(), axis)
        assert np.array_equal(ts.cummax(x, axis).values.numpy(), want)


def test_gradients_go_to_the_chosen_elements() -> None:
    x = ts.tensor([1.0, 3.0, 2.0, 3.0], requires_grad=True)
    (g,) = ts.autograd.grad(ts.cummax(x, 0).values, x, ts.tensor([1.0, 2.0, 4.0, 8.0]))
    assert g.tolist() == [1.0, 6.0, 0.0, 8.0]


# --- sums of exponentials ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_log_sums_neither_overflow_nor_vanish(dtype: str) -> None:
    x = np.array([-INF, -1000.0, 1000.0, 1000.0, -INF, 5.0], dtype)
    want = np.logaddexp.accumulate(x.astype("float64")).astype(dtype)
    np.testing.assert_array_equal(ts.logcumsumexp(ts.tensor(x)).numpy(), want)
    for special in (INF, NAN):
        x[3] = special
        found = ts.logcumsumexp(ts.tensor(x)).numpy()
        assert found[2] == 1000 and (found[3:] != 1000).all()


def test_log_sums_of_halves_are_carried_in_float32() -> None:
    found = ts.logcumsumexp(ts.zeros(5000, dtype=ts.bfloat16))
    assert found[-1].item() == pytest.approx(np.log(5000), rel=2**-8)


@pytest.mark.parametrize("x", [[0.0, -800.0, 700.0, 699.0], [-INF, -INF, 1.0, 2.0], [3.0]])
def test_slopes_of_log_sums_are_shares(x: list[float]) -> None:
    leaf = ts.tensor(x, dtype=ts.float64, requires_grad=True)
    g = np.arange(1.0, len(x) + 1)
    (found,) = ts.autograd.grad(ts.logcumsumexp(leaf, 0), leaf, ts.tensor(g))
    out = np.logaddexp.accumulate(np.array(x))
    want = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i, len(x)):
            is_whole = x[i] == out[j] and np.isinf(x[i])
            want[i] += g[j] * (1.0 if is_whole else np.exp(x[i] - out[j]))
    np.testing.assert_allclose(to_array(found), want, rtol=1e-12)


# --- slopes --------------------------------------------------------------------------------------


def test_slopes_of_a_parabola_are_exact_to_the_ends() -> None:
    points = ts.tensor([0.0, 0.5, 2.0, 3.0, 7.0], dtype=ts.float64)
    found = ts.gradient(points * points, points, axis=0, edge_order=2)
    np.testing.assert_allclose(found.numpy(), 2 * points.numpy(), rtol=1e-12)


def test_several_axes_give_a_tuple_and_one_a_tensor() -> None:
    x = ts.arange(12.0).reshape(3, 4)
    for found in (ts.gradient(x), ts.gradient(x, dim=(0, 1)), ts.gradient(x, spacing=2.0)):
        assert isinstance(found, tuple) and len(found) == 2
    assert ts.gradient(x, axis=1).shape == (3, 4)
    assert ts.gradient(x, spacing=(ts.arange(3.0), ts.arange(4.0)))[0].tolist() == [[4.0] * 4] * 3
    assert ts.gradient(ts.tensor([1, 3, 9], dtype=ts.uint8), 2).tolist() == [1.0, 2.0, 3.0]  # type: ignore[union-attr]
