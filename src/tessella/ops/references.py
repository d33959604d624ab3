"""What elementwise operations are compared with where NumPy's function differs, or there is none.

Each takes NumPy itself, and arrays; none is called but by tests.
"""

from __future__ import annotations

import math

from tessella.dtypes import DType, bfloat16
from tessella.hints import Any


def pow(np: Any, x: Any, y: Any) -> Any:
    """Give negative powers of integers too: 1 / x ** -y truncated, and 0 for x = 0."""
    if x.dtype.kind != "i":
        return np.power(x, y)
    inverse = np.where(np.abs(x) == 1, np.where(y & 1, x, 1), 0)
    return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0)))


def floor_divide(np: Any, x: Any, y: Any) -> Any:
    """Give floor(x / y), as the array API asks, where an operand is infinite.

    NumPy, like Python, has NaN for an infinite x, and -1 for an infinite y of another sign than x.
    """
    found = np.floor_divide(x, y)
    is_infinite = np.isinf(x) | np.isinf(y)
    return np.where(is_infinite, x / y, found) if found.dtype.kind == "f" else found


def nextafter(np: Any, x: Any, y: Any, inside: DType) -> Any:
    """Give y itself where they are equal, and the neighbours of bfloat16, held as float32."""
    found = np.nextafter(x, y)
    if inside is bfloat16:  # the upper half of float32: the next number whose lower half is 0
        is_larger = np.abs(found) > np.abs(x)
        bits = np.where(is_larger, found.view("uint32") + np.uint32(0xFFFF), found.view("uint32"))
        found = (bits & np.uint32(0xFFFF0000)).view("float32")
    return np.where(x == y, y, found)


def maximum(np: Any, x: Any, y: Any) -> Any:
    """Take 0.0 for greater than -0.0, whichever comes first."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def minimum(np: Any, x: Any, y: Any) -> Any:
    """Take -0.0 for less than 0.0, whichever comes first."""
    found = np.minimum(x, y)
    return np.where((x == 0) & (y == 0), -(-x + -y), found) if found.dtype.kind == "f" else found


def clip(np: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    """Limit by the two above."""
    x = x if min is None else maximum(np, x, min)
    return x if max is None else minimum(np, x, max)


def ndtr(x: float) -> float:
    """Give the normal distribution function."""
    return math.erfc(-x * math.sqrt(0.5)) / 2


def log_ndtr(x: float) -> float:
    """Give its logarithm: on the right by what is missing from 1, far on the left by its series."""
    if x > 0:
        return math.log1p(-ndtr(-x))
    if not x < -36:
        return math.log(ndtr(x))
    u = 1 / x / x
    series = u * (-1 + u * (3 + u * (-15 + u * (105 - 945 * u))))
    return math.log1p(series) - math.log(-x) - math.log(2 * math.pi) / 2 + x / 2 * -x


def _lower(p: float) -> float:
    """Give x below 0 with ndtr(x) = p, by Newton on logarithms."""
    x, wanted = -math.sqrt(-2 * math.log(2 * p)), math.log(p)
    for _ in range(60):
        found = log_ndtr(x)
        x -= (found - wanted) * math.exp(x * x / 2 + found) * math.sqrt(2 * math.pi)
    return x


def erfinv(x: float) -> float:
    """Give the inverse of the error function, away from 0 by that of the normal distribution."""
    size = abs(x)
    if not size < 1:
        return math.copysign(math.inf, x) if size == 1 else math.nan
    if size > 0.6:
        return math.copysign(_lower((1 - size) / 2) / math.sqrt(2), x)
    y = x * math.sqrt(math.pi) / 2
    for _ in range(6):
        y -= (math.erf(y) - x) * math.exp(y * y) * math.sqrt(math.pi) / 2
    return y


def ndtri(p: float) -> float:
    """Give the inverse of the normal distribution function."""
    if not 0 < p < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)
    if 0.2 < p < 0.8:
        return math.sqrt(2) * erfinv(2 * p - 1)
    return _lower(p) if p < 0.5 else -_lower(1 - p)


def bessel(order: int, x: float) -> float:
    """Give I0 or I1, the modified Bessel functions, by series or for large x by their asymptote."""
    size, total, term = abs(x), 1.0, 1.0
    if not size < 720:
        return math.copysign(math.inf, x if order else 1.0) if size > 0 else x
    if size < 30:
        for k in range(1, 90):
            term *= size * size / 4 / (k * (k + order))
            total += term
        return x / 2 * total if order else total
    for k in range(1, 30):
        term *= ((2 * k - 1) ** 2 - 4 * order) / (8 * k * size)
        total += term
    half = math.exp(size / 2)  # e ** size itself may overflow
    found = total / math.sqrt(2 * math.pi * size) * half * half
    return math.copysign(found, x) if order else found
