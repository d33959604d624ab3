"""The special cases of the array API standard for complex numbers, as tables.

A row has the conditions of the real and the imaginary part, and both parts of the result. The
standard states the upper half plane; the lower one follows from f(conj(z)) = conj(f(z)), which is
tested for every sample, as are odd and even functions and those that are others of i z.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tessella as ts
from nested import listed
from tessella.dtypes import DType
from test_standard_special_cases import (
    ANGLES,
    CONDITIONS,
    INF,
    NAN,
    is_negative,
    is_result,
    samples,
)

COMPLEX = [ts.complex64, ts.complex128]
PARTS = {ts.complex64: ts.float32, ts.complex128: ts.float64}
Row = tuple[str, str, str, str]

UNARY: dict[str, list[Row]] = {
    "acos": [
        ("±0", "0", "π/2", "-0"), ("±0", "nan", "π/2", "nan"), ("finite", "inf", "π/2", "-inf"),
        ("nonzero", "nan", "nan", "nan"), ("-inf", "positive", "π", "-inf"),
        ("inf", "positive", "0", "-inf"), ("-inf", "inf", "3π/4", "-inf"),
        ("inf", "inf", "π/4", "-inf"), ("±inf", "nan", "nan", "±inf"),
        ("nan", "finite", "nan", "nan"), ("nan", "inf", "nan", "-inf"),
        ("nan", "nan", "nan", "nan"),
    ],
    "acosh": [
        ("±0", "0", "0", "π/2"), ("finite", "inf", "inf", "π/2"), ("nonzero", "nan", "nan", "nan"),
        ("0", "nan", "nan", "±π/2"), ("-inf", "positive", "inf", "π"),
        ("inf", "positive", "inf", "0"), ("-inf", "inf", "inf", "3π/4"),
        ("inf", "inf", "inf", "π/4"), ("±inf", "nan", "inf", "nan"),
        ("nan", "finite", "nan", "nan"),
        ("nan", "inf", "inf", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "asinh": [
        ("0", "0", "0", "0"), ("positive", "inf", "inf", "π/2"), ("finite", "nan", "nan", "nan"),
        ("inf", "positive", "inf", "0"), ("inf", "inf", "inf", "π/4"), ("inf", "nan", "inf", "nan"),
        ("nan", "0", "nan", "0"), ("nan", "nonzero", "nan", "nan"), ("nan", "inf", "±inf", "nan"),
        ("nan", "nan", "nan", "nan"),
    ],
    "atanh": [
        ("0", "0", "0", "0"), ("0", "nan", "0", "nan"), ("1", "0", "inf", "0"),
        ("positive", "inf", "0", "π/2"), ("nonzero", "nan", "nan", "nan"),
        ("inf", "positive", "0", "π/2"), ("inf", "inf", "0", "π/2"), ("inf", "nan", "0", "nan"),
        ("nan", "finite", "nan", "nan"), ("nan", "inf", "±0", "π/2"), ("nan", "nan", "nan", "nan"),
    ],
    "cosh": [
        ("0", "0", "1", "0"), ("0", "inf", "nan", "±0"), ("0", "nan", "nan", "±0"),
        ("nonzero", "inf", "nan", "nan"), ("nonzero", "nan", "nan", "nan"),
        ("inf", "0", "inf", "0"), ("inf", "nonzero", "inf cos", "inf sin"),
        ("inf", "inf", "±inf", "nan"), ("inf", "nan", "inf", "nan"), ("nan", "±0", "nan", "±0"),
        ("nan", "nonzero", "nan", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "exp": [
        ("±0", "0", "1", "0"), ("finite", "inf", "nan", "nan"), ("finite", "nan", "nan", "nan"),
        ("inf", "0", "inf", "0"), ("-inf", "finite", "0 cos", "0 sin"),
        ("inf", "nonzero", "inf cos", "inf sin"), ("-inf", "inf", "±0", "±0"),
        ("inf", "inf", "±inf", "nan"), ("-inf", "nan", "±0", "±0"), ("inf", "nan", "±inf", "nan"),
        ("nan", "0", "nan", "0"), ("nan", "not 0", "nan", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "expm1": [
        ("±0", "0", "±0", "0"), ("finite", "inf", "nan", "nan"), ("finite", "nan", "nan", "nan"),
        ("inf", "0", "inf", "0"), ("-inf", "finite", "-1", "0 sin"),
        ("inf", "nonzero", "inf cos", "inf sin"), ("-inf", "inf", "-1", "±0"),
        ("inf", "inf", "±inf", "nan"), ("-inf", "nan", "-1", "±0"), ("inf", "nan", "±inf", "nan"),
        ("nan", "0", "nan", "0"), ("nan", "not 0", "nan", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "log": [
        ("-0", "0", "-inf", "π"), ("0", "0", "-inf", "0"), ("finite", "inf", "inf", "π/2"),
        ("finite", "nan", "nan", "nan"), ("-inf", "positive", "inf", "π"),
        ("inf", "positive", "inf", "0"), ("-inf", "inf", "inf", "3π/4"),
        ("inf", "inf", "inf", "π/4"), ("±inf", "nan", "inf", "nan"),
        ("nan", "finite", "nan", "nan"),
        ("nan", "inf", "inf", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "log1p": [
        ("-1", "0", "-inf", "0"), ("finite", "inf", "inf", "π/2"), ("finite", "nan", "nan", "nan"),
        ("-inf", "positive", "inf", "π"), ("inf", "positive", "inf", "0"),
        ("-inf", "inf", "inf", "3π/4"), ("inf", "inf", "inf", "π/4"), ("±inf", "nan", "inf", "nan"),
        ("nan", "finite", "nan", "nan"), ("nan", "inf", "inf", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "sinh": [
        ("0", "0", "0", "0"), ("0", "inf", "±0", "nan"), ("0", "nan", "±0", "nan"),
        ("positive", "inf", "nan", "nan"), ("positive", "nan", "nan", "nan"),
        ("inf", "0", "inf", "0"), ("inf", "positive", "inf cos", "inf sin"),
        ("inf", "inf", "±inf", "nan"), ("inf", "nan", "±inf", "nan"), ("nan", "0", "nan", "0"),
        ("nan", "nonzero", "nan", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "sqrt": [
        ("±0", "0", "0", "0"), ("any", "inf", "inf", "inf"), ("finite", "nan", "nan", "nan"),
        ("-inf", "positive", "0", "inf"), ("inf", "positive", "inf", "0"),
        ("-inf", "nan", "nan", "±inf"), ("inf", "nan", "inf", "nan"),
        ("nan", "finite", "nan", "nan"),
        ("nan", "nan", "nan", "nan"),
    ],
    "tanh": [
        ("0", "0", "0", "0"), ("nonzero", "inf", "nan", "nan"), ("0", "inf", "0", "nan"),
        ("nonzero", "nan", "nan", "nan"), ("0", "nan", "0", "nan"), ("inf", "positive", "1", "±0"),
        ("inf", "inf", "1", "±0"), ("inf", "nan", "1", "±0"), ("nan", "0", "nan", "0"),
        ("nan", "not 0", "nan", "nan"), ("nan", "nan", "nan", "nan"),
    ],
    "sign": [("±0", "±0", "0", "0"), ("nan", "any", "nan", "nan"), ("any", "nan", "nan", "nan")],
}  # fmt: skip
ODD = ("sinh", "tanh", "asinh", "atanh", "sin", "tan", "asin", "atan")
EVEN = ("cosh", "cos")
# Trigonometric functions and the hyperbolic ones that they are of i z, divided by i but for cos.
TURNED = {"sin": "sinh", "cos": "cosh", "tan": "tanh", "asin": "asinh", "atan": "atanh"}
BASES = {"log2": math.log(2), "log10": math.log(10)}


def part_samples(dtype: DType) -> list[float]:
    """Give the numbers that parts of complex numbers are drawn from."""
    return samples(PARTS[dtype])


def plane(dtype: DType, first: str = "any", second: str = "any") -> list[tuple[float, float]]:
    """Give the parts of all samples that fulfil two conditions."""
    every = itertools.product(part_samples(dtype), repeat=2)
    return [(a, b) for a, b in every if CONDITIONS[first](a) and CONDITIONS[second](b)]


def tensor_of(parts: list[tuple[float, float]], dtype: DType) -> ts.Tensor:
    """Make a complex tensor of pairs of parts."""
    return ts.tensor([complex(*pair) for pair in parts], dtype=dtype)


def is_part(found: float, want: str, parts: tuple[float, float], dtype: DType) -> bool:
    """Tell whether a part of a result is what a row says."""
    size, _, turn = want.partition(" ")
    if turn:  # infinity or zero with the sign of the sine or cosine of the imaginary part
        sign = (math.sin if turn == "sin" else math.cos)(parts[1])
        exact = math.copysign(float(size), sign) if sign or turn == "sin" else 0.0
        return found == exact and is_negative(found) == is_negative(exact)
    if want.startswith("±"):
        want = want[1:]
        found = -found if want in ANGLES and found < 0 else abs(found)
    return is_result(found, want, (found,), PARTS[dtype])


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_function(name: str, dtype: DType) -> None:
    for first, second, re, im in UNARY[name]:
        rows = plane(dtype, first, second)
        assert rows
        results = getattr(ts, name)(tensor_of(rows, dtype)).tolist()
        for parts, found in zip(rows, results, strict=True):
            good = is_part(found.real, re, parts, dtype) and is_part(found.imag, im, parts, dtype)
            assert good, f"{name}{parts} is {found}, not {re} and {im}"


def parts_of(x: ts.Tensor) -> np.ndarray[Any, Any]:
    """Give the parts of a complex tensor in a new first axis."""
    array = x.numpy()
    return np.stack([array.real, array.imag])


def assert_same_parts(x: ts.Tensor, y: np.ndarray[Any, Any]) -> None:
    """Compare bits; NaN equals NaN."""
    found = parts_of(x)
    same = (found == y) & (np.signbit(found) == np.signbit(y)) | np.isnan(found) & np.isnan(y)
    assert same.all(), (np.argwhere(~same)[:3], found[~same][:3], y[~same][:3])


def freed(want: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Give parts beside a NaN the sign that was found: the standard leaves it open."""
    return np.where(np.isnan(want[::-1]), np.copysign(want, found), want)


