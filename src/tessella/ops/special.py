"""Elementwise functions of statistics, analysis and number theory.

Their arithmetic stands in elementwise.def.
"""

from __future__ import annotations

import math

from tessella import errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case
from tessella.dtypes import uint8
from tessella.hints import Any, Callable
from tessella.kinds import binary, cast, unary
from tessella.ops import references
from tessella.ops.creation import full
from tessella.ops.elementwise import clip, exp, exp2, log, where

# The references below are doubles made of doubles, and that far off themselves, the normal tails
# farther, since they round the argument of erfc. tools/maths.py holds the kernels to 2 ulp.
_LOOSE, _LOOSER = 8, 64
_DENSITY = 1 / math.sqrt(2 * math.pi)  # of the normal distribution at 0


def _clipped_logit(x: Any, eps: Any) -> Tensor:
    """Limit x to [eps, 1 - eps] first."""
    if isinstance(eps, bool) or not isinstance(eps, int | float):
        raise errors.wrong_type("eps", eps, "a number or None")
    return logit(clip(x, eps, 1 - eps))


def _log(y: Any, g: Tensor) -> Tensor:
    """Give log(y) of a tensor or of a number in the dtype of g."""
    return log(y if isinstance(y, Tensor) else full((), y, dtype=g.dtype))


logit = unary(
    "logit",
    vjp=lambda g, x: where((x < 0) | (x > 1), math.nan, g / (x * (1 - x))),
    doc="log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps].",
    ref=lambda np, x: np.log(x) - np.log1p(-x),
    options={"eps": None},
    variant=_clipped_logit,
    domain=(0.05, 0.45),
)
xlogy = binary(
    "xlogy",
    vjp=(  # where x is 0 and log(y) no number, the slope is taken to be 0
        lambda g, x, y: where((x == 0) & (y <= 0), 0, g * _log(y, g)),
        lambda g, x, y: g * x / y,
    ),
    doc="x * log(y), and 0 for x = 0 unless y is NaN.",
    ref=lambda np, x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
    domain=(0.2, 4),
)
logaddexp2 = binary(
    "logaddexp2",
    vjp=(lambda g, x, out: g * exp2(x - out), lambda g, y, out: g * exp2(y - out)),
    doc="log2(2 ** x + 2 ** y) without overflow.",
    domain=(-0.4, 3),
    ref="logaddexp2",
)

# --- the normal distribution ---------------------------------------------------------------------


def _of_floats(function: Callable[[float], float]) -> Callable[..., Any]:
    """Make a reference of a function of one number."""
    return lambda np, x: np.vectorize(function, "d")(x)


ndtr = unary(
    "ndtr",
    vjp=lambda g, x: g * exp(x * x * -0.5) * _DENSITY,
    doc="The normal distribution function: the share of numbers below x.",
    ref=_of_floats(references.ndtr),
    ulps=_LOOSER,
)
log_ndtr = unary(
    "log_ndtr",
    vjp=lambda g, x, out: g * exp(x * x * -0.5 - out) * _DENSITY,
    doc="log(ndtr(x)), accurate where ndtr is near 0 or 1.",
    ref=_of_floats(references.log_ndtr),
    ulps=_LOOSER,
)
ndtri = unary(
    "ndtri",
    vjp=lambda g, out: g * exp(out * out * 0.5) / _DENSITY,
    doc="The number that a share of x lies below: the inverse of ndtr.",
    ref=_of_floats(references.ndtri),
    ulps=_LOOSE,
    domain=(0.05, 0.95),
)
erfinv = unary(
    "erfinv",
    vjp=lambda g, out: g * exp(out * out) * (math.sqrt(math.pi) / 2),
    doc="The inverse of the error function.",
    ref=_of_floats(references.erfinv),
    ulps=_LOOSE,
    domain=(-0.9, 0.9),
)

# --- Bessel functions ----------------------------------------------------------------------------


def _i1_slope(x: Tensor, out: Tensor) -> Tensor:
    """Give i0(x) - i1(x) / x, which is a half at 0."""
    is_zero = x == 0
    return where(is_zero, 0.5, i0(x) - out / where(is_zero, 1, x))


i0 = unary(
    "i0",
    vjp=lambda g, x: g * i1(x),
    doc="The modified Bessel function of the first kind, of order 0.",
    ref=_of_floats(lambda x: references.bessel(0, x)),
    ulps=_LOOSE,
)
i1 = unary(
    "i1",
    vjp=lambda g, x, out: g * _i1_slope(x, out),
    doc="The modified Bessel function of the first kind, of order 1.",
    ref=_of_floats(lambda x: references.bessel(1, x)),
    ulps=_LOOSE,
)

# --- integers ------------------------------------------------------------------------------------

gcd = binary(
    "gcd",
    doc="The greatest common divisor, of two zeros 0. That of the lowest integer and 0 or itself "
    "does not fit its dtype, and wraps to the lowest integer.",
    ref="gcd",
)
lcm = binary(
    "lcm",
    doc="The least common multiple, beside a zero 0. One that does not fit the dtype wraps.",
    ref="lcm",
)
bit_count = unary(
    "bit_count",
    is_function=False,
    is_method=False,
    doc="How many bits of |x| are set, in the dtype of x.",
    ref=lambda np, x: np.bitwise_count(x).astype(x.dtype),
)


@composite(
    ref="bitwise_count", has_twin=True, samples=[case((3, 40)), case(()), case((0, 2))],
    errors=[case((2,), match="not defined for float32")],
)  # fmt: skip
def bitwise_count(x: Tensor) -> Tensor:
    """Count the bits of |x| that are set, as uint8.

    >>> ts.bitwise_count(ts.tensor([7, -8, 0])).tolist()
    [3, 1, 0]
    """
    return cast(bit_count(x), uint8)
