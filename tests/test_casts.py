"""Conversions between all dtypes: against NumPy where it defines them, and by the rules elsewhere.

Integers wrap to narrower ones; floats to integers truncate and saturate, NaN becomes 0; to bool,
what is not zero is true; every float result is rounded once, to nearest even.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts
from conftest import sampled
from nested import listed
from tessella.dtypes import DTYPES, DType

Array = np.ndarray[Any, Any]
NAMES = [dtype.name for dtype in DTYPES if dtype is not ts.bfloat16]
INTEGERS = [dtype for dtype in DTYPES if dtype.is_integer]


def samples(name: str) -> Array:
    """Give values that every dtype of a kind can be asked to convert, dense at the borders."""
    dtype = np.dtype(name)
    if name == "bool":
        return np.array([False, True] * 9)
    small = np.arange(-140, 300)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [int(info.min), int(info.min) + 1, int(info.max) - 1, int(info.max)]
        inside = [v for v in small.tolist() if info.min <= v <= info.max]
        return np.array([*inside, *edges], dtype=dtype)
    with np.errstate(over="ignore"):
        floats = np.concatenate(
            [small / 4, 10.0 ** np.arange(-45, 39), -(2.0 ** np.arange(0, 70, 3))]
        )
        return floats.astype(dtype)


def saturated(array: Array, dtype: DType) -> list[int]:
    """Truncate floats exactly, in Python, and keep them within an integer dtype."""
    low, high = int(dtype.lowest), int(dtype.highest)

    def convert(value: float) -> int:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)

    return [convert(float(value)) for value in array]


def reference(array: Array, target: DType) -> list[Any]:
    """Give what a conversion must give."""
    if array.dtype.kind == "f" and target.is_integer:
        return saturated(array, target)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(target.name).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_each_pair_of_dtypes_converts_like_numpy(source: str, target: str) -> None:
    array, kind = samples(source), ts.dtypes.as_dtype(target)
    x = ts.from_numpy(array)
    if x.dtype.is_complex and not kind.is_complex:
        with pytest.raises(ts.errors.DTypeMismatch, match="would drop imaginary parts"):
            x.astype(kind)
        return
    expected = reference(array, kind)
    assert x.astype(kind).tolist() == expected
    spaced = ts.from_numpy(np.repeat(array, 3))[1::3]
    assert spaced.astype(kind).tolist() == expected


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_floats_saturate_and_nan_becomes_zero(source: str, target: DType) -> None:
    edges = [float(target.lowest), float(target.highest)]
    values = [math.nan, math.inf, -math.inf, 1e30, -1e30, -0.0, 0.99, -0.99, *edges]
    values += [math.nextafter(e, t) for e in edges for t in (-math.inf, math.inf)]
    x = ts.tensor(values * 5, dtype=ts.float64).astype(source)
    assert x.astype(target).tolist() == saturated(np.array(x.tolist()), target)


@given(st.lists(st.floats(width=64), min_size=1, max_size=40), st.sampled_from(INTEGERS))
def test_any_float64_converts_to_any_integer(values: list[float], target: DType) -> None:
    x = ts.tensor(values, dtype=ts.float64)
    assert x.astype(target).tolist() == saturated(np.array(values), target)


@pytest.mark.parametrize(
    "source", [d for d in DTYPES if d is not ts.bool and not d.is_complex], ids=str
)
def test_what_is_not_zero_is_true(source: DType) -> None:
    values: list[Any] = [0, 1, 2, 0, 100]
    if not source.is_integer:
        values += [math.nan, math.inf, 5e-8 if source is ts.float16 else 1e-40, -0.0]
    x = ts.tensor(values, dtype=source)
    assert x.astype(ts.bool).tolist() == [v != 0 for v in values]


def test_complex_numbers_are_compared_with_zero_and_not_converted_to_bool() -> None:
    x = ts.tensor([0j, 1j, complex(0, math.nan)])
    with pytest.raises(ts.errors.DTypeMismatch, match="would drop imaginary parts"):
        x.astype(ts.bool)
    assert (x != 0).tolist() == [False, True, True]


# --- halves ---------------------------------------------------------------------------------------


def test_every_float16_converts_exactly_and_back() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = ts.from_numpy(every)
    for wide in ("float32", "float64"):
        found = x.astype(wide)
        assert np.array_equal(found.numpy(), every.astype(wide), equal_nan=True)
        back = found.astype(ts.float16).numpy()
        finite = ~np.isnan(every)
        assert np.array_equal(back.view(np.uint16)[finite], every.view(np.uint16)[finite])
        assert np.isnan(back[~finite]).all()


def borders(wide: type) -> Array:
    """Give each float16, the middle to the next, and the neighbours of both."""
    halves: Array = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(wide)
    middles = (halves[:-1] + halves[1:]) / 2
    top = wide(65520.0)  # from here on it rounds to infinity
    exact: Array = np.concatenate([halves, middles, [top]]).astype(wide)
    near = [exact, np.nextafter(exact, wide(np.inf)), np.nextafter(exact, wide(-np.inf))]
    return np.concatenate([*near, *(-a for a in near)])


@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_floats_round_once_to_float16_at_every_border(wide: str) -> None:
    array = borders(np.dtype(wide).type)
    found = ts.from_numpy(array).astype(ts.float16).numpy()
    with np.errstate(over="ignore"):
        expected = array.astype(np.float16)
    assert np.array_equal(found.view(np.uint16), expected.view(np.uint16))


def to_bfloat16(value: float) -> float:
    """Round to 8 significant bits, to nearest even, in exact arithmetic."""
    if value == 0 or not math.isfinite(value):
        return value
    if abs(value) >= 2.0**128:
        return math.copysign(math.inf, value)
    exponent = max(math.frexp(value)[1] - 8, -133)  # 2**-133 is the smallest subnormal
    rounded = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
    return math.copysign(rounded if abs(rounded) < 2.0**128 else math.inf, value)


def same(found: list[float], expected: list[float]) -> bool:
    """Compare values and signs; NaN equals NaN."""
    return all(
        (math.isnan(f) and math.isnan(e)) or (f == e and math.copysign(1, f) == math.copysign(1, e))
        for f, e in zip(found, expected, strict=True)
    )


@given(st.lists(st.floats(), min_size=1, max_size=50))
def test_float64_rounds_once_to_bfloat16(values: list[float]) -> None:
    x = ts.tensor(values, dtype=ts.float64)
    assert same(listed(x.astype(ts.bfloat16)), [to_bfloat16(v) for v in values])


def test_float64_rounds_once_beside_the_middle_of_two_bfloat16() -> None:
    # A first rounding to float32 would give the middle, and the second the even neighbour.
    middles = [1 + (2 * i + 1) / 256 for i in range(128)]
    values = [m * s + d * 2.0**-40 for m in middles for s in (1, -1) for d in (-1, 0, 1)]
    x = ts.tensor(values, dtype=ts.float64)
    assert x.astype(ts.bfloat16).tolist() == [to_bfloat16(v) for v in values]


def test_every_bfloat16_converts_exactly_and_back() -> None:
    words = np.arange(1 << 16, dtype=np.uint32) << 16
    every = words.view(np.float32)
    halves = ts.from_numpy(every).astype(ts.bfloat16)
    back = halves.astype(ts.float32).numpy()
    finite = ~np.isnan(every)
    assert np.array_equal(back.view(np.uint32)[finite], words[finite])
    assert np.isnan(back[~finite]).all()
    with np.errstate(invalid="ignore"):  # NumPy warns of signalling NaNs
        wide = every.astype(np.float64)
    assert np.array_equal(halves.astype(ts.float64).numpy(), wide, equal_nan=True)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=40))
def test_int64_rounds_once_to_every_float(values: list[int]) -> None:
    x = ts.tensor(values)
    array = np.array(values)
    assert x.astype(ts.float32).tolist() == array.astype(np.float32).tolist()
    assert x.astype(ts.float64).tolist() == array.astype(np.float64).tolist()
    assert x.astype(ts.bfloat16).tolist() == [exact_bfloat16(v) for v in values]


@given(st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=40))
def test_uint64_rounds_once_to_every_float(values: list[int]) -> None:
    x = ts.tensor(values, dtype=ts.uint64)
    array = np.array(values, dtype=np.uint64)
    assert x.astype(ts.float32).tolist() == array.astype(np.float32).tolist()
    assert x.astype(ts.bfloat16).tolist() == [exact_bfloat16(v) for v in values]


def exact_bfloat16(value: int) -> float:
    """Round an integer to 8 significant bits, to nearest even."""
    shift = max(abs(value).bit_length() - 8, 0)
    kept, lost = abs(value) >> shift, abs(value) & ((1 << shift) - 1)
    half = (1 << shift) >> 1
    kept += int(lost > half or (lost == half and shift > 0 and kept & 1 == 1))
    return math.copysign(float(kept << shift), value)


@pytest.mark.parametrize("source", ["int64", "uint64"])
def test_integers_beside_the_middle_of_two_bfloat16_round_once(source: str) -> None:
    # 2**40 + half a step + 1: float32 would lose the 1, and then round to even.
    values = [(1 << 40) * (129 + 2 * i) + (1 << 39) + d for i in range(60) for d in (-1, 0, 1)]
    x = ts.tensor(values, dtype=source)
    assert x.astype(ts.bfloat16).tolist() == [exact_bfloat16(v) for v in values]


@given(st.lists(st.integers(-70_000, 70_000), min_size=1, max_size=40))
def test_integers_convert_to_float16_like_numpy(values: list[int]) -> None:
    with np.errstate(over="ignore"):
        expected = np.array(values).astype(np.float16)
    assert ts.tensor(values).astype(ts.float16).tolist() == expected.tolist()


def test_every_float32_converts_to_float16_like_numpy() -> None:
    step = 1 << 20
    for start in sampled(range(0, 1 << 32, step), 24):  # all of them in make proof
        words = np.arange(start, start + step, dtype=np.uint64).astype(np.uint32)
        array = words.view(np.float32)
        with np.errstate(over="ignore"):
            expected = array.astype(np.float16)
        found = ts.from_numpy(array).astype(ts.float16).numpy()
        assert np.array_equal(found, expected, equal_nan=True)
        assert np.array_equal(np.signbit(found), np.signbit(expected)) or np.isnan(array).any()


# --- copies and errors ----------------------------------------------------------------------------


def test_a_conversion_copies_unless_told_otherwise() -> None:
    x = ts.arange(3)
    assert x.astype(ts.int64).data_ptr != x.data_ptr
    assert x.astype(ts.int64, copy=False).data_ptr == x.data_ptr
    assert x.astype(ts.int32, copy=False).data_ptr != x.data_ptr


@pytest.mark.parametrize("bad", ["float33", 3, None, len, "f4", np.dtype("M8[s]")], ids=repr)
def test_what_names_no_dtype_is_refused(bad: Any) -> None:
    with pytest.raises(ts.errors.ArgumentError, match="dtype must be a Tessella dtype, got"):
        ts.zeros(2).astype(bad)
