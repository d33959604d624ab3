"""Different slices, and summaries of numbers with NaN, beyond what their declarations test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts

NAN, INF = float("nan"), float("inf")


# --- different slices ----------------------------------------------------------------------------


@given(
    seed=st.integers(0, 1 << 30), rows=st.integers(0, 40), columns=st.integers(1, 9),
    dtype=st.sampled_from(["int8", "bool", "float32", "complex64"]), axis=st.integers(0, 1),
)  # fmt: skip
def test_unique_slices_are_those_of_numpy(
    seed: int, rows: int, columns: int, dtype: str, axis: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (rows, columns)).astype(dtype)
    if dtype == "complex64":
        x = x + 1j * rng.integers(0, 2, x.shape).astype(dtype)
    x = x if axis == 0 else x.T
    found = ts.unique(ts.tensor(x), dim=axis, return_inverse=True, return_counts=True)
    want = np.unique(x, axis=axis, return_inverse=True, return_counts=True)
    for got, expected in zip(found, want, strict=True):
        assert np.array_equal(got.numpy(), expected.reshape(got.shape))


def test_slices_with_nan_are_different() -> None:
    x = ts.tensor([[1.0, NAN], [1.0, NAN], [0.0, 2.0], [0.0, 2.0], [-0.0, 2.0]])
    found = ts.unique(x, axis=0, return_counts=True)
    assert found[1].tolist() == [3, 1, 1] and found[0][0].tolist() == [0.0, 2.0]
    assert ts.unique(ts.tensor([NAN, NAN])).shape == (2,)
    assert ts.unique_consecutive(ts.tensor([NAN, NAN, 1.0, 1.0])).shape == (3,)


def test_slices_of_no_elements_are_equal() -> None:
    found = ts.unique(ts.ones(3, 0), axis=0, return_inverse=True, return_counts=True)
    assert found[0].shape == (1, 0) and found[1].tolist() == [0, 0, 0]
    assert found[2].tolist() == [3]
    assert ts.unique(ts.ones(0, 3), axis=0).shape == (0, 3)


@given(st.lists(st.integers(0, 2), max_size=30))
def test_runs_give_the_tensor_back(values: list[int]) -> None:
    x = np.array(values, np.int64)
    found, inverse, counts = ts.unique_consecutive(ts.tensor(x), True, True)
    assert np.array_equal(found.numpy()[inverse.numpy()], x)
    assert np.array_equal(np.repeat(found.numpy(), counts.numpy()), x)  # type: ignore[arg-type]
    assert not (found[1:] == found[:-1]).any().item()


@pytest.mark.parametrize("choose", [lambda x: ts.unique(x, axis=0), ts.unique_consecutive])
def test_what_is_chosen_from_a_watched_tensor_is_recorded(choose: Any) -> None:
    assert choose(ts.tensor([[3.0], [1.0]], requires_grad=True)).requires_grad


# --- numbers with NaN ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_sums_and_means_leave_nan_out(dtype: str) -> None:
    x = np.array([[1, NAN, 3], [NAN, NAN, NAN]], dtype)
    if "complex" in dtype:
        x[0, 0] += 2j
    for axis in (None, 0, 1):
        summed, mean = ts.nansum(ts.tensor(x), axis), ts.nanmean(ts.tensor(x), axis)
        np.testing.assert_array_equal(summed.numpy(), np.nansum(x, axis=axis))
        with np.errstate(all="ignore"):
            wanted = np.nansum(x, axis=axis) / (~np.isnan(x)).sum(axis=axis)
        np.testing.assert_allclose(mean.numpy(), wanted.astype(dtype), rtol=1e-3)
        assert summed.dtype.name == mean.dtype.name == dtype


def test_a_long_mean_of_halves_does_not_overflow() -> None:
    assert ts.nanmean(ts.full((4000,), 60000.0, dtype=ts.float16)).item() == 60000.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_nan_and_infinities_become_numbers(dtype: str) -> None:
    x = np.array([NAN, INF, -INF, -0.0, 2.5], dtype)
    if "complex" in dtype:
        x = np.array([complex(a, b) for a in x.real for b in x.real], dtype)
    named: list[dict[str, Any]] = [{}, {"nan": 1.5, "posinf": 7.0, "neginf": -8.0}]
    for options in named:
        found = ts.nan_to_num(ts.tensor(x), **options).numpy()
        assert found.tobytes() == np.nan_to_num(x, **options).tobytes()


def test_nan_to_num_of_integers_is_a_copy() -> None:
    for x in (ts.tensor([1, 2]), ts.tensor([True, False])):
        found = ts.nan_to_num(x)
        assert found.tolist() == x.tolist() and found.data_ptr != x.data_ptr


def test_extremes_of_nan_are_nan() -> None:
    low, high = ts.aminmax(ts.tensor([[1.0, NAN], [3.0, 2.0]]), dim=1)
    assert low.isnan().tolist() == high.isnan().tolist() == [True, False]
    assert (low[1].item(), high[1].item()) == (2.0, 3.0)
    assert ts.aminmax(ts.tensor([1]))._fields == ("min", "max")
    assert ts.std_mean(ts.ones(2), correction=1)._fields == ("std", "mean")
    assert ts.var_mean(ts.ones(2), correction=1)._fields == ("var", "mean")


# --- complex numbers -----------------------------------------------------------------------------


def test_parts_of_complex_numbers_share_their_memory() -> None:
    x = ts.tensor([[1 + 2j, 3 - 4j], [5j, -0.0 + 1j]])
    parts = ts.view_as_real(x.T)
    assert parts.shape == (2, 2, 2) and parts[1, 0].tolist() == [3.0, -4.0]
    parts[0, 1, 0] = 9.0
    assert x[1, 0].item() == 9 + 5j
    again = ts.view_as_complex(parts)
    assert again.data_ptr == x.data_ptr and again.strides == x.T.strides


def test_pairs_that_do_not_lie_side_by_side_are_refused() -> None:
    with pytest.raises(ts.errors.TessellaError, match="do not lie side by side"):
        ts.view_as_complex(ts.ones(2, 3).T)
    with pytest.raises(ts.errors.TessellaError, match="cannot be seen as items of 8"):
        ts.view_as_complex(ts.ones(4, 3)[:, 1:])


def test_complex_keeps_infinities_and_signs_of_zeros() -> None:
    x = np.array([NAN, INF, -INF, -0.0, 0.0, 1.5])
    real, imag = (part.reshape(-1) for part in np.meshgrid(x, x))
    found = ts.complex(ts.tensor(real), ts.tensor(imag))
    assert ts.real(found).numpy().tobytes() == real.tobytes()
    assert ts.imag(found).numpy().tobytes() == imag.tobytes()
    mixed = ts.complex(ts.ones(2, 1), ts.zeros(3, dtype=ts.float64))
    assert mixed.dtype is ts.complex128 and mixed.shape == (2, 3)
