"""Elementwise formulas made of others: interpolation, scaled products, angles, powers of two."""

from __future__ import annotations

import math
from typing import NamedTuple

from tessella import errors
from tessella._core import Tensor
from tessella.composites import Number, Operand, composite
from tessella.declarations import case
from tessella.dtypes import DType, boolean, complex128, float32, float64, int32, int64
from tessella.hints import Any
from tessella.kinds import cast, common_dtype
from tessella.ops.creation import arange, full
from tessella.ops.elementwise import (
    abs,
    bitwise_and,
    bitwise_right_shift,
    clip,
    exp2,
    isfinite,
    isnan,
    logical_not,
    mul,
    pow,
    remainder,
    round,
    sin,
    trunc,
    where,
)
from tessella.ops.movement import view


class Parts(NamedTuple):
    """Fractions of at least a half and less than 1, and the powers of two they are scaled by."""

    mantissa: Tensor
    exponent: Tensor


def _floats(x: Tensor) -> Tensor:
    """Give real floats: integers become float32."""
    if x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "defined for real numbers")
    return x if x.dtype.is_floating else cast(x, float32)


def _need_floats(x: Tensor) -> Tensor:
    if not x.dtype.is_floating:
        raise errors.no_kernel(x.dtype, "defined for floats; convert with astype")
    return x


def _computed(names: tuple[str, ...], *xs: Any) -> tuple[DType, list[Any]]:
    """Give the joint dtype, and the operands in the one to compute in: halves in float32."""
    dtype = common_dtype(names, list(xs))
    wide = float32 if dtype.is_floating and dtype.itemsize == 2 else dtype
    return dtype, [cast(x, wide) if isinstance(x, Tensor) else x for x in xs]


# --- interpolation and products ------------------------------------------------------------------


def _lerp_ref(np: Any, x: Any, end: Any, weight: Any) -> Any:
    x, end = (v if v.dtype.kind in "fc" else v.astype("float64") for v in (x, end))
    near = np.abs(weight) < 0.5
    return np.where(near, x + weight * (end - x), end - (end - x) * (1 - weight))


