"""Elementwise formulas at special values: NaN, infinities, zeros of either sign, the least numbers.

Their declarations test ordinary numbers; what is here is NumPy's or PyTorch's at the ends.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tessella as ts

Array = np.ndarray[Any, Any]
NAN, INF = float("nan"), float("inf")
FLOATS = ["float16", "float32", "float64"]


def specials(dtype: str) -> Array:
    """Give zeros, NaN, infinities, and the least and greatest numbers of either sign."""
    limits = np.finfo(dtype)
    least = float(limits.smallest_subnormal)
    sizes = [0.0, least, 3 * least, float(limits.tiny), 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 100.25,
             float(limits.max), INF]  # fmt: skip
    return np.array([NAN, *sizes, *(-x for x in sizes)], dtype)


def pairs(dtype: str) -> tuple[Array, Array]:
    """Give every pair of them."""
    rows = list(itertools.product(specials(dtype), repeat=2))
    return np.array([x for x, _ in rows], dtype), np.array([y for _, y in rows], dtype)


def assert_bits(found: ts.Tensor, want: Array) -> None:
    """Every element is equal, NaN to NaN, and zeros have the same sign."""
    got = found.numpy()
    assert got.dtype == want.dtype
    same = (got == want) & (np.signbit(got) == np.signbit(want))
    same |= np.isnan(got) & np.isnan(want)
    assert same.all(), (got[~same][:4], want[~same][:4])


# --- interpolation -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_lerp_meets_its_ends_exactly(dtype: str, weight: float) -> None:
    rng = np.random.default_rng(1)
    x, end = (rng.standard_normal(1000).astype(dtype) for _ in range(2))
    wanted = ts.tensor(end if weight else x)
    for given_weight in (weight, ts.full((), weight, dtype=wanted.dtype)):
        found = ts.lerp(ts.tensor(x), ts.tensor(end), given_weight)
        assert found.numpy().tobytes() == wanted.numpy().tobytes()


def test_lerp_promotes() -> None:
    x, end = ts.tensor([0, 10]), ts.tensor([10, 20])
    assert ts.lerp(x, end, 0.5).tolist() == [5.0, 15.0]
    assert ts.lerp(x.astype(ts.uint8), ts.tensor([0, 0], dtype=ts.uint8), 0.5).tolist() == [0, 5]
    assert ts.lerp(x, end, 1).dtype is ts.float32
    z = ts.lerp(ts.tensor([1 + 1j]), ts.tensor([3 + 1j]), 0.25)
    assert z.tolist() == [1.5 + 1j]
    with pytest.raises(ts.errors.ArgumentError, match="weight must be a tensor or a number"):
        ts.lerp(x, end, None)  # type: ignore[arg-type]


def test_fused_products_round_halves_once() -> None:
    x, y = ts.tensor([256.0], dtype=ts.bfloat16), ts.tensor([1.5], dtype=ts.bfloat16)
    assert ts.addcmul(x, y, y).item() == 258.0
    assert ts.addcdiv(x, y, ts.tensor([0.75], dtype=ts.bfloat16)).item() == 258.0
    x = ts.tensor([4])
    assert ts.addcmul(x, x, x, value=3).dtype is ts.int64
    assert x.addcmul_(x, x).tolist() == [20]
    assert ts.addcmul(x, 3, 2).tolist() == [26] and ts.addcmul(x, 3, 2, value=2).tolist() == [32]
    with pytest.raises(ts.errors.ArgumentError, match="value must be a tensor or a number"):
        ts.addcdiv(x, x, x, value=None)


# --- functions of one and two numbers ------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_of_functions_of_one_number(dtype: str) -> None:
    x = specials(dtype)
    with np.errstate(all="ignore"):
        assert_bits(ts.frac(ts.tensor(x)), x - np.trunc(x))
        mantissa, exponent = ts.frexp(ts.tensor(x))
        wanted = np.frexp(x)
        assert_bits(mantissa, wanted[0])
        is_number = np.isfinite(x)  # the exponent of the others is left open in C
        assert np.array_equal(exponent.numpy()[is_number], wanted[1][is_number])
        assert exponent.dtype is ts.int32 and not exponent.numpy()[~is_number].any()
        inside = np.where((x >= 0) & (x <= 1), x, NAN).astype("float64")
        want = (np.log(inside) - np.log1p(-inside)).astype(dtype)
        np.testing.assert_allclose(ts.logit(ts.tensor(x)).numpy(), want, rtol=1e-3)


def test_slope_of_logit_is_a_nan_where_its_value_is() -> None:
    x = ts.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, NAN], requires_grad=True)
    ts.logit(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [NAN, INF, 4, INF, NAN, NAN])


def test_logit_limits_its_operand() -> None:
    found = ts.logit(ts.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, NAN]), eps=0.25)
    want = math.log(3)
    np.testing.assert_allclose(found.numpy(), [-want, -want, 0, want, want, NAN], rtol=1e-6)
    with pytest.raises(ts.errors.ArgumentError, match="eps must be a number or None"):
        ts.logit(ts.ones(2), eps="1")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", FLOATS)
def test_xlogy_is_zero_beside_zero(dtype: str) -> None:
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        want = np.where((x == 0) & ~np.isnan(y), 0, x.astype("float64") * np.log(y, dtype="f8"))
        found = ts.xlogy(ts.tensor(x), ts.tensor(y)).numpy()
        np.testing.assert_allclose(found, want.astype(dtype), rtol=2e-3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_heaviside_is_that_of_numpy(dtype: str) -> None:
    x, y = pairs(dtype)
    assert_bits(ts.heaviside(ts.tensor(x), ts.tensor(y)), np.heaviside(x, y))
    assert ts.heaviside(ts.tensor([-1, 0, 2]), ts.tensor(7)).tolist() == [0, 7, 1]


def test_sinc_is_zero_at_integers_and_one_at_zero() -> None:
    x = ts.tensor([0.0, -0.0, 1.0, -7.0, 2.0**60, INF, NAN], dtype=ts.float64)
    found = ts.sinc(x).numpy()
    assert found[:5].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0] and np.isnan(found[5:]).all()
    z = np.array([0, 1 + 1j, 2.5 - 0.5j])
    np.testing.assert_allclose(ts.sinc(ts.tensor(z)).numpy(), np.sinc(z), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "tiny"), [(ts.float32, 1e-30), (ts.float64, 1e-200)])
def test_sinc_has_exact_slopes_near_zero(dtype: ts.dtype, tiny: float) -> None:
    numbers = [0.0, tiny, -tiny, 1e-8, 1e-4, 0.01, 0.2, 0.375, 0.499]
    x = ts.tensor(numbers, dtype=dtype, requires_grad=True)
    found = ts.sinc(x)
    (first,) = ts.autograd.grad(found.sum(), x, create_graph=True)
    (second,) = ts.autograd.grad(first.sum(), x)
    assert_bits(found.detach(), ts.sinc(x.detach()).numpy())  # recording changes no bit
    u = np.longdouble(x.detach().numpy())
    terms = [(2 * k, np.longdouble(-1) ** k * np.longdouble(np.pi) ** (2 * k)
              / math.factorial(2 * k + 1)) for k in range(1, 16)]  # fmt: skip
    slopes = [sum(c * p * u ** (p - 1) for p, c in terms),
              sum(c * p * (p - 1) * u ** (p - 2) for p, c in terms)]  # fmt: skip
    for got, want in zip((first, second), slopes, strict=True):
        units = np.spacing(np.abs(want).astype(dtype.name))
        assert (np.abs(got.detach().numpy() - want) <= 6 * units).all()


@given(st.floats(-60, 60))
def test_sinc_is_near_that_of_numpy(x: float) -> None:
    assert ts.sinc(ts.tensor([x], dtype=ts.float64)).item() == pytest.approx(np.sinc(x), abs=1e-15)


# --- powers of two -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_ldexp_rounds_once(dtype: str) -> None:
    rng = np.random.default_rng(3)
    span = 2 * (1 - np.finfo(dtype).minexp) + 80
    n = np.concatenate([np.arange(-span, span), [-(10**6), 10**6]])
    x = np.concatenate([specials(dtype), (1 + rng.random(40)).astype(dtype)])
    x, n = (part.reshape(-1) for part in np.meshgrid(x, n))
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    assert_bits(ts.ldexp(ts.tensor(x), ts.tensor(n)), want)


def test_ldexp_takes_integers_of_every_kind() -> None:
    x = ts.tensor([1.5, 3.0])
    for dtype in (ts.int8, ts.uint8, ts.uint64, ts.int64):
        assert ts.ldexp(x, ts.tensor([2, 3], dtype=dtype)).tolist() == [6.0, 24.0]
    huge = ts.tensor([2**64 - 1], dtype=ts.uint64)
    assert ts.ldexp(x, huge).tolist() == [INF, INF] and ts.ldexp(x, -(10**30)).tolist() == [0, 0]
    assert ts.ldexp(ts.tensor([3]), 1).tolist() == [6.0]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_frexp_and_ldexp_are_inverse(x: float) -> None:
    parts = ts.frexp(ts.tensor([x], dtype=ts.float64))
    assert (parts.mantissa.item(), parts.exponent.item()) == math.frexp(x)
    assert ts.ldexp(*parts).item() == x


def test_float_power_is_wide() -> None:
    assert ts.float_power(ts.tensor([2.0]), ts.tensor([0.5])).dtype is ts.float64
    assert ts.float_power(ts.tensor([-1]), 0.5 + 0j).dtype is ts.complex128
    assert ts.float_power(2, ts.tensor([1, 2], dtype=ts.uint8)).tolist() == [2.0, 4.0]


# --- slopes where curves have corners -------------------------------------------------------------

# At each place: the number, its slope and the slope of the slope.
CORNERS: list[tuple[str, tuple[float, ...], list[tuple[float, float, float]]]] = [
    ("relu6", (), [(0, 0, 0), (3, 1, 0), (6, 0, 0)]),
    ("hardtanh", (), [(-1, 0, 0), (0, 1, 0), (1, 0, 0)]),
    ("hardtanh", (0.0, 2.0), [(0, 0, 0), (2, 0, 0)]),
    ("hardsigmoid", (), [(-3, 0, 0), (0, 1 / 6, 0), (3, 0, 0)]),
    ("hardswish", (), [(-3, 0, 0), (0, 0.5, 1 / 3), (3, 1, 0)]),
    ("elu", (), [(0, 1, 0), (-1, math.exp(-1), math.exp(-1))]),
    ("elu", (2.0,), [(0, 2, 0)]),
    ("celu", (), [(0, 1, 0), (2, 1, 0)]),
    ("celu", (2.0,), [(0, 1, 0), (-2, math.exp(-1), math.exp(-1) / 2)]),
    ("pow", (0,), [(0, 0, 0), (2, 0, 0)]),
    ("pow", (1,), [(0, 1, 0), (2, 1, 0)]),
    ("pow", (2,), [(0, 0, 2), (2, 4, 2)]),
    ("pow", (3.0,), [(0, 0, 0), (2, 12, 12)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params", "places"), CORNERS, ids=str)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_slopes_at_corners(name: str, params: Any, places: Any, is_compiled: bool) -> None:
    def curve(x: ts.Tensor) -> ts.Tensor:
        out: ts.Tensor = getattr(ts, name)(x, *params)
        return out.sum()

    x = ts.tensor([float(place) for place, _, _ in places], dtype=ts.float64)
    slope: Callable[..., ts.Tensor] = ts.grad(curve)
    curvature: Callable[..., ts.Tensor] = ts.grad(lambda x: ts.grad(curve)(x).sum())
    if is_compiled:
        slope, curvature = ts.compile(slope), ts.compile(curvature)
    assert slope(x).tolist() == pytest.approx([slope for _, slope, _ in places])
    assert curvature(x).tolist() == pytest.approx([second for _, _, second in places])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_slopes_of_powers_at_zero_where_exponents_are_tensors(dtype: str) -> None:
    x, power = ts.zeros(4, dtype=dtype), ts.arange(4).astype(dtype)
    x.requires_grad_()
    found, out = [], x**power
    for _ in range(4):
        (out,) = ts.autograd.grad(out.sum(), x, create_graph=True)
        found.append(out.tolist())
    assert found == [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 6], [0, 0, 0, 0]]
    nothing, two = ts.zeros((), dtype=ts.float64), ts.tensor(2.0, dtype=ts.float64)
    mixed = ts.grad(ts.grad(lambda x, y: x**y), argnums=1)
    assert mixed(two, nothing).item() == 0.5 and mixed(nothing, nothing).item() == 0


def test_no_angle_has_a_slope_at_the_origin_and_ties_go_to_the_first() -> None:
    x, y = ts.tensor([0.0, -0.0, 1.0]), ts.tensor([0.0, 0.0, 1.0])
    for name, expected in {"atan2": ([0, 0, 0.5], [0, 0, -0.5]), "fmax": ([1, 1, 1], [0, 0, 0]),
                           "fmin": ([1, 1, 1], [0, 0, 0])}.items():  # fmt: skip
        slopes = ts.grad(lambda x, y, name=name: getattr(ts, name)(x, y).sum(), argnums=(0, 1))
        assert tuple(part.tolist() for part in slopes(x, y)) == expected


@pytest.mark.parametrize(("name", "params"), [("hardshrink", ()), ("threshold", (0.0, 1.0))])
def test_nan_passes_thresholds(name: str, params: Any) -> None:
    x = ts.tensor([math.nan, 0.0, 2.0])
    assert (
        str(getattr(ts, name)(x, *params).tolist())
        == f"[nan, {params[-1] if params else 0.0}, 2.0]"
    )


# --- integers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
def test_divisors_and_multiples_wrap_as_in_numpy(dtype: str) -> None:
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(5)
    ends = [limits.min, limits.min + 1, 0, 1, 2, 3, 6, 12, limits.max - 1, limits.max]
    drawn = rng.integers(limits.min, limits.max, 100, dtype=dtype)
    x = np.concatenate([np.array(ends, dtype), drawn])
    x, y = (part.reshape(-1) for part in np.meshgrid(x, x))
    assert np.array_equal(ts.gcd(ts.tensor(x), ts.tensor(y)).numpy(), np.gcd(x, y))
    # NumPy divides the lowest integer by itself, signed; a wrapped multiple has one meaning only.
    magnitude = np.abs(x.astype(object)), np.abs(y.astype(object))
    want = [math.lcm(a, b) for a, b in zip(*magnitude, strict=True)]
    bits = 8 * np.dtype(dtype).itemsize
    wrapped = np.array([w % 2**bits for w in want], f"uint{bits}").astype(dtype)
    assert np.array_equal(ts.lcm(ts.tensor(x), ts.tensor(y)).numpy(), wrapped)
    counts = ts.bitwise_count(ts.tensor(x))
    assert counts.dtype is ts.uint8 and np.array_equal(counts.numpy(), np.bitwise_count(x))


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extremes_pass_over_nan_and_infinities_have_signs(name: str, dtype: str) -> None:
    values = np.array([NAN, -INF, -1.5, 0.0, 2.0, INF], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    found = getattr(ts, name)(ts.from_numpy(x), ts.from_numpy(y))
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(x, y))
    assert ts.isposinf(ts.from_numpy(values)).tolist() == [False] * 5 + [True]
    assert ts.isneginf(ts.from_numpy(values)).tolist() == [False, True] + [False] * 4
