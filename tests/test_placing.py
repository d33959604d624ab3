"""Values put into parts of tensors, histograms and choices, beyond what their declarations test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from nested import listed

NAN, INF = float("nan"), float("inf")


# --- put_along_axis ------------------------------------------------------------------------------


@given(seed=st.integers(0, 1 << 30), axis=st.sampled_from([-1, 0, 1, None]), is_one=st.booleans())
def test_put_along_axis_is_that_of_numpy(seed: int, axis: Any, is_one: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((4, 5))
    size = x.size if axis is None else x.shape[axis]
    shape = {None: (3,), 0: (2, 1 if is_one else 5), 1: (1 if is_one else 4, 2)}
    indices = rng.integers(-size, size, shape[axis % 2 if axis is not None else None])
    values: Any = 7.5 if is_one else rng.standard_normal(indices.shape)
    want = x.copy()
    np.put_along_axis(want, indices, values, axis)
    # Of equal indices the last is put; NumPy leaves it open, and does the same.
    found = ts.tensor(x)
    given_values = values if is_one else ts.tensor(values)
    assert ts.put_along_axis(found, ts.tensor(indices), given_values, axis) is None
    assert np.array_equal(found.numpy(), want)


def test_put_along_axis_refuses_what_it_cannot_write() -> None:
    x = ts.zeros(2, 3)
    with pytest.raises(ts.errors.IndexOutOfBounds, match="put_along_axis: 1 index for 2 axes"):
        ts.put_along_axis(x, ts.tensor([0]), 1.0, 1)
    with pytest.raises(ts.errors.IndexOutOfBounds, match="index 3 is out of bounds"):
        ts.put_along_axis(x, ts.tensor([[3]]), 1.0, 1)
    with pytest.raises(ts.errors.InplaceError, match="requires gradients"):
        ts.put_along_axis(ts.zeros(2, 3, requires_grad=True), ts.tensor([[0]]), 1.0, 1)
    with pytest.raises(ts.errors.TessellaError, match="put_along_axis: "):
        ts.put_along_axis(x.T, ts.tensor([0]), 1.0, None)
    assert not x.any().item()


def test_a_slice_of_a_copy_leaves_the_original() -> None:
    x = ts.zeros(3, 3)
    for found in (
        ts.select_scatter(x, ts.ones(3), 0, -1),
        ts.slice_scatter(x, ts.ones(1, 3), 0, -1),
        ts.diagonal_scatter(x, ts.ones(2), 1, 1, 0),
    ):
        assert found.sum().item() in (2.0, 3.0)
    assert not x.any().item()
    assert ts.diagonal_scatter(x, ts.ones(2), 1, 1, 0)[1, 0].item() == 1.0


# --- histograms ----------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 1 << 30), n=st.integers(0, 200), bins=st.integers(1, 30),
    dtype=st.sampled_from(["float32", "float64", "int8", "uint8", "int64"]),
)  # fmt: skip
def test_histogram_is_that_of_numpy(seed: int, n: int, bins: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(n) * 20).round(int(rng.integers(0, 3))).astype(dtype)
    counts, edges = ts.histogram(ts.tensor(x), bins)
    want = np.histogram(x.astype("float64"), bins)  # whose edges are rounded once, as ours are
    np.testing.assert_allclose(edges.numpy(), want[1], rtol=1e-6, atol=1e-6)
    assert counts.dtype is ts.int64 and int(counts.sum().item()) == n
    again = np.histogram(x, edges.numpy())[0]
    assert counts.tolist() == again.tolist()


def test_histogram_of_edges_weights_and_density() -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((40, 5)), rng.random((40, 5))
    edges = np.array([-2.0, -0.5, -0.5, 0.25, 3.0])
    for given_weights in (None, weights):
        own = None if given_weights is None else ts.tensor(given_weights)
        found = ts.histogram(ts.tensor(x), ts.tensor(edges), weights=own)
        want = np.histogram(x, edges, weights=given_weights)
        np.testing.assert_allclose(found.hist.numpy(), want[0], rtol=1e-12)
        assert found.bin_edges.tolist() == edges.tolist()
    found = ts.histogram(ts.tensor(x), 7, density=True)
    np.testing.assert_allclose(found.hist.numpy(), np.histogram(x, 7, density=True)[0])
    assert ts.histogram(ts.tensor([3.0, 3.0]), 2).bin_edges.tolist() == [2.5, 3.0, 3.5]
    assert ts.histogram(ts.tensor([3.0]), 2, range=(1, 1)).bin_edges.tolist() == [0.5, 1.0, 1.5]


def test_what_is_not_in_the_range_is_not_counted() -> None:
    x = ts.tensor([NAN, -1.0, 0.0, 0.5, 2.0, 2.5, INF])
    assert ts.histc(x, 4, 0, 2).tolist() == [1.0, 1.0, 0.0, 1.0]
    assert ts.histogram(x, 4, range=(0, 2)).hist.tolist() == [1, 1, 0, 1]
    counts: list[Any] = [ts.histc, ts.histogram]
    for count in counts:
        with pytest.raises(ts.errors.InvalidArgument, match="the range is"):
            count(x, 4)
    assert ts.histc(ts.full((3,), 5.0), 4).tolist() == [0, 0, 3, 0]
    assert ts.histc(ts.ones(3, dtype=ts.float16), 2).dtype is ts.float16


def test_bucketize_takes_numbers_and_gives_narrow_indices() -> None:
    edges = ts.tensor([1.0, 3.0])
    assert ts.bucketize(3, edges).item() == 1 and ts.bucketize(3, edges, right=True).item() == 2
    assert ts.bucketize(ts.tensor([NAN]), edges, out_int32=True).dtype is ts.int32


# --- choices -------------------------------------------------------------------------------------


def test_cartesian_prod_needs_a_vector() -> None:
    with pytest.raises(ts.errors.InvalidArgument, match=r"cartesian_prod: arrays is \(\)"):
        ts.cartesian_prod()


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("shape", [(6,), (3, 6)])
def test_multinomial_draws_by_weight(replacement: bool, shape: tuple[int, ...]) -> None:
    weights = ts.tensor([0.0, 1.0, 2.0, 0.0, 5.0, 0.0]).expand(*shape)
    draws = [ts.multinomial(weights, 3, replacement, generator=ts.Generator(seed))
             for seed in range(3000)]  # fmt: skip
    every = ts.stack(draws)
    assert every.shape == (3000, *shape[:-1], 3) and every.dtype is ts.int64
    first = np.bincount(every[..., 0].numpy().reshape(-1), minlength=6)
    np.testing.assert_allclose(first / first.sum(), np.array([0, 1, 2, 0, 5, 0]) / 8, atol=0.04)
    assert not first[[0, 3, 5]].any()
    if not replacement:
        assert np.array_equal(np.unique(every.numpy(), axis=-1).shape, every.shape)
        assert (np.sort(every.numpy(), -1) == [1, 2, 4]).all()


def test_multinomial_repeats_with_its_seed_at_any_number_of_threads() -> None:
    weights = ts.rand(50, 40, generator=ts.Generator(1))
    for replacement in (False, True):
        found = []
        for threads in (1, 2):
            with ts.num_threads(threads):
                found.append(ts.multinomial(weights, 5, replacement, generator=ts.Generator(3)))
        assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 1000])
def test_multinomial_reaches_every_weight(size: int) -> None:
    found = ts.multinomial(ts.ones(size), 40 * size, True, generator=ts.Generator(size))
    assert ts.unique(found).tolist() == list(range(size))
    only = ts.zeros(size)
    only[-1] = 1e-30
    assert ts.multinomial(only, 2, True).tolist() == [size - 1] * 2
    assert sorted(listed(ts.multinomial(ts.ones(size), size))) == list(range(size))


def test_multinomial_refuses_what_are_no_weights() -> None:
    for wrong in ([1.0, -1.0], [1.0, NAN], [1.0, INF]):
        with pytest.raises(ts.errors.InvalidArgument, match="multinomial: x is"):
            ts.multinomial(ts.tensor(wrong), 1)
    with pytest.raises(ts.errors.InvalidArgument, match="number of positive weights is 1"):
        ts.multinomial(ts.tensor([1.0, 0.0]), 2)
    with pytest.raises(ts.errors.InvalidArgument, match="number of positive weights is 0"):
        ts.multinomial(ts.tensor([[1.0, 0.0], [0.0, 0.0]]), 1, replacement=True)
    with pytest.raises(ts.errors.InvalidArgument, match=r"x\.ndim is 3"):
        ts.multinomial(ts.ones(1, 1, 1), 1)
    with pytest.raises(ts.errors.DTypeMismatch, match="not defined for int64"):
        ts.multinomial(ts.tensor([1]), 1)