@composite(
    ref=_lerp_ref, has_twin=True,
    samples=[case((3, 4), (3, 4), 0.25), case((3, 4), (4,), (3, 1)), case((), (2,), 0.75),
             case((0, 2), (2,), 1)],
    errors=[case((2,), (3,), 0.5, match="do not broadcast"),
            case((2,), (2,), 1, dtype="int64", match="not defined for int64"),
            case((2,), (2,), "1", match="weight must be a tensor or a number")],
)  # fmt: skip
def lerp(x: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Go from x towards end by a weight: x + weight * (end - x), exactly x at 0 and end at 1.

    >>> ts.lerp(ts.tensor([0.0, 10.0]), ts.tensor([4.0, 20.0]), 0.25).tolist()
    [1.0, 12.5]
    """
    dtype, (x, end, weight) = _computed(("x", "end", "weight"), x, end, weight)
    if not (dtype.is_floating or dtype.is_complex):
        raise errors.no_kernel(dtype, "defined for floats and complex numbers; use astype")
    way = end - x
    if isinstance(weight, Tensor):
        # From the nearer end, so that rounding misses neither of them.
        out = where(abs(weight) < 0.5, x + way * weight, end - way * (1 - weight))
    elif math.hypot(weight.real, weight.imag) < 0.5:
        out = x + way * weight
    else:
        out = end - way * (1 - weight)
    return cast(out, dtype)


_FUSED: dict[str, Any] = {
    "has_twin": True,
    "errors": [case((2,), (3,), (2,), match="do not broadcast"),
               case((2,), (2,), (2,), value="1", match="value must be a number")],
}  # fmt: skip


@composite(
    ref=lambda np, x, tensor1, tensor2, value=1: x + value * tensor1 * tensor2, **_FUSED,
    samples=[case((3, 4), (3, 4), (3, 4)), case((3, 4), (4,), (3, 1), value=2), case((), (), ())],
)  # fmt: skip
def addcmul(x: Tensor, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor:
    """Give x + value * tensor1 * tensor2.

    >>> ts.addcmul(ts.ones(2), ts.tensor([2.0, 3.0]), ts.tensor([5.0, 7.0]), value=0.5).tolist()
    [6.0, 11.5]
    """
    dtype, (x, a, b) = _computed(("x", "tensor1", "tensor2"), x, tensor1, tensor2)
    product = mul(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else a * b
    out = x + (product if value == 1 else product * value)
    return cast(out, dtype) if dtype.itemsize == 2 and dtype.is_floating else out


@composite(
    ref=lambda np, x, tensor1, tensor2, value=1: x + value * tensor1 / tensor2, **_FUSED, away=0.5,
    samples=[case((3, 4), (3, 4), (3, 4)), case((3, 4), (4,), (3, 1), value=2), case((), (), ())],
)  # fmt: skip
def addcdiv(x: Tensor, tensor1: Operand, tensor2: Operand, *, value: Number = 1) -> Tensor:
    """Give x + value * tensor1 / tensor2; quotients of integers are float32.

    >>> ts.addcdiv(ts.ones(2), ts.tensor([2.0, 3.0]), ts.tensor([4.0, 6.0]), value=2).tolist()
    [2.0, 2.0]
    """
    dtype, (x, a, b) = _computed(("x", "tensor1", "tensor2"), x, tensor1, tensor2)
    quotient = (a if value == 1 else a * value) / b
    out = x + quotient
    return cast(out, dtype) if dtype.itemsize == 2 and dtype.is_floating else out


_LIMITS: dict[str, Any] = {
    "ulps": 0, "has_twin": True, "samples": [case((3, 4), 1), case((3, 4), (4,)), case((), ())],
    "errors": [case((2,), (3,), match="do not broadcast"),
               case((2,), None, match="must be a tensor or a number")],
}  # fmt: skip


@composite(ref="maximum", **_LIMITS)
def clamp_min(x: Tensor, min: Operand) -> Tensor:
    """Give x, and min where x is less.

    >>> ts.clamp_min(ts.tensor([1, 5]), 3).tolist()
    [3, 5]
    """
    return clip(x, min, None)


@composite(ref="minimum", **_LIMITS)
def clamp_max(x: Tensor, max: Operand) -> Tensor:
    """Give x, and max where x is more.

    >>> ts.clamp_max(ts.tensor([1, 5]), 3).tolist()
    [1, 3]
    """
    return clip(x, None, max)


# --- angles and steps ----------------------------------------------------------------------------

_SAMPLES = [case((3, 4)), case(()), case((0, 2))]
_NOT_COMPLEX = [case((2,), dtype="complex64", match="not defined for complex64")]


def _doubles(x: Any) -> Any:
    return x if x.dtype.kind == "f" else x.astype("float64")


@composite(
    ref=lambda np, x: np.deg2rad(_doubles(x)), aliases=["radians"],
    has_twin=True, samples=_SAMPLES, errors=_NOT_COMPLEX,
)  # fmt: skip
def deg2rad(x: Tensor) -> Tensor:
    """Convert degrees to radians.

    >>> ts.deg2rad(ts.tensor([180.0])).tolist()
    [3.1415927410125732]
    """
    return _floats(x) * (math.pi / 180)


@composite(
    ref=lambda np, x: np.rad2deg(_doubles(x)), aliases=["degrees"],
    has_twin=True, samples=_SAMPLES, errors=_NOT_COMPLEX,
)  # fmt: skip
def rad2deg(x: Tensor) -> Tensor:
    """Convert radians to degrees.

    >>> ts.rad2deg(ts.tensor([1.0])).tolist()
    [57.295780181884766]
    """
    return _floats(x) * (180 / math.pi)


def _sinc_ref(np: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.sinc(x)
    return np.where((x == np.rint(x)) & (x != 0), 0, np.sinc(x))


@composite(ref=_sinc_ref, has_twin=True, samples=_SAMPLES)
def sinc(x: Tensor) -> Tensor:
    """Give sin(pi * x) / (pi * x), which is 1 at 0 and exactly 0 at every other integer.

    >>> ts.sinc(ts.tensor([0.0, 0.5, 2.0])).tolist()
    [1.0, 0.6366197466850281, 0.0]
    """
    if not (x.dtype.is_floating or x.dtype.is_complex):
        x = cast(x, float32)
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    is_zero = wide == 0
    wide = where(is_zero, 1, wide)  # keeps the quotient's slope finite there
    if x.dtype.is_complex:
        wave = sin(wide * math.pi)
    else:
        # sin(pi * (n + r)) is sin(pi * r), or for an odd n its negative.
        whole = round(wide).detach()
        wave = sin((wide - whole) * math.pi) * (1 - 2 * remainder(whole, 2))
    return cast(where(is_zero, 1, wave / (wide * math.pi)), x.dtype)


@composite(
    ref=lambda np, x: x - np.trunc(x), ulps=0, step=True, has_twin=True, samples=_SAMPLES,
    errors=[case((2,), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def frac(x: Tensor) -> Tensor:
    """Give what is left of x without its integer part, with the sign of x.

    >>> ts.frac(ts.tensor([2.5, -1.25])).tolist()
    [0.5, -0.25]
    """
    return _need_floats(x) - trunc(x)


def _heaviside_ref(np: Any, x: Any, values: Any) -> Any:
    dtype = np.result_type(x, values)
    return np.heaviside(x.astype("float64"), values.astype("float64")).astype(dtype)


@composite(
    ref=_heaviside_ref, ulps=0, domain=(-1, 1), step=True, has_twin=True,
    samples=[case((3, 4), (3, 4)), case((3, 4), (4,)), case((), ())],
    errors=[case((2,), (3,), match="do not broadcast"),
            case((2,), (2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def heaviside(x: Tensor, values: Tensor) -> Tensor:
    """Give 0 where x < 0, 1 where x > 0, and the values where x is 0; NaN stays NaN.

    >>> ts.heaviside(ts.tensor([-2.0, 0.0, 3.0]), ts.tensor([0.5])).tolist()
    [0.0, 0.5, 1.0]
    """
    dtype = common_dtype(("x", "values"), [x, values])
    x, values = cast(x, dtype), cast(values, dtype)
    step = cast(x > 0, dtype)
    if dtype.is_floating:
        step = where(isnan(x), x, step)
    return where(x == (False if dtype is boolean else 0), values, step)


# --- powers --------------------------------------------------------------------------------------


@composite(
    ref="float_power", domain=(0.2, 3),
    samples=[case((3, 4), (3, 4)), case((3, 4), 2), case(2, (3,)), case((3, 1), (4,))],
    errors=[case((2,), (3,), match="do not broadcast"),
            case(2, 3, match="none of x, y is a tensor")],
)  # fmt: skip
def float_power(x: Operand, y: Operand) -> Tensor:
    """Give x ** y in float64, or in complex128 if either is complex.

    >>> ts.float_power(ts.tensor([2, 3]), -1).tolist()
    [0.5, 0.3333333333333333]
    """
    is_complex = common_dtype(("x", "y"), [x, y]).is_complex
    wide = complex128 if is_complex else float64
    return pow(*(cast(v, wide) if isinstance(v, Tensor) else v for v in (x, y)))


_SPANS = {float32: 126, float64: 1022}  # exponents whose powers of two are normal numbers


def _scaled(x: Tensor, exponent: Tensor) -> Tensor:
    """Give x * 2 ** exponent in float32 or float64, rounded once.

    What is left of the exponent beyond one or two full steps comes first: then a product is below
    the normal numbers only in the last step, or becomes 0 anyway.
    """
    span = _SPANS[x.dtype]
    left = cast(clip(cast(exponent, float64), -3 * span, 3 * span), x.dtype)
    steps = []
    for _ in range(3):
        steps.append(clip(left, -span, span))
        left = left - steps[-1]
    for step in reversed(steps):
        x = x * exp2(step)
    return x


@composite(
    ref=lambda np, x, y: np.ldexp(x.astype("float64"), y), ulps=0, has_twin=True,
    samples=[case((3, 4), arange(-2, 2)), case((4,), 3), case((), arange(2)), case((0, 2), -1)],
    errors=[case((2,), (2,), match="y.dtype is float32"),
            case((2,), 0.5, match="y must be an integer"),
            case((2,), 1, dtype="complex64", match="not defined for complex64"),
            case((2,), arange(3), match="do not broadcast")],
)  # fmt: skip
def ldexp(x: Tensor, y: Operand) -> Tensor:
    """Give x * 2 ** y for integers y, rounded once, where 2 ** y itself may overflow.

    >>> ts.ldexp(ts.tensor([0.75, 1.0]), ts.tensor([2, -1])).tolist()
    [3.0, 0.5]
    """
    x = _floats(x)
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    if not isinstance(y, Tensor):
        if isinstance(y, bool) or not isinstance(y, int):
            raise errors.wrong_type("y", y, "an integer")
        y = full((), max(-(1 << 20), min(y, 1 << 20)))
    elif not y.dtype.is_integer:
        raise errors.wrong_value("y.dtype", y.dtype, "an integer")
    return cast(_scaled(wide, y), x.dtype)


@composite(
    ref="frexp", ulps=0, samples=_SAMPLES,
    errors=[case((2,), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def frexp(x: Tensor) -> Parts:
    """Take x apart into mantissa * 2 ** exponent, with 0.5 <= |mantissa| < 1; exponents are int32.

    Zeros, infinities and NaN are their own mantissas, with the exponent 0.

    >>> mantissa, exponent = ts.frexp(ts.tensor([3.0, 0.5]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.75, 0.5], [2, 0])
    """
    wide = cast(x, float32) if _need_floats(x).dtype.itemsize == 2 else x
    exponent = _exponent(wide.detach())
    is_special = logical_not(isfinite(wide)) | (wide == 0)
    exponent = where(is_special, 0, exponent)
    mantissa = where(is_special, wide, _scaled(wide, -exponent))
    return Parts(cast(mantissa, x.dtype), exponent)


def _exponent(x: Tensor) -> Tensor:
    """Read the exponents of float32 or float64 numbers from their bits."""
    whole, digits, bias = (int32, 23, 126) if x.dtype is float32 else (int64, 52, 1022)
    is_tiny = abs(x) < 2.0 ** (1 - bias)
    normal = where(is_tiny, x * 2.0 ** (digits + 1), x)
    field = bitwise_and(bitwise_right_shift(view(normal, whole), digits), 2 * bias + 3)
    return cast(field - bias - where(is_tiny, digits + 1, 0), int32)