FUNCTIONS = [*UNARY, *TURNED, *BASES]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_conjugates_have_conjugate_results(name: str, dtype: DType) -> None:
    f, rows = getattr(ts, name), plane(dtype)
    rows = [(a, b) for a, b in rows if name != "sign" or b != 0]  # 0 for every zero
    want = parts_of(f(tensor_of(rows, dtype))) * [[1], [-1]]
    below = f(tensor_of([(a, -b) for a, b in rows], dtype))
    assert_same_parts(below, freed(want, parts_of(below)))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", [*ODD, *EVEN])
def test_opposites_have_opposite_or_equal_results(name: str, dtype: DType) -> None:
    f, rows = getattr(ts, name), plane(dtype)
    want = parts_of(f(tensor_of(rows, dtype))) * (-1 if name in ODD else 1)
    found = f(tensor_of([(-a, -b) for a, b in rows], dtype))
    assert_same_parts(found, freed(want, parts_of(found)))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", TURNED)
def test_trigonometric_functions_are_hyperbolic_ones_of_a_turned_plane(
    name: str, dtype: DType
) -> None:
    rows = plane(dtype)
    turned = getattr(ts, TURNED[name])(tensor_of([(-b, a) for a, b in rows], dtype))
    re, im = parts_of(turned)
    want = np.stack([re, im]) if name == "cos" else np.stack([im, -re])
    assert_same_parts(getattr(ts, name)(tensor_of(rows, dtype)), want)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", BASES)
