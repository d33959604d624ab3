"""What elementwise operations are compared with where NumPy's function of that name differs.

Each takes NumPy itself, and arrays; none is called but by tests.
"""

from __future__ import annotations

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
