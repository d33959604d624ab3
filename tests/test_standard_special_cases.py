"""The special cases of the array API standard for real numbers, as tables: condition, result.

Every sample that fulfils the conditions is tried, in all four floating dtypes, by the function, its
operator and its in-place operator. Complex numbers are in test_standard_complex_cases.py.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessella as ts
from cases import held_as, round_to, to_array, to_tensor
from tessella.dtypes import DType

FLOATS = [ts.float16, ts.bfloat16, ts.float32, ts.float64]
NAN, INF, PI = math.nan, math.inf, math.pi


def samples(dtype: DType) -> list[float]:
    """Give numbers of a dtype: zeros, the least and greatest, wholes, fractions, inf, NaN."""
    limits = ts.finfo(dtype)
    least = limits.smallest_normal * limits.eps  # the least subnormal number
    sizes = [0.0, least, 3 * least, limits.smallest_normal, limits.eps, 0.25, 0.5,
             1 - limits.eps, 1.0, 1 + limits.eps, 1.5, 2.0, 2.5, 3.0, 4.0, 7.0, 100.0,
             limits.max / 2, limits.max, INF]  # fmt: skip
    return [NAN, *sizes, *(-x for x in sizes)]


def is_odd(x: float) -> bool:
    """Tell whether a number is an odd integer."""
    return math.isfinite(x) and x == math.floor(x) and x % 2 == 1


def is_negative(x: float) -> bool:
    """Tell whether the sign bit is set."""
    return math.copysign(1, x) < 0


CONDITIONS: dict[str, Callable[[float], bool]] = {
    "any": lambda x: True,
    "nan": math.isnan,
    "not nan": lambda x: not math.isnan(x),
    "0": lambda x: x == 0 and not is_negative(x),
    "-0": lambda x: x == 0 and is_negative(x),
    "±0": lambda x: x == 0,
    "not 0": lambda x: x != 0,
    "inf": lambda x: x == INF,
    "-inf": lambda x: x == -INF,
    "±inf": math.isinf,
    "finite": math.isfinite,
    "nonzero": lambda x: math.isfinite(x) and x != 0,
    "positive": lambda x: 0 < x < INF,
    "negative": lambda x: -INF < x < 0,
    "1": lambda x: x == 1,
    "-1": lambda x: x == -1,
    "not 1": lambda x: x != 1,
    "> 0": lambda x: x > 0,
    "< 0": lambda x: x < 0,
    "> 1": lambda x: x > 1,
    "< 1": lambda x: x < 1,
    "< -1": lambda x: x < -1,
    "|x| > 1": lambda x: abs(x) > 1,
    "|x| = 1": lambda x: abs(x) == 1,
    "|x| < 1": lambda x: abs(x) < 1,
    "whole": lambda x: math.isfinite(x) and x == math.floor(x),
    "not whole": lambda x: math.isfinite(x) and x != math.floor(x),
    "half": lambda x: math.isfinite(x) and abs(x) % 1 == 0.5,
    "odd > 0": lambda x: x > 0 and is_odd(x),
    "odd < 0": lambda x: x < 0 and is_odd(x),
    "not odd > 0": lambda x: x > 0 and not is_odd(x),
    "not odd < 0": lambda x: x < 0 and not is_odd(x),
}

NUMBERS = {"0": 0.0, "-0": -0.0, "1": 1.0, "-1": -1.0, "inf": INF, "-inf": -INF, "nan": NAN}
ANGLES = {"π": PI, "-π": -PI, "π/2": PI / 2, "-π/2": -PI / 2, "π/4": PI / 4, "-π/4": -PI / 4,
          "3π/4": 3 * PI / 4, "-3π/4": -3 * PI / 4}  # fmt: skip
OF_OPERANDS: dict[str, Callable[..., float]] = {
    "x": lambda x, *_: x,
    "y": lambda x, y: y,
    "|x|": lambda x, *_: abs(x),
    "-|x|": lambda x, *_: -abs(x),
    "|y|": lambda x, y: abs(y),
    "even": lambda x: math.copysign(round(x), x),  # Python rounds halves to even
}
SIGNS = {"has +": False, "has -": True}


def is_result(found: float, want: str, operands: tuple[float, ...], dtype: DType) -> bool:
    """Tell whether a result is what a row of a table says."""
    if want in SIGNS:
        return math.isnan(found) or is_negative(found) == SIGNS[want]
    if want in ANGLES:
        return abs(found - ANGLES[want]) <= 2 * ts.finfo(dtype).eps * abs(ANGLES[want])
    exact = NUMBERS[want] if want in NUMBERS else OF_OPERANDS[want](*operands)
    if math.isnan(exact):
        return math.isnan(found)
    return found == exact and (exact != 0 or is_negative(found) == is_negative(exact))


# --- one operand ---------------------------------------------------------------------------------

ROUNDING = [("inf", "inf"), ("-inf", "-inf"), ("±0", "x"), ("nan", "nan"), ("whole", "x")]
ODD = [("nan", "nan"), ("0", "0"), ("-0", "-0")]
LOGARITHM = [("nan", "nan"), ("< 0", "nan"), ("±0", "-inf"), ("1", "0"), ("inf", "inf")]

UNARY: dict[str, list[tuple[str, str]]] = {
    "abs": [("nan", "nan"), ("-0", "0"), ("-inf", "inf"), ("not nan", "|x|")],
    "acos": [("nan", "nan"), ("> 1", "nan"), ("< -1", "nan"), ("1", "0")],
    "acosh": [("nan", "nan"), ("< 1", "nan"), ("1", "0"), ("inf", "inf")],
    "asin": [*ODD, ("> 1", "nan"), ("< -1", "nan")],
    "asinh": [*ODD, ("inf", "inf"), ("-inf", "-inf")],
    "atan": [*ODD, ("inf", "π/2"), ("-inf", "-π/2")],
    "atanh": [*ODD, ("< -1", "nan"), ("> 1", "nan"), ("-1", "-inf"), ("1", "inf")],
    "ceil": ROUNDING,
    "cos": [("nan", "nan"), ("±0", "1"), ("±inf", "nan")],
    "cosh": [("nan", "nan"), ("±0", "1"), ("±inf", "inf")],
    "exp": [("nan", "nan"), ("±0", "1"), ("inf", "inf"), ("-inf", "0")],
    "expm1": [*ODD, ("inf", "inf"), ("-inf", "-1")],
    "floor": ROUNDING,
    "log": LOGARITHM,
    "log1p": [*ODD, ("< -1", "nan"), ("-1", "-inf"), ("inf", "inf")],
    "log2": LOGARITHM,
    "log10": LOGARITHM,
    "reciprocal": [("nan", "nan"), ("0", "inf"), ("-0", "-inf"), ("inf", "0"), ("-inf", "-0")],
    "round": [*ROUNDING, ("half", "even")],
    "sign": [("< 0", "-1"), ("±0", "0"), ("> 0", "1"), ("nan", "nan")],
    "sin": [*ODD, ("±inf", "nan")],
    "sinh": [*ODD, ("inf", "inf"), ("-inf", "-inf")],
    "sqrt": [*ODD, ("< 0", "nan"), ("inf", "inf"), ("1", "1")],
    "square": [("nan", "nan"), ("±0", "0"), ("±inf", "inf"), ("not nan", "has +")],
    "tan": [*ODD, ("±inf", "nan")],
    "tanh": [*ODD, ("inf", "1"), ("-inf", "-1")],
    "trunc": ROUNDING,
}
TESTS: dict[str, Callable[[float], bool]] = {
    "isfinite": math.isfinite, "isinf": math.isinf, "isnan": math.isnan, "signbit": is_negative,
}  # fmt: skip


def tensor_of(values: list[float], dtype: DType) -> ts.Tensor:
    """Make a tensor of samples, which all are numbers of the dtype."""
    rounded = round_to(np.array(values), dtype)
    assert np.array_equal(rounded.astype("float64"), values, equal_nan=True)
    return to_tensor(rounded.astype(held_as(dtype)), dtype)


def check(name: str, want: str, rows: list[tuple[float, ...]], found: ts.Tensor,
          dtype: DType) -> None:  # fmt: skip
    """Compare the results of all samples that fulfil the conditions of one row."""
    assert found.dtype is dtype and rows
    for operands, value in zip(rows, to_array(found).astype("float64").tolist(), strict=True):
        assert is_result(value, want, operands, dtype), f"{name}{operands} is {value}, not {want}"


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_function(name: str, dtype: DType) -> None:
    for condition, want in UNARY[name]:
        values = [x for x in samples(dtype) if CONDITIONS[condition](x)]
        found = getattr(ts, name)(tensor_of(values, dtype))
        check(name, want, [(x,) for x in values], found, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", TESTS)
def test_question(name: str, dtype: DType) -> None:
    values = samples(dtype)
    found = getattr(ts, name)(tensor_of(values, dtype))
    assert found.dtype is ts.bool and found.tolist() == [TESTS[name](x) for x in values]
    assert getattr(ts, name)(-tensor_of([NAN], dtype)).tolist() == [name in ("isnan", "signbit")]


# --- two operands --------------------------------------------------------------------------------

# A quotient's zeros and infinities: rows of divide and floor_divide.
QUOTIENT = [
    ("nan", "any", "nan"), ("any", "nan", "nan"), ("±inf", "±inf", "nan"), ("±0", "±0", "nan"),
    ("0", "> 0", "0"), ("-0", "> 0", "-0"), ("0", "< 0", "-0"), ("-0", "< 0", "0"),
    ("> 0", "0", "inf"), ("> 0", "-0", "-inf"), ("< 0", "0", "-inf"), ("< 0", "-0", "inf"),
    ("inf", "positive", "inf"), ("inf", "negative", "-inf"), ("-inf", "positive", "-inf"),
    ("-inf", "negative", "inf"), ("positive", "inf", "0"), ("positive", "-inf", "-0"),
    ("negative", "inf", "-0"), ("negative", "-inf", "0"),
    ("positive", "positive", "has +"), ("negative", "negative", "has +"),
    ("positive", "negative", "has -"), ("negative", "positive", "has -"),
]  # fmt: skip
EXTREMUM = [("nan", "any", "nan"), ("any", "nan", "nan")]

BINARY: dict[str, list[tuple[str, str, str]]] = {
    "add": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("inf", "-inf", "nan"),
        ("-inf", "inf", "nan"), ("inf", "inf", "inf"), ("-inf", "-inf", "-inf"),
        ("inf", "finite", "inf"), ("-inf", "finite", "-inf"), ("finite", "inf", "inf"),
        ("finite", "-inf", "-inf"), ("-0", "-0", "-0"), ("-0", "0", "0"), ("0", "-0", "0"),
        ("0", "0", "0"), ("±0", "nonzero", "y"), ("nonzero", "±0", "x"),
    ],
    "subtract": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("inf", "inf", "nan"),
        ("-inf", "-inf", "nan"), ("inf", "finite", "inf"), ("finite", "inf", "-inf"),
        ("-0", "0", "-0"), ("-0", "-0", "0"), ("0", "0", "0"), ("nonzero", "±0", "x"),
    ],
    "atan2": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("> 0", "±0", "π/2"), ("0", "> 0", "0"),
        ("0", "0", "0"), ("0", "-0", "π"), ("0", "< 0", "π"), ("-0", "> 0", "-0"),
        ("-0", "0", "-0"), ("-0", "-0", "-π"), ("-0", "< 0", "-π"), ("< 0", "±0", "-π/2"),
        ("positive", "inf", "0"), ("positive", "-inf", "π"), ("negative", "inf", "-0"),
        ("negative", "-inf", "-π"), ("inf", "finite", "π/2"), ("-inf", "finite", "-π/2"),
        ("inf", "inf", "π/4"), ("inf", "-inf", "3π/4"), ("-inf", "inf", "-π/4"),
        ("-inf", "-inf", "-3π/4"),
    ],
    "copysign": [
        ("not nan", "< 0", "-|x|"), ("not nan", "-0", "-|x|"), ("not nan", "0", "|x|"),
        ("not nan", "> 0", "|x|"), ("nan", "any", "nan"),
    ],
    "divide": QUOTIENT,
    "floor_divide": QUOTIENT,
    "hypot": [
        ("±inf", "any", "inf"), ("any", "±inf", "inf"), ("±0", "not nan", "|y|"),
        ("not nan", "±0", "|x|"), ("finite", "nan", "nan"), ("nan", "finite", "nan"),
        ("nan", "nan", "nan"),
    ],
    "logaddexp": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("inf", "not nan", "inf"),
        ("not nan", "inf", "inf"), ("-inf", "-inf", "-inf"), ("-inf", "nonzero", "y"),
    ],
    "maximum": EXTREMUM,
    "minimum": EXTREMUM,
    "multiply": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("±inf", "±0", "nan"), ("±0", "±inf", "nan"),
        ("> 0", "> 0", "has +"), ("< 0", "< 0", "has +"), ("> 0", "< 0", "has -"),
        ("< 0", "> 0", "has -"), ("inf", "> 0", "inf"), ("inf", "< 0", "-inf"),
        ("< 0", "inf", "-inf"), ("< 0", "-inf", "inf"), ("0", "positive", "0"),
        ("0", "negative", "-0"), ("-0", "negative", "0"), ("positive", "-0", "-0"),
    ],
    "nextafter": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("-0", "0", "0"), ("0", "-0", "-0"),
    ],
    "pow": [
        ("not 1", "nan", "nan"), ("any", "±0", "1"), ("nan", "not 0", "nan"),
        ("|x| > 1", "inf", "inf"), ("|x| > 1", "-inf", "0"), ("|x| = 1", "±inf", "1"),
        ("1", "not nan", "1"), ("|x| < 1", "inf", "0"), ("|x| < 1", "-inf", "inf"),
        ("inf", "> 0", "inf"), ("inf", "< 0", "0"), ("-inf", "odd > 0", "-inf"),
        ("-inf", "not odd > 0", "inf"), ("-inf", "odd < 0", "-0"), ("-inf", "not odd < 0", "0"),
        ("0", "> 0", "0"), ("0", "< 0", "inf"), ("-0", "odd > 0", "-0"), ("-0", "not odd > 0", "0"),
        ("-0", "odd < 0", "-inf"), ("-0", "not odd < 0", "inf"), ("negative", "not whole", "nan"),
    ],
    "remainder": [
        ("nan", "any", "nan"), ("any", "nan", "nan"), ("±inf", "±inf", "nan"), ("±0", "±0", "nan"),
        ("±0", "> 0", "0"), ("±0", "< 0", "-0"), ("not 0", "±0", "nan"), ("±inf", "nonzero", "nan"),
        ("positive", "inf", "x"), ("positive", "-inf", "y"), ("negative", "inf", "y"),
        ("negative", "-inf", "x"), ("finite", "positive", "has +"), ("finite", "negative", "has -"),
    ],
}  # fmt: skip
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
OPERATORS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv",
             "floor_divide": "floordiv", "remainder": "mod", "pow": "pow"}  # fmt: skip


def grid(dtype: DType, first: str, second: str) -> tuple[list[Any], ts.Tensor, ts.Tensor]:
    """Give all pairs of samples that fulfil two conditions, and their columns as tensors."""
    rows = [
        (x, y)
        for x, y in itertools.product(samples(dtype), repeat=2)
        if CONDITIONS[first](x) and CONDITIONS[second](y)
    ]
    x, y = (tensor_of([row[i] for row in rows], dtype) for i in range(2))
    return rows, x, y


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_function(name: str, dtype: DType) -> None:
    for first, second, want in BINARY[name]:
        rows, x, y = grid(dtype, first, second)
        check(name, want, rows, getattr(ts, name)(x, y), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_give_the_bits_of_functions(name: str, dtype: DType) -> None:
    _, x, y = grid(dtype, "any", "any")
    want = to_array(getattr(ts, name)(x, y))
    written = x.clone()
    getattr(operator, f"i{OPERATORS[name]}")(written, y)
    for found in (getattr(operator, OPERATORS[name])(x, y), written):
        np.testing.assert_array_equal(to_array(found), want)
        np.testing.assert_array_equal(np.signbit(to_array(found)), np.signbit(want))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison(name: str, dtype: DType) -> None:
    rows, x, y = grid(dtype, "any", "any")
    assert getattr(ts, name)(x, y).tolist() == [COMPARISONS[name](*row) for row in rows]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sum_with_the_opposite_number_is_zero(dtype: DType) -> None:
    values = [x for x in samples(dtype) if CONDITIONS["nonzero"](x)]
    x = tensor_of(values, dtype)
    check("add", "0", [(v,) for v in values], x + -x, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_signs_of_nan_are_copied(dtype: DType) -> None:
    nan = ts.full((2,), NAN, dtype=dtype)
    signed = ts.copysign(nan, tensor_of([1.0, -1.0], dtype))
    assert ts.signbit(signed).tolist() == [False, True]
    assert ts.copysign(tensor_of([2.0, 2.0], dtype), signed).tolist() == [2.0, -2.0]


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_every_half_has_its_neighbours(dtype: DType) -> None:
    bits = np.arange(1 << 16, dtype="uint16")
    x = ts.from_numpy(bits).view(dtype)
    for goal in (INF, -INF, 0.0, -0.0, 1.0):
        found = ts.nextafter(x, goal).view(ts.uint16).numpy()
        # Halves are ordered like sign and size of their bits.
        order = np.where(bits >> 15, -(bits & 0x7FFF).astype("int64"), bits & 0x7FFF)
        aim = int(order[ts.full((), goal, dtype=dtype).view(ts.uint16).item()])  # type: ignore[index]
        moved = order + np.sign(aim - order)
        sign = np.where(moved == 0, bits & 0x8000, np.where(moved < 0, 0x8000, 0))
        want = np.abs(moved) | sign
        equal = to_array(x) == goal
        want = np.where(equal, ts.full((), goal, dtype=dtype).view(ts.uint16).item(), want)
        is_number = ~np.isnan(to_array(x))
        np.testing.assert_array_equal(found[is_number], want[is_number])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_spreads_through_clip(dtype: DType) -> None:
    for operands in itertools.product([NAN, 1.0], repeat=3):
        x, low, high = (tensor_of([value], dtype) for value in operands)
        assert math.isnan(ts.clip(x, low, high).item()) == any(map(math.isnan, operands))


# --- reductions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_reductions_of_nothing(dtype: DType) -> None:
    x = ts.zeros((0,), dtype=dtype)
    assert ts.sum(x).item() == 0 and ts.prod(x).item() == 1
    assert not ts.any(x) and ts.all(x)
    for name in ("mean", "std", "var"):
        assert math.isnan(getattr(ts, name)(x).item())
    for correction in (1, 1.5, 2):
        assert math.isnan(ts.var(ts.ones((1,), dtype=dtype), correction=correction).item())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["max", "min", "mean", "prod", "std", "sum", "var"])
def test_nan_spreads_through_reductions(name: str, dtype: DType) -> None:
    for place in range(40):
        x = ts.ones((40,), dtype=dtype)
        x[place] = NAN
        assert math.isnan(getattr(ts, name)(x).item())


@pytest.mark.parametrize("dtype", [ts.complex64, ts.complex128], ids=str)
def test_parts_of_a_complex_mean_are_apart(dtype: DType) -> None:
    x = ts.tensor([complex(NAN, 1), complex(2, 3)], dtype=dtype)
    assert math.isnan(ts.mean(x).item().real) and ts.mean(x).item().imag == 2
    assert ts.mean(ts.zeros((0,), dtype=dtype)).item() != 0


# --- numbers out of tensors ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_conversion_to_python_numbers(dtype: DType) -> None:
    for value in samples(dtype):
        x = tensor_of([value], dtype).reshape(())
        assert bool(x) is (value != 0)
        np.testing.assert_equal(float(x), value)
        np.testing.assert_equal(complex(x).real, value)
    assert complex(ts.tensor(True)) == 1 and not bool(ts.tensor(0j)) and bool(ts.tensor(1j))