def test_logarithms_to_other_bases_are_natural_ones_scaled(name: str, dtype: DType) -> None:
    x = tensor_of(plane(dtype), dtype)
    found = parts_of(getattr(ts, name)(x))
    want = parts_of(ts.log(x.astype(ts.complex128))) / BASES[name]
    limits = ts.finfo(dtype)
    least = limits.eps * limits.smallest_normal
    np.testing.assert_allclose(found, want, rtol=8 * limits.eps, atol=least)
    assert np.array_equal(np.signbit(found[1]), np.signbit(want[1]))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_abs(dtype: DType) -> None:
    rows = plane(dtype)
    found = ts.abs(tensor_of(rows, dtype))
    assert found.dtype is PARTS[dtype]
    for (a, b), size in zip(rows, listed(found), strict=True):
        if math.isinf(a) or math.isinf(b):
            assert size == INF
        elif math.isnan(a) or math.isnan(b):
            assert math.isnan(size)
        elif a == 0 or b == 0:
            assert size == max(abs(a), abs(b))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_questions(dtype: DType) -> None:
    rows = plane(dtype)
    x = tensor_of(rows, dtype)
    assert ts.isnan(x).tolist() == [any(map(math.isnan, row)) for row in rows]
    assert ts.isinf(x).tolist() == [any(map(math.isinf, row)) for row in rows]
    assert ts.isfinite(x).tolist() == [all(map(math.isfinite, row)) for row in rows]
    assert ts.equal(x, x).tolist() == [not any(map(math.isnan, row)) for row in rows]
    assert ts.not_equal(x, x).tolist() == [any(map(math.isnan, row)) for row in rows]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_what_acts_on_the_parts_apart(dtype: DType) -> None:
    rows = plane(dtype)
    x, parts = tensor_of(rows, dtype), np.array(rows, "float64").T
    assert_same_parts(ts.negative(x), -parts.astype(PARTS[dtype].name))
    assert_same_parts(ts.conj(x), (parts * [[1], [-1]]).astype(PARTS[dtype].name))
    assert_same_parts(ts.round(x), np.round(parts).astype(PARTS[dtype].name))
    turned = np.roll(parts, 7, axis=1).astype(PARTS[dtype].name)
    other = tensor_of(list(zip(*turned.tolist(), strict=True)), dtype)
    with np.errstate(all="ignore"):
        assert_same_parts(x + other, parts.astype(PARTS[dtype].name) + turned)
        assert_same_parts(x - other, parts.astype(PARTS[dtype].name) - turned)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_nothing_comes_of_nan(dtype: DType) -> None:
    nan = ts.full((3,), complex(NAN, NAN), dtype=dtype)
    for found in (nan * nan, nan / nan, ts.square(nan), ts.reciprocal(nan), nan**nan):
        assert np.isnan(parts_of(found)).all()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_square_and_reciprocal_are_products_and_quotients(dtype: DType) -> None:
    x = tensor_of(plane(dtype), dtype)
    assert_same_parts(ts.square(x), parts_of(x * x))
    assert_same_parts(ts.reciprocal(x), parts_of(1.0 / x))
