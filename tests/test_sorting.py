"""Sorting against NumPy's stable argsort: every dtype, layout, direction and length of line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella.dtypes import DTYPES

Array = np.ndarray[Any, Any]
ORDERED = [dtype for dtype in DTYPES if not dtype.is_complex]
# Around the borders between networks, tiles, single lines and shared ones.
LENGTHS = [0, 1, 2, 3, 8, 15, 16, 17, 24, 25, 31, 33, 64, 100, 127, 129, 255, 257, 600, 2049]
SPECIAL = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.0, -1.0]


def numbers(rng: np.random.Generator, dtype: ts.DType, shape: tuple[int, ...], kind: str) -> Array:
    """Make float64 or integers that a dtype holds: any, few different ones, or special floats."""
    if dtype.name == "bool":
        return rng.random(shape) < 0.5
    if not dtype.is_floating:
        info = np.iinfo(dtype.name)
        low, high = (info.min, info.max) if kind == "any" else (0, 5)
        return rng.integers(low, high, shape, dtype.name, endpoint=True)
    x = rng.standard_normal(shape)
    if kind == "few":
        x = np.round(x)
    if kind == "special":
        x = np.where(rng.random(shape) < 0.7, rng.choice(SPECIAL, shape), x)
    return x


def stable_order(x: Array, axis: int, descending: bool) -> Array:
    """Give the order in which equal elements keep theirs, NaN greatest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - back, axis)


def check(x: ts.Tensor, axis: int, descending: bool) -> None:
    wide = x if x.dtype.name != "bfloat16" else x.astype(ts.float32)
    order = stable_order(wide.numpy(), axis, descending)
    found = ts.argsort(x, axis=axis, descending=descending)
    assert found.dtype is ts.int64
    np.testing.assert_array_equal(found.numpy(), order)
    values = ts.sort(x, axis=axis, descending=descending)
    assert values.dtype is x.dtype
    expected = np.take_along_axis(wide.numpy(), order, axis)
    seen = (values if x.dtype.name != "bfloat16" else values.astype(ts.float32)).numpy()
    np.testing.assert_array_equal(seen, expected)
    if x.dtype.is_floating:
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(seen[is_number]), np.signbit(expected[is_number]))


@st.composite
def sortings(draw: st.DrawFn) -> tuple[ts.Tensor, int, bool]:
    """Draw a tensor of any layout, an axis and a direction."""
    dtype = draw(st.sampled_from(ORDERED))
    n = draw(st.sampled_from(LENGTHS))
    shape = [*draw(st.lists(st.sampled_from([1, 2, 3, 9, 33]), max_size=2)), n]
    axis = draw(st.integers(0, len(shape) - 1))
    shape[axis], shape[-1] = shape[-1], shape[axis]
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 1, 2, -1])) for _ in shape]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    kind = draw(st.sampled_from(["any", "few", "special"]))
    sizes = tuple(size * abs(step) for size, step in zip(shape, steps, strict=True))
    x = ts.tensor(numbers(rng, dtype, sizes, kind)).astype(dtype)
    x = x[tuple(slice(None, None, step) for step in steps)].permute(tuple(order))
    place = order.index(axis)
    return x, draw(st.sampled_from([place, place - len(shape)])), draw(st.booleans())


@given(sortings())
def test_sorting_of_any_layout(sorting: tuple[ts.Tensor, int, bool]) -> None:
    check(*sorting)


@pytest.mark.parametrize("dtype", ORDERED, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("kind", ["any", "few", "special"])
def test_sorting_of_a_long_line(dtype: ts.DType, kind: str) -> None:
    rng = np.random.default_rng(7)
    x = ts.tensor(numbers(rng, dtype, (140_000,), kind)).astype(dtype)
    check(x, 0, False)
    check(x, 0, True)


@pytest.mark.parametrize("shape", [(140_000,), (3, 70_000), (2, 20_000), (40, 300), (500, 9)])
def test_sorting_has_the_same_bits_for_any_thread_count(shape: tuple[int, ...]) -> None:
    x = ts.tensor(numbers(np.random.default_rng(3), ts.float64, shape, "special"))
    with ts.num_threads(1):
        alone = ts.sort(x).numpy(), ts.argsort(x).numpy()
    for threads in (2, 3, 7):
        with ts.num_threads(threads):
            assert ts.sort(x).numpy().tobytes() == alone[0].tobytes()
            assert ts.argsort(x).numpy().tobytes() == alone[1].tobytes()


def test_keys_that_agree_in_their_upper_bits_are_told_apart() -> None:
    """Words of a key and an index drop low bits of 64-bit keys, which must count all the same."""
    rng = np.random.default_rng(5)
    for n in (100, 1500, 5000, 150_000):
        near = 1.0 + rng.integers(0, 1 << 12, n) * np.finfo(np.float64).eps
        near[rng.integers(0, n, 1 + n // 1000)] = rng.standard_normal(1 + n // 1000)
        check(ts.tensor(near), 0, False)
        check(ts.tensor(near.view(np.int64)), 0, True)


@pytest.mark.parametrize("pattern", ["sorted", "reversed", "organ pipe", "saw", "equal", "two"])
def test_patterns_that_are_bad_for_pivots(pattern: str) -> None:
    i = np.arange(100_000)
    x = {
        "sorted": i,
        "reversed": i[::-1],
        "organ pipe": np.minimum(i, i[::-1]),
        "saw": i % 1000,
        "equal": i * 0,
        "two": (i % 3 == 0) * 5,
    }[pattern]
    for dtype in (ts.float32, ts.int64):
        check(ts.tensor(np.ascontiguousarray(x)).astype(dtype), 0, False)
        check(ts.tensor(np.ascontiguousarray(x)).astype(dtype).reshape(100, 1000), 1, True)


def test_sort_of_a_watched_tensor_is_recorded() -> None:
    x = ts.tensor([3.0, 1.0, 2.0], requires_grad=True)
    assert ts.sort(x).tolist() == [1.0, 2.0, 3.0] and ts.sort(x).requires_grad
