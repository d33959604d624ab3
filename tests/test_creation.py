"""Creation: sizes, values, dtypes and limits, against NumPy where it has the same function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tessella as ts
from nested import listed
from tessella import _core
from tessella.dtypes import DTYPES, DType


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4), (1,) * 64], ids=len)
def test_constants_have_the_shape_dtype_and_value_asked_for(
    shape: tuple[int, ...], dtype: DType
) -> None:
    made: list[tuple[ts.Tensor, int | None]] = [
        (ts.zeros(shape, dtype=dtype), 0), (ts.ones(shape, dtype=dtype), 1),
        (ts.full(shape, True, dtype=dtype), 1), (ts.empty(shape, dtype=dtype), None),
    ]  # fmt: skip
    for x, value in made:
        assert (x.shape, x.dtype, x.is_contiguous()) == (shape, dtype, True)
        if value is not None:
            assert x.reshape(-1).tolist() == [value] * math.prod(shape)
        likes = [like(x) for like in (ts.zeros_like, ts.ones_like, ts.empty_like)]
        for y in (*likes, ts.full_like(x, True)):
            assert (y.shape, y.dtype, y.is_contiguous()) == (shape, dtype, True)
        assert ts.full_like(x, True).reshape(-1).tolist() == [1] * math.prod(shape)


@pytest.mark.parametrize(
    "shape", [(2, 3), [2, 3], 3, (np.int64(2), 3), (ts.tensor(2), 1)], ids=repr
)
def test_sizes_are_given_in_many_ways(shape: Any) -> None:
    expected = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (shape,)
    for make in (ts.zeros, ts.ones, ts.empty, ts.rand):
        assert make(shape).shape == expected
        if isinstance(shape, tuple | list):
            assert make(*shape).shape == expected
    assert ts.full(shape, 0.5).shape == expected


def test_devices_are_taken_by_every_function_that_makes_a_tensor() -> None:
    x = ts.ones(2)
    for device in (None, "cpu", x.device):
        made = [
            ts.zeros(2, device=device), ts.ones(2, device=device), ts.empty(2, device=device),
            ts.full((2,), 1, device=device), ts.zeros_like(x, device=device),
            ts.ones_like(x, device=device), ts.empty_like(x, device=device),
            ts.full_like(x, 1, device=device), ts.arange(2, device=device),
            ts.linspace(0, 1, 2, device=device), ts.eye(2, device=device),
        ]  # fmt: skip
        assert {y.device for y in made} == {"cpu"}


def test_a_spec_has_a_shape_and_no_memory() -> None:
    x = ts.spec((1 << 20, 1 << 20), "int8")
    assert x.is_virtual and x.nbytes == 1 << 40 and x.dtype == ts.int8
    assert ts.spec((2,), requires_grad=True).requires_grad
    assert ts.spec((3, 4)).sum(axis=0).shape == (4,)
    with pytest.raises(ts.errors.IllegalState):
        x.tolist()


def test_like_of_a_virtual_tensor_is_virtual() -> None:
    x = _core.empty_virtual((1 << 40,), ts.float32.id)
    for y in (ts.zeros_like(x), ts.ones_like(x), ts.empty_like(x), ts.full_like(x, 2)):
        assert y.is_virtual and y.shape == x.shape


def test_the_kind_of_the_value_gives_the_dtype() -> None:
    dtypes = [ts.full((), value).dtype for value in (True, 1, 1.0, 1j)]
    assert dtypes == [ts.bool, ts.int64, ts.float32, ts.complex64]
    assert ts.zeros(1).dtype is ts.float32 and ts.arange(3).dtype is ts.int64
    assert ts.arange(3.0).dtype is ts.float32 and ts.linspace(0, 1, 2).dtype is ts.float32
    assert ts.tensor([]).dtype is ts.float32 and ts.tensor([1, True]).dtype is ts.int64
    assert ts.tensor([1, 2.0]).dtype is ts.float32 and ts.tensor([1j, 2]).dtype is ts.complex64


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7).filter(bool))
def test_arange_of_integers_is_that_of_numpy(start: int, stop: int, step: int) -> None:
    assert ts.arange(start, stop, step).tolist() == list(range(start, stop, step))
    assert ts.arange(stop).tolist() == list(range(stop))


@given(st.data(), st.sampled_from([dtype for dtype in DTYPES if dtype.is_integer]))
def test_arange_counts_exactly_in_every_integer_dtype(data: st.DataObject, dtype: DType) -> None:
    limits = ts.iinfo(dtype)
    start, stop = data.draw(st.tuples(*[st.integers(limits.min, limits.max)] * 2))
    step = max(1, abs(stop - start) // data.draw(st.integers(1, 50)))
    step = min(step, limits.max) if stop >= start else max(-step, -(1 << 63))
    found = ts.arange(start, stop, step, dtype=dtype)
    assert found.dtype is dtype and found.tolist() == list(range(start, stop, step))


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
def test_counting_works_in_every_dtype_but_bool(dtype: DType) -> None:
    number = complex if dtype.is_complex else float
    assert ts.arange(2, dtype=dtype).tolist() == [number(0), number(1)]
    assert ts.linspace(0, 1, 2, dtype=dtype).tolist() == [number(0), number(1)]
    assert ts.eye(1, 2, dtype=dtype).tolist() == [[number(1), number(0)]]


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(-7, 7))
def test_arange_of_floats_has_the_length_of_numpy(start: float, stop: float, step: float) -> None:
    assume(abs(step) > 0.05)
    expected = np.arange(start, stop, step)
    found = ts.arange(start, stop, step, dtype=ts.float64)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 60), st.booleans())
def test_linspace_is_that_of_numpy(start: float, stop: float, num: int, endpoint: bool) -> None:
    expected = np.linspace(start, stop, num, endpoint=endpoint)
    found = ts.linspace(start, stop, num, endpoint=endpoint, dtype=ts.float64)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)
    if num > 1 and endpoint:
        assert listed(found)[0] == start and listed(found)[-1] == stop


@given(st.complex_numbers(max_magnitude=1e6), st.complex_numbers(max_magnitude=1e6),
       st.integers(0, 60), st.booleans())  # fmt: skip
def test_linspace_of_complex_numbers_is_that_of_numpy(
    start: complex, stop: complex, num: int, endpoint: bool
) -> None:
    want = np.linspace(start, stop, num, endpoint=endpoint)
    found = ts.linspace(start, stop, num, endpoint=endpoint, dtype=ts.complex128)
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-9, atol=1e-9)
    assert ts.linspace(0, 1j, 3).dtype is ts.complex64


@given(st.floats(allow_nan=False, allow_infinity=False),
       st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 60))  # fmt: skip
def test_linspace_keeps_its_ends_and_is_a_part_of_a_longer_one(
    start: float, stop: float, num: int
) -> None:
    longer = ts.linspace(start, stop, num + 1, dtype=ts.float64)
    part = ts.linspace(start, stop, num, dtype=ts.float64, endpoint=False)
    assert listed(part) == listed(longer)[:-1]
    assert listed(longer)[0] == start and listed(longer)[-1] == stop
    assert bool(ts.all(ts.isfinite(longer)))


def test_linspace_between_ends_whose_difference_overflows() -> None:
    most = ts.finfo(ts.float64).max
    for start, stop in ((-most, most), (complex(-most, most), complex(most, -most))):
        found = ts.linspace(start, stop, 3, dtype=ts.complex128).tolist()
        assert found == [start, 0, stop]


def test_linspace_of_integers_keeps_its_ends_exactly() -> None:
    start, stop = (1 << 62) + 1, (1 << 63) - 1
    assert ts.linspace(start, stop, 2, dtype=ts.int64).tolist() == [start, stop]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_counting_is_the_same_at_any_number_of_threads(threads: int) -> None:
    with ts.num_threads(threads):
        x, y = ts.arange(1_000_000, dtype=ts.float32), ts.linspace(-1, 1, 999_999, dtype=ts.float64)
    assert np.array_equal(x.numpy(), np.arange(1_000_000, dtype=np.float32))
    with ts.num_threads(1):
        assert np.array_equal(y.numpy(), ts.linspace(-1, 1, 999_999, dtype=ts.float64).numpy())


FAR = st.integers(-8, 8) | st.sampled_from([-(10**30), -(1 << 63), (1 << 63) - 1, 10**30])


@given(st.integers(0, 6), st.none() | st.integers(0, 6), FAR)
def test_eye_and_triangles_are_those_of_numpy(rows: int, columns: int | None, k: int) -> None:
    near = max(-9, min(k, 9))  # NumPy takes no offsets beyond 64 bits
    assert ts.eye(rows, columns, k=k).tolist() == np.eye(rows, columns, k=near).tolist()
    x = ts.arange(1, 1 + 2 * rows * (columns or 1)).reshape(2, rows, columns or 1)
    assert ts.tril(x, k=k).tolist() == np.tril(x.numpy(), near).tolist()
    assert ts.triu(x, k=k).tolist() == np.triu(x.numpy(), near).tolist()


# --- from lists -----------------------------------------------------------------------------------

nested = st.recursive(
    st.integers(-9, 9), lambda s: st.lists(s, min_size=2, max_size=2), max_leaves=9
)


@given(nested, st.booleans())
def test_nested_lists_become_tensors_or_are_refused(values: Any, tuples: bool) -> None:
    try:
        expected = np.array(values, dtype=np.int64)
    except ValueError:
        with pytest.raises(ts.errors.ShapeError, match="tensor: "):
            ts.tensor(values)
        return
    given_values = tuple(values) if tuples and isinstance(values, list) else values
    found = ts.tensor(given_values)
    assert found.shape == expected.shape and found.tolist() == expected.tolist()


def test_a_tensor_is_always_a_copy() -> None:
    x = ts.arange(3)
    array = np.arange(3)
    for source in (x, array):
        made = ts.tensor(source)
        made[0] = 9
        assert source[0] == 0
    assert ts.tensor(x, dtype=ts.float64).dtype is ts.float64


# --- errors ---------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "ragged": (lambda: ts.tensor([[1, 2], [3]]), ValueError,
               "differ in length at depth 1: 2 and 1"),
    "depth": (lambda: ts.tensor([[1], 2]), ValueError, "numbers and lists stand side by side"),
    "text": (lambda: ts.tensor(["1"]), TypeError, "data must be numbers in nested lists"),
    "none": (lambda: ts.tensor(None), TypeError, "got NoneType"),
    "too large": (lambda: ts.tensor([300], dtype=ts.int8), ValueError, "300 does not fit int8"),
    "float": (lambda: ts.tensor([0.5], dtype=ts.int64), ValueError, "0.5 does not fit int64"),
    "nan": (lambda: ts.full((2,), math.nan, dtype=ts.int32), ValueError, "nan does not fit int32"),
    "negative": (lambda: ts.zeros(2, -1), ValueError, "-1"),
    "float size": (lambda: ts.zeros(2.0), TypeError,  # type: ignore[call-overload]
                   "shape must be an integer or a tuple of integers, got float"),
    "bool size": (lambda: ts.zeros(True), TypeError, "tuple of integers, got bool"),
    "nested size": (lambda: ts.zeros((2, (3,))), TypeError,  # type: ignore[arg-type]
                    "shape must be an integer, got tuple"),
    "no shape": (lambda: ts.zeros(), TypeError, "zeros: missing argument shape"),
    "two shapes": (lambda: ts.zeros(2, (3,)), TypeError,  # type: ignore[call-overload]
                   "zeros: 2 arguments given, 1 taken"),
    "value": (lambda: ts.full((2,), "7"), TypeError,  # type: ignore[arg-type]
              "full: fill_value must be a number, got str"),
    "device": (lambda: ts.ones(2, device="gpu"), ValueError, "ones: device is 'gpu'"),
    "memory": (lambda: ts.zeros(1 << 50), MemoryError, r"zeros: needs 4\.0 PiB for .*; limit"),
    "step": (lambda: ts.arange(0, 3, 0), ValueError, "arange: step is 0"),
    "nan step": (lambda: ts.arange(0, 3, math.nan), ValueError, "arange: step is nan"),
    "endless": (lambda: ts.arange(math.inf), ValueError, "arange: stop is inf"),
    "overflow": (lambda: ts.arange(-1e308, 1e308, 1e-300), OverflowError,
                 "arange: the number of elements is inf"),
    "too wide": (lambda: ts.arange(1 << 70), OverflowError, "stop is 1180591620717411303424"),
    "complex": (lambda: ts.arange(3j), TypeError, "stop must be a real number, got complex"),
    "long": (lambda: ts.arange(0, 1 << 50), MemoryError, "arange: needs"),
    "outside": (lambda: ts.arange(300, dtype=ts.int8), ValueError, "299 does not fit int8"),
    "no count": (lambda: ts.linspace(0, 1, 2.5), TypeError, "num must be an integer"),  # type: ignore[arg-type]
    "imaginary": (lambda: ts.linspace(0, 1j, 3, dtype=ts.float32), TypeError,
                  "linspace: complex64 to float32 would drop imaginary parts"),
    "far end": (lambda: ts.linspace(0, 300, 3, dtype=ts.int8), ValueError, "300 does not fit int8"),
    "less than none": (lambda: ts.linspace(0, 1, -1), ValueError, "linspace: .*-1"),
    "no square": (lambda: ts.tril(ts.ones(3)), ValueError, "x.ndim is 1"),
    "values": (lambda: ts.from_data(3, (1,)), TypeError, "values must be a list of numbers"),
    "far": (lambda: ts.tensor([1], device="gpu"), ValueError, "tensor: device is 'gpu'"),
    "gradient": (lambda: ts.ones(2, dtype=ts.int64, requires_grad=True), TypeError,
                 "int64 tensors have no gradients"),
    "flat": (lambda: ts.from_data([1, 2, 3], (2, 2)), ValueError,
             r"cannot reshape \(3,\) into \(2, 2\)"),
    "dtype": (lambda: ts.zeros(2, dtype="float99"), TypeError, "dtype must be a Tessella dtype"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_bad_arguments_say_what_is_wrong(name: str) -> None:
    call, base, text = ERRORS[name]
    with pytest.raises(base, match=text) as caught:
        call()
    assert isinstance(caught.value, ts.errors.TessellaError)


def test_lists_nested_beyond_64_are_refused() -> None:
    values: Any = 1
    for _ in range(70):
        values = [values]
    with pytest.raises(ts.errors.InvalidArgument, match="at most 64"):
        ts.tensor(values)
    values.append(values)
    values[0] = values
    with pytest.raises(ts.errors.TessellaError, match="tensor: "):
        ts.tensor(values)
