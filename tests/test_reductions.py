"""Reductions against NumPy, their accuracy, and that their bits depend on values and shape alone.

Each record's own samples are tested elsewhere; here are random shapes, axes, dtypes, layouts and
numbers of threads. The matrix product sums too: its bits are tested in test_products.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tessella as ts
from tessella import _core

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...] | int | None

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5,
             "complex128": 1e-12}  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn, dtypes: list[str], min_size: int = 0) -> Array:
    """Draw an array of a random layout: integers up to 9, or multiples of an eighth."""
    shape = draw(st.lists(st.integers(min_size, 6), max_size=4))
    dtype = draw(st.sampled_from(dtypes))
    seed = draw(st.integers(0, 1 << 32))
    values = np.random.default_rng(seed).integers(0 if dtype[0] in "ub" else -9, 10, shape)
    array = (values / 8 if dtype in FLOATS + COMPLEX else values).astype(dtype)
    if array.ndim and draw(st.booleans()):
        array = np.flip(array, draw(st.integers(0, array.ndim - 1)))
    return array.transpose(draw(st.permutations(range(array.ndim))))


@st.composite
def axes_of(draw: st.DrawFn, ndim: int) -> Axes:
    """Draw None, an axis or a set of axes, counted from either end."""
    if ndim == 0:
        return draw(st.sampled_from([None, ()]))
    one = st.integers(-ndim, ndim - 1)
    many = st.lists(one, unique_by=lambda a: a % ndim, max_size=ndim).map(tuple)
    return draw(st.none() | one | many)


def agree(found: ts.Tensor, expected: Any, tolerance: float) -> None:
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


# --- values ---------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(["sum", "prod"]), st.booleans())
def test_sums_and_products_of_floats_are_those_of_numpy(
    data: st.DataObject, name: str, keepdims: bool
) -> None:
    array = data.draw(arrays(FLOATS + COMPLEX))
    axis = data.draw(axes_of(array.ndim))
    wide = "complex128" if array.dtype.kind == "c" else "float64"
    expected = getattr(np, name)(array, axis=axis, keepdims=keepdims, dtype=wide)
    found = getattr(ts, name)(ts.from_numpy(array), axis=axis, keepdims=keepdims)
    assert found.dtype.name == array.dtype.name
    agree(found, expected, TOLERANCE[array.dtype.name])


@given(st.data(), st.sampled_from(["sum", "prod"]), st.booleans())
def test_sums_and_products_of_integers_are_64_bits_wide(
    data: st.DataObject, name: str, keepdims: bool
) -> None:
    array = data.draw(arrays([*INTEGERS, "bool"]))
    axis = data.draw(axes_of(array.ndim))
    expected = np.asarray(getattr(np, name)(array, axis=axis, keepdims=keepdims))
    found = getattr(ts, name)(ts.from_numpy(array), axis=axis, keepdims=keepdims)
    assert found.dtype.name == expected.dtype.name and found.tolist() == expected.tolist()


@given(st.data(), st.sampled_from(["mean", "var", "std"]), st.booleans())
def test_means_and_deviations_are_those_of_numpy(
    data: st.DataObject, name: str, keepdims: bool
) -> None:
    array = data.draw(arrays(FLOATS, min_size=1))
    axis = data.draw(axes_of(array.ndim))
    expected = getattr(np, name)(array, axis=axis, keepdims=keepdims, dtype="float64")
    found = getattr(ts, name)(ts.from_numpy(array), axis=axis, keepdims=keepdims)
    agree(found, expected, TOLERANCE[array.dtype.name])


@given(st.data(), st.sampled_from(["max", "min", "any", "all"]), st.booleans())
def test_extrema_and_truth_are_those_of_numpy(
    data: st.DataObject, name: str, keepdims: bool
) -> None:
    array = data.draw(arrays([*INTEGERS, *FLOATS, "bool"], min_size=1))
    axis = data.draw(axes_of(array.ndim))
    expected = np.asarray(getattr(np, name)(array, axis=axis, keepdims=keepdims))
    found = getattr(ts, name)(ts.from_numpy(array), axis=axis, keepdims=keepdims)
    assert found.dtype.name == expected.dtype.name and found.tolist() == expected.tolist()


@given(st.data(), st.sampled_from(["argmax", "argmin"]), st.booleans())
def test_positions_of_extrema_are_those_of_numpy(
    data: st.DataObject, name: str, keepdims: bool
) -> None:
    array = data.draw(arrays([*INTEGERS, *FLOATS], min_size=1))
    axis = data.draw(
        st.none() | st.integers(-array.ndim, array.ndim - 1) if array.ndim else st.none()
    )
    expected = np.asarray(getattr(np, name)(array, axis=axis, keepdims=keepdims))
    found = getattr(ts, name)(ts.from_numpy(array), axis=axis, keepdims=keepdims)
    assert found.dtype is ts.int64 and found.tolist() == expected.tolist()


@given(st.data(), st.sampled_from(["cumulative_sum", "cumulative_prod"]))
def test_cumulative_operations_are_those_of_numpy(data: st.DataObject, name: str) -> None:
    array = data.draw(arrays(["int64", "uint8", "float64", "complex128"]))
    assume(array.ndim > 0)
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    expected = getattr(np, name.replace("ulative_", ""))(array, axis=axis)
    agree(getattr(ts, name)(ts.from_numpy(array), axis=axis), expected, 1e-12)


@given(st.data(), st.sampled_from(["max", "min", "argmax", "argmin", "sum", "prod"]))
def test_a_nan_is_found_wherever_it_stands(data: st.DataObject, name: str) -> None:
    size = data.draw(st.sampled_from([1, 2, 7, 16, 63, 257, 5000]))
    array = np.arange(size, dtype=data.draw(st.sampled_from(FLOATS)))
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
    array[places] = np.nan
    found = getattr(ts, name)(ts.from_numpy(array)).item()
    assert found == min(places) if name.startswith("arg") else np.isnan(found)


# --- accuracy -------------------------------------------------------------------------------------

TERMS = 10_000_000


@pytest.mark.parametrize("kind", ["uniform", "normal", "wide", "alternating"])
def test_a_sum_of_ten_million_floats_is_accurate(kind: str) -> None:
    rng = np.random.default_rng(7)
    if kind == "uniform":
        array = rng.random(TERMS, dtype=np.float32)
    else:
        array = rng.standard_normal(TERMS, dtype=np.float32)
    if kind == "wide":
        array = np.exp(4 * array)
    if kind == "alternating":
        array[1::2] = -array[::2]
    exact, scale = array.sum(dtype=np.float64), np.abs(array).sum(dtype=np.float64)
    assert abs(ts.from_numpy(array).sum().item() - exact) <= 1e-6 * scale
    rows = ts.from_numpy(array).reshape(100, -1)
    assert abs(rows.sum(axis=0).sum().item() - exact) <= 1e-6 * scale
    assert abs(ts.from_numpy(array).mean().item() * TERMS - exact) <= 1e-6 * scale


@pytest.mark.parametrize(("dtype", "rounded"), [("float16", 40_000), ("bfloat16", 39_936)])
def test_halves_are_summed_in_float32_and_rounded_once(dtype: str, rounded: int) -> None:
    assert ts.ones(40_000, dtype=dtype).sum().item() == rounded
    assert ts.full((1_000_000,), 0.5, dtype=dtype).mean().item() == 0.5


def test_a_variance_far_from_zero_is_accurate() -> None:
    array = (np.random.default_rng(3).standard_normal(1_000_000) + 10_000).astype(np.float32)
    exact = array.var(dtype=np.float64)
    assert abs(ts.from_numpy(array).var().item() - exact) <= 1e-3 * exact


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ["var", "std"])
def test_spread_of_complex_numbers_is_real(name: str, dtype: str) -> None:
    array = np.array([[1 + 2j, 3 - 1j, -2j], [0.5, 1 + 1j, 4 - 2j]], dtype)
    for axis, correction in ((None, 0), (1, 1)):
        found = getattr(ts.tensor(array), name)(axis=axis, correction=correction)
        want = getattr(array, name)(axis=axis, ddof=correction)
        assert found.dtype is ts.result_type(ts.float32, found.dtype) is ts.tensor(want).dtype
        np.testing.assert_allclose(found.numpy(), want, rtol=1e-6)
    x = ts.tensor(array).to(ts.complex128)
    ts.testing.check_grads(lambda x: getattr(x, name)(axis=1), (x,))


# --- the same bits --------------------------------------------------------------------------------

Reduction = Callable[[ts.Tensor], ts.Tensor]
SHAPES = [
    (5,),
    (300_007,),
    (3, 100_003),
    (100_003, 3),
    (517, 601),
    (64, 33, 129),
    (7, 1, 4097),
    (2, 3, 4, 5),
]
NAMES = ["sum", "mean", "prod", "var", "max", "argmax", "logsumexp", "cumulative_sum"]


def reductions(name: str, ndim: int) -> list[Reduction]:
    """Give a reduction over all axes, each one, and the outer two."""
    function = getattr(ts, name)
    axes: list[Any] = [None, *range(ndim)]
    if name in ("sum", "mean", "prod", "max") and ndim > 2:
        axes.append((0, ndim - 1))
    if name == "cumulative_sum":
        axes = axes[1:]
    return [lambda x, a=axis: function(x, axis=a) for axis in axes]  # type: ignore[misc]


def layouts(x: ts.Tensor) -> list[ts.Tensor]:
    """Give x again with other strides: turned, spaced, reversed, and off its alignment."""
    order = tuple(reversed(range(x.ndim)))
    turned = x.permute(order).contiguous().permute(order)
    spaced = ts.empty(tuple(2 * n for n in x.shape), dtype=x.dtype)[
        (slice(None, None, 2),) * x.ndim
    ]
    spaced[...] = x
    reverse = x.flip().contiguous().flip()
    shifted = ts.empty(x.size + 1, dtype=x.dtype)[1:].reshape(x.shape)
    shifted[...] = x
    return [turned, spaced, reverse, shifted]


def bits(x: ts.Tensor) -> bytes:
    return x.contiguous().numpy().tobytes()


PAIRS = [(name, dtype) for name in NAMES for dtype in ("float32", "float64", "float16")]
PAIRS += [(name, "complex64") for name in ("sum", "mean", "prod")]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_bits_depend_on_values_and_shape_alone(
    name: str, shape: tuple[int, ...], dtype: str
) -> None:
    generator = ts.Generator(11)
    x = ts.randn(shape, generator=generator).astype(dtype)
    if name == "prod":
        x = x * 0 + 1 + x / 64
    for reduction in reductions(name, len(shape)):
        with ts.num_threads(1):
            expected = bits(reduction(x))
        for threads in (2, 3, 8):
            with ts.num_threads(threads):
                assert bits(reduction(x)) == expected, f"{threads} threads"
        for i, other in enumerate(layouts(x)):
            with ts.num_threads(1 + i % 3):
                assert bits(reduction(other)) == expected, f"layout {i}"


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_sums_of_virtual_tensors_take_no_memory(name: str) -> None:
    x = _core.empty_virtual((3, 1 << 40), ts.float32.id)
    live, *_ = _core.memory_counts()
    out = getattr(ts, name)(x, axis=0, include_initial=True)
    assert out.is_virtual and out.shape == (4, 1 << 40)
    assert _core.memory_counts()[0] - live < 1000  # what every tensor needs


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_small_integers_wrap_in_the_dtype_that_is_asked_for(name: str) -> None:
    x = ts.tensor([100, 100, 3])
    found = getattr(ts, name)(x, dtype=ts.int8)
    steps = np.cumsum([100, 100, 3]) if "sum" in name else np.cumprod([100, 100, 3])
    wrapped = steps.astype("int8").tolist()
    assert found.dtype is ts.int8
    assert found.tolist() == (wrapped if "cum" in name else wrapped[-1])


@pytest.mark.parametrize("dtype", ts.dtypes.DTYPES, ids=str)
def test_sum_to_shape_has_the_dtype_of_a_sum_whatever_is_summed(dtype: ts.dtypes.DType) -> None:
    x = ts.ones(2, 3, dtype=dtype)
    for shape in ((2, 3), (1, 3), (3,), ()):
        found = ts.sum_to_shape(x, shape)
        assert found.dtype is x.sum().dtype and found.shape == shape
        assert complex(found.sum()) == 6
