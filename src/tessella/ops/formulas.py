"""Elementwise formulas made of others: interpolation, scaled products, angles, powers of two."""

from __future__ import annotations

import math
from typing import NamedTuple

from tessella import errors
from tessella._core import Function, Tensor
from tessella.composites import Operand, composite
from tessella.declarations import case
from tessella.dtypes import boolean, complex128, float32, float64, int32, int64, need_floats
from tessella.hints import Any
from tessella.kinds import Elementwise, cast, common_dtype
from tessella.ops.creation import arange, full
from tessella.ops.elementwise import (
    abs,
    bitwise_and,
    bitwise_right_shift,
    clip,
    conjugate,
    exp2,
    isfinite,
    isinf,
    isnan,
    logical_and,
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


# --- interpolation and products ------------------------------------------------------------------


class Ternary(Elementwise):
    """f(x, y, z), each a tensor or a number."""


def _ternary(name: str, operands: tuple[str, str, str], **record: Any) -> Function:
    kind = type(name, (Ternary,), {"__doc__": Ternary.__doc__, "operands": operands})
    function: Function = kind(name, **record).function
    return function


def _times(x: Any, value: Any) -> Any:
    """Give value * x, of tensors or numbers."""
    if not isinstance(value, Tensor | bool | int | float | complex):
        raise errors.not_tensor("value", value)
    return mul(x, value) if isinstance(x, Tensor) or isinstance(value, Tensor) else x * value


def _single(*xs: Any) -> list[Any]:
    """Give halves as float32, which they are computed in: results are rounded once."""
    return [x.astype("float32") if x.dtype == "float16" else x for x in xs]


def _lerp_ref(np: Any, x: Any, end: Any, weight: Any) -> Any:
    x, end, weight = _single(x, end, weight)
    near = np.abs(weight) < 0.5
    return np.where(near, x + (end - x) * weight, end - (end - x) * (1 - weight))


def _addcmul_ref(np: Any, x: Any, tensor1: Any, tensor2: Any) -> Any:
    x, tensor1, tensor2 = _single(x, tensor1, tensor2)
    return x + tensor1 * tensor2


def _addcdiv_ref(np: Any, x: Any, tensor1: Any, tensor2: Any) -> Any:
    x, tensor1, tensor2 = _single(x, tensor1, tensor2)
    return x + tensor1 / tensor2


lerp = _ternary(
    "lerp", ("x", "end", "weight"), ulps=0, domain=(0.4, 0.6),  # where complex ones cancel little
    vjp=(lambda g, weight: g * (1 - conjugate(weight)), lambda g, weight: g * conjugate(weight),
         lambda g, x, end: g * conjugate(end - x)),
    doc="x + weight * (end - x), exactly x for a weight of 0 and end for 1.",
    example=">>> ts.lerp(ts.tensor([0.0, 10.0]), ts.tensor([4.0, 20.0]), 0.25).tolist()\n"
            "[1.0, 12.5]",
    ref=_lerp_ref,
)  # fmt: skip
addcmul = _ternary(
    "addcmul", ("x", "tensor1", "tensor2"), ulps=0, domain=(0.2, 3),
    vjp=(lambda g: g, lambda g, tensor2: g * conjugate(tensor2),
         lambda g, tensor1: g * conjugate(tensor1)),
    doc="x + value * tensor1 * tensor2.",
    example=">>> ts.addcmul(ts.ones(2), ts.tensor([2.0, 3.0]), 4.0, value=0.5).tolist()\n"
            "[5.0, 7.0]",
    ref=_addcmul_ref, options={"value": 1},
    variant=lambda x, tensor1, tensor2, value: addcmul(x, _times(tensor1, value), tensor2),
)  # fmt: skip
addcdiv = _ternary(
    "addcdiv", ("x", "tensor1", "tensor2"), ulps=0, domain=(0.5, 3),
    vjp=(lambda g: g, lambda g, tensor2: g / conjugate(tensor2),
         lambda g, tensor1, tensor2: -g * conjugate(tensor1 / tensor2 / tensor2)),
    doc="x + value * tensor1 / tensor2; integers become float32 first.",
    example=">>> ts.addcdiv(ts.ones(2), ts.tensor([2.0, 3.0]), 4.0, value=2).tolist()\n"
            "[2.0, 2.5]",
    ref=_addcdiv_ref, options={"value": 1},
    variant=lambda x, tensor1, tensor2, value: addcdiv(x, _times(tensor1, value), tensor2),
)  # fmt: skip

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
    # np.sinc rounds pi * x before it takes the sine, which near the zeros leaves few digits.
    near = np.rint(x)
    wave = np.sin(np.pi * (x - near)) * np.where(near % 2 == 0, 1, -1)
    return np.where(x == 0, 1, wave / np.where(x == 0, 1, np.pi * x))


# Of sin(pi x) / (pi x), by powers of x^2: below 1/2 what follows is below the roundings of float64,
# also in the second derivative.
_SINC_SERIES = [(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(13)]


def _sinc(x: Tensor) -> Tensor:
    """Divide, where x is not 0."""
    if x.dtype.is_complex:
        wave = sin(x * math.pi)
    else:
        # sin(pi * (n + r)) is sin(pi * r), or for an odd n its negative.
        whole = round(x).detach()
        wave = sin((x - whole) * math.pi) * (1 - 2 * remainder(whole, 2))
    return wave / (x * math.pi)


@composite(ref=_sinc_ref, has_twin=True, samples=_SAMPLES)
def sinc(x: Tensor) -> Tensor:
    """Give sin(pi * x) / (pi * x), which is 1 at 0 and exactly 0 at every other integer.

    >>> ts.sinc(ts.tensor([0.0, 0.5, 2.0])).tolist()
    [1.0, 0.6366197466850281, 0.0]
    """
    if not (x.dtype.is_floating or x.dtype.is_complex):
        x = cast(x, float32)
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    plain = wide.detach()
    is_zero = plain == 0
    out = where(is_zero, 1, _sinc(where(is_zero, 1, plain)))
    if wide.requires_grad:
        # Near 0 the parts of the quotient's slope cancel: there only the value is the quotient's.
        is_near = abs(plain) < 0.5
        near, series = where(is_near, wide, 0), full((), _SINC_SERIES[-1], dtype=wide.dtype)
        square = near * near
        for factor in _SINC_SERIES[-2::-1]:
            series = series * square + factor
        out = where(is_near, out + (series - series.detach()), _sinc(where(is_near, 1, wide)))
    return cast(out, x.dtype)


@composite(
    ref=lambda np, x: x - np.trunc(x), ulps=0, step=True, has_twin=True, samples=_SAMPLES,
    errors=[case((2,), dtype="int64", match="not defined for int64")],
)  # fmt: skip
def frac(x: Tensor) -> Tensor:
    """Give what is left of x without its integer part, with the sign of x.

    >>> ts.frac(ts.tensor([2.5, -1.25])).tolist()
    [0.5, -0.25]
    """
    return need_floats(x) - trunc(x)


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
    """Give 0 where x < 0, 1 where x > 0, and the values where x is 0.

    NaN stays NaN, as in NumPy; in PyTorch it becomes 0.

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
    ref="float_power", domain=(0.2, 3), has_twin=True,
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
    wide = cast(x, float32) if need_floats(x).dtype.itemsize == 2 else x
    whole, digits, bias = (int32, 23, 126) if wide.dtype is float32 else (int64, 52, 1022)
    shift = digits + 1
    is_tiny = abs(wide) < 2.0 ** (1 - bias)
    normal = where(is_tiny, wide * 2.0**shift, wide)
    bits = bitwise_right_shift(view(normal.detach(), whole), digits)
    exponent = bitwise_and(bits, 2 * bias + 3) - bias
    is_special = logical_not(isfinite(wide)) | (wide == 0)
    mantissa = where(is_special, wide, normal * exp2(cast(-exponent, wide.dtype)))
    exponent = where(is_special, 0, exponent - where(is_tiny, shift, 0))
    return Parts(cast(mantissa, x.dtype), cast(exponent, int32))


# --- NaN and infinity ----------------------------------------------------------------------------

_PAIRS = [case((3, 4), (3, 4)), case((3, 1), (4,)), case((), (2,)), case((2, 0), (1,))]


@composite(ref="fmax", ulps=0, has_twin=True, samples=_PAIRS)
def fmax(x: Tensor, y: Tensor) -> Tensor:
    """Give the larger of x and y; where one is NaN, the other.

    >>> ts.fmax(ts.tensor([1.0, float("nan")]), ts.tensor([0.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return where((x >= y) | (y != y), x, y)


@composite(ref="fmin", ulps=0, has_twin=True, samples=_PAIRS)
def fmin(x: Tensor, y: Tensor) -> Tensor:
    """Give the smaller of x and y; where one is NaN, the other.

    >>> ts.fmin(ts.tensor([1.0, float("nan")]), ts.tensor([0.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return where((x <= y) | (y != y), x, y)


@composite(ref=lambda np, x: np.isinf(x) & (x > 0), ulps=0, has_twin=True, samples=_SAMPLES)
def isposinf(x: Tensor) -> Tensor:
    """Tell where x is positive infinity.

    >>> ts.isposinf(ts.tensor([float("inf"), -float("inf"), 1.0])).tolist()
    [True, False, False]
    """
    return logical_and(isinf(x), x > 0)


@composite(ref=lambda np, x: np.isinf(x) & (x < 0), ulps=0, has_twin=True, samples=_SAMPLES)
def isneginf(x: Tensor) -> Tensor:
    """Tell where x is negative infinity.

    >>> ts.isneginf(ts.tensor([float("inf"), -float("inf"), 1.0])).tolist()
    [False, True, False]
    """
    return logical_and(isinf(x), x < 0)
