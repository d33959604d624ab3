"""Sets, searching, counting and ranks, beyond what their declarations test: NaN, layouts, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from tessella.dtypes import DTYPES

Array = np.ndarray[Any, Any]
NAN = float("nan")
ORDERED = [dtype for dtype in DTYPES if not dtype.is_complex and dtype.name != "bfloat16"]


def numbers(rng: np.random.Generator, dtype: ts.DType, size: int) -> Array:
    """Make numbers of which some are equal."""
    if dtype.name == "bool":
        return rng.random(size) < 0.5
    low = 0 if dtype.name.startswith("u") else -20
    return (rng.integers(low, 20, size) / (4 if dtype.is_floating else 1)).astype(dtype.name)


# --- searching -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ORDERED, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1000])
def test_searchsorted_is_that_of_numpy(dtype: ts.DType, n: int) -> None:
    rng = np.random.default_rng(n)
    ordered, x = np.sort(numbers(rng, dtype, n)), numbers(rng, dtype, 40)
    for side in ("left", "right"):
        want = np.searchsorted(ordered, x, side=side)
        found = ts.searchsorted(ts.tensor(ordered), ts.tensor(x), side=side)
        assert found.dtype is ts.int64 and found.tolist() == want.tolist()


@given(st.integers(0, 1 << 30), st.sampled_from(["left", "right"]), st.integers(0, 300))
def test_searchsorted_of_any_layout(seed: int, side: Any, n: int) -> None:
    rng = np.random.default_rng(seed)
    ordered = np.sort(rng.choice([NAN, np.inf, -0.0, 0.0, 1.5, 2.0, -3.0], n)).astype(np.float32)
    x = rng.choice([NAN, -np.inf, 0.0, -0.0, 1.0, 2.0], (6, 8)).astype(np.float32)
    spread = ts.tensor(np.repeat(ordered, 2))[::2]
    turned = ts.tensor(x).T[::-1]
    want = np.searchsorted(ordered, x.T[::-1], side=side)
    assert ts.searchsorted(spread, turned, side=side).tolist() == want.tolist()


def test_searchsorted_takes_numbers_other_dtypes_and_a_sorter() -> None:
    x = ts.tensor([30, 10, 20])
    sorter = ts.argsort(x).astype(ts.int32)
    assert ts.searchsorted(x, 15, sorter=sorter).item() == 1
    assert ts.searchsorted(ts.tensor([1, 2, 3]), 2.5).item() == 2
    low = ts.tensor([1, 2, 3], dtype=ts.int8)
    assert ts.searchsorted(low, ts.tensor([2, 300]), side="right").tolist() == [2, 3]


def test_searchsorted_refuses_what_has_no_order() -> None:
    x = ts.tensor([1.0, 2.0])
    with pytest.raises(ts.errors.InvalidArgument, match=r"x1\.ndim is 2"):
        ts.searchsorted(x.reshape(1, 2), 1.0)
    with pytest.raises(ts.errors.DTypeMismatch, match="complex numbers have no order"):
        ts.searchsorted(x, 1j)
    with pytest.raises(ts.errors.InvalidArgument, match=r"sorter.shape is \(1,\)"):
        ts.searchsorted(x, 1.0, sorter=ts.tensor([0]))
    with pytest.raises(ts.errors.IndexOutOfBounds, match="index 5 is out of bounds"):
        ts.searchsorted(x, 1.0, sorter=ts.tensor([0, 5]))


def test_a_long_search_is_shared_between_threads() -> None:
    rng = np.random.default_rng(0)
    ordered, x = np.sort(rng.random(10_000)), rng.random((100, 1000))
    want = np.searchsorted(ordered, x).tobytes()
    for threads in (1, 3):
        with ts.num_threads(threads):
            assert ts.searchsorted(ts.tensor(ordered), ts.tensor(x)).numpy().tobytes() == want


# --- sets ----------------------------------------------------------------------------------------


def test_nans_are_different_from_each_other() -> None:
    x = ts.tensor([NAN, 1.0, NAN, 1.0])
    found = ts.unique_all(x)
    assert found.values[:1].tolist() == [1.0] and found.values.isnan().sum().item() == 2
    assert found.counts.tolist() == [2, 1, 1] and found.indices.tolist() == [1, 0, 2]
    assert found.inverse_indices.tolist() == [1, 0, 2, 0]
    assert ts.unique_values(x).shape == (3,) and ts.unique_counts(x).counts.tolist() == [2, 1, 1]
    assert not ts.isin(x, ts.tensor([NAN])).any().item()
    assert not ts.isin(x, ts.tensor([NAN] * 20)).any().item()


def test_zeros_of_either_sign_are_one_element() -> None:
    found = ts.unique_all(ts.tensor([0.0, -0.0, 3.0, -0.0]))
    assert found.counts.tolist() == [3, 1] and found.indices.tolist() == [0, 2]
    assert ts.isin(ts.tensor([-0.0]), ts.tensor([0.0] * 20)).item()


@given(st.lists(st.integers(-5, 5), max_size=60), st.booleans())
def test_unique_parts_give_the_tensor_back(values: list[int], is_complex: bool) -> None:
    x = np.array(values) * (1 + 1j) if is_complex else np.array(values, np.int64)
    found = ts.unique_all(ts.tensor(x))
    assert found.values.numpy().tolist() == np.unique(x).tolist()
    assert np.array_equal(found.values.numpy()[found.inverse_indices.numpy()], x)
    assert np.array_equal(x[found.indices.numpy()], found.values.numpy())
    assert int(found.counts.sum().item()) == x.size


def test_fields_have_the_names_of_the_standard() -> None:
    x = ts.tensor([1])
    assert ts.unique_all(x)._fields == ("values", "indices", "inverse_indices", "counts")
    assert ts.unique_counts(x)._fields == ("values", "counts")
    assert ts.unique_inverse(x)._fields == ("values", "inverse_indices")
    assert ts.topk(x, 1)._fields == ts.mode(x)._fields == ("values", "indices")


@pytest.mark.parametrize("size", [3, 40])
def test_isin_of_complex_numbers(size: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.integers(-3, 3, (2, 30)) + 1j * rng.integers(-3, 3, (2, 30))
    among = rng.integers(-2, 3, size) + 1j * rng.integers(-2, 3, size)
    assert ts.isin(ts.tensor(x), ts.tensor(among)).tolist() == np.isin(x, among).tolist()


def test_isin_promotes() -> None:
    x = ts.tensor([1, 2, 3], dtype=ts.uint8)
    assert ts.isin(x, ts.tensor([2, -1], dtype=ts.int8)).tolist() == [False, True, False]
    assert ts.isin(2, x).item() and ts.isin(x, 2, invert=True).tolist() == [True, False, True]


# --- counting and ranks --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_bincount_is_that_of_numpy(dtype: str) -> None:
    x = np.random.default_rng(1).integers(0, 50, 10_000).astype(dtype)
    weights = np.random.default_rng(2).random(10_000)
    assert ts.bincount(ts.tensor(x)).tolist() == np.bincount(x).tolist()
    summed = ts.bincount(ts.tensor(x), ts.tensor(weights), minlength=70)
    np.testing.assert_allclose(summed.numpy(), np.bincount(x, weights, 70))
    assert ts.bincount(ts.tensor(x[:0])).shape == (0,)


def test_bincount_of_halves_and_integers() -> None:
    x = ts.zeros(4000, dtype=ts.int64)
    assert ts.bincount(x, ts.ones(4000, dtype=ts.float16)).item() == 4000
    assert ts.bincount(x, ts.ones(4000, dtype=ts.int8)).dtype is ts.int64


@pytest.mark.parametrize("n", [5, 100, 3000, 100_000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
def test_topk_is_the_head_of_the_stable_order(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    x = np.round(rng.standard_normal((2, n)) * 50).astype(dtype)
    for k in (0, 1, 4, n // 2, n):
        values, indices = ts.topk(ts.tensor(x), k)
        order = n - 1 - np.flip(np.argsort(np.flip(x, 1), axis=1, stable=True), 1)
        assert np.array_equal(indices.numpy(), order[:, :k])
        assert np.array_equal(values.numpy(), np.take_along_axis(x, order[:, :k], 1))
        values, indices = ts.topk(ts.tensor(x), k, largest=False)
        assert np.array_equal(indices.numpy(), np.argsort(x, axis=1, stable=True)[:, :k])


def test_ranks_of_nan() -> None:
    x = ts.tensor([[3.0, NAN, 1.0, 2.0], [NAN] * 4, [4.0, 1.0, 3.0, 2.0]])
    assert ts.topk(x[0], 2).indices.tolist() == [1, 0]
    assert ts.median(x, axis=1).isnan().tolist() == [True, True, False]
    found = ts.nanmedian(x, axis=1)
    assert found.isnan().tolist() == [False, True, False] and found[[0, 2]].tolist() == [2.0, 2.5]
    assert ts.nanquantile(x[0], 1.0).item() == 3.0
    assert ts.mode(ts.tensor([NAN, NAN, 5.0])).values.item() == 5.0


def test_quantiles_between_infinities() -> None:
    x = ts.tensor([-float("inf"), 1.0, float("inf"), float("inf")])
    assert ts.quantile(x, 0.9).item() == float("inf")
    assert ts.quantile(x, 0.0).item() == -float("inf")


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@given(seed=st.integers(0, 1 << 30), n=st.integers(1, 40), q=st.floats(0, 1))
def test_quantile_is_that_of_numpy(method: Any, seed: int, n: int, q: float) -> None:
    x = np.random.default_rng(seed).standard_normal((3, n))
    want = np.quantile(x, q, axis=1, method=method)
    np.testing.assert_allclose(
        ts.quantile(ts.tensor(x), q, axis=1, method=method).numpy(), want, rtol=1e-12, atol=1e-13
    )
    x[0, 0] = 0 if n == 1 else np.nan
    want = np.nanquantile(x, q, axis=1, method=method)
    np.testing.assert_allclose(
        ts.nanquantile(ts.tensor(x), q, axis=1, method=method).numpy(), want, rtol=1e-12, atol=1e-13
    )


def test_several_quantiles_stand_first() -> None:
    x = ts.arange(24.0).reshape(4, 6)
    q = ts.tensor([[0.0, 0.5], [0.25, 1.0]], dtype=ts.float64)
    assert ts.quantile(x, q, axis=0).shape == (2, 2, 6)
    assert ts.quantile(x, q, keepdims=True).shape == (2, 2, 1, 1)
    assert ts.quantile(x, q[0, :0], axis=1).shape == (0, 4)
    want = np.quantile(x.numpy(), q.numpy(), axis=0)  # type: ignore[arg-type, type-var]
    np.testing.assert_allclose(ts.quantile(x, q, axis=0).numpy(), want, rtol=1e-6)


@pytest.mark.parametrize(
    "choose",
    [
        lambda x: ts.sort(x).tolist(),
        lambda x: ts.topk(x, 2).values,
        lambda x: ts.kthvalue(x, 2).values,
        lambda x: ts.median(x),
        lambda x: ts.quantile(x, 0.3),
        lambda x: ts.mode(x).values,
        lambda x: ts.unique_values(x),
    ],
)
def test_what_is_chosen_from_a_watched_tensor_is_recorded(choose: Any) -> None:
    x = ts.tensor([3.0, 1.0, 2.0, 5.0], requires_grad=True)
    found = choose(x)
    assert isinstance(found, list) or found.requires_grad
