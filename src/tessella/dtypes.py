"""dtype objects and the rules of promotion.

The core holds sizes and kinds; here is what they mean together. Within a kind the wider dtype wins;
between kinds (bool < integers < floats < complex) the higher kind's dtype wins. A Python scalar has
a kind and no width, so it never changes a tensor's dtype within its kind.
"""

from __future__ import annotations

import builtins
import math

from tessella import _core, errors
from tessella.hints import Any

_KINDS = ("bool", "signed integer", "unsigned integer", "real floating", "complex floating")
_ORDER = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "real floating": 2,
          "complex floating": 3}  # fmt: skip

# What the array API calls kinds: those of dtypes, and names for several of them.
KINDS: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in _KINDS}
KINDS["integral"] = _KINDS[1:3]
KINDS["numeric"] = _KINDS[1:]


class DType:
    """The type of a tensor's elements.

    >>> ts.float32.itemsize
    4
    """

    __slots__ = ("id", "itemsize", "kind", "name")

    def __init__(self, id: int, name: str, itemsize: int, kind: str) -> None:
        self.id = id
        self.name = name
        self.itemsize = itemsize
        self.kind = kind

    @property
    def is_floating(self) -> builtins.bool:
        """Whether it is float16, bfloat16, float32 or float64."""
        return self.kind == "real floating"

    @property
    def is_complex(self) -> builtins.bool:
        """Whether it is complex64 or complex128."""
        return self.kind == "complex floating"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether it is a signed or unsigned integer (bool is not)."""
        return self.kind in ("signed integer", "unsigned integer")

    @property
    def lowest(self) -> builtins.bool | int | float:
        """Give the smallest value: -inf for floats."""
        if self.kind == "signed integer":
            return -(1 << (8 * self.itemsize - 1))
        return -math.inf if self.is_floating else 0

    @property
    def highest(self) -> builtins.bool | int | float:
        """Give the largest value: inf for floats."""
        if self.is_integer:
            return (1 << (8 * self.itemsize - (self.kind == "signed integer"))) - 1
        return math.inf if self.is_floating else True

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return "boolean" if self.name == "bool" else self.name


DTYPES: tuple[DType, ...] = tuple(
    DType(i, name, itemsize, _KINDS[kind])
    for i, (name, itemsize, kind) in enumerate(_core.dtype_table())
)
(
    boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
) = DTYPES  # fmt: skip
_core.set_dtype_objects(DTYPES)

BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in DTYPES}
DEFAULTS: dict[type, DType] = {bool: boolean, int: int64, float: float32, complex: complex64}


def as_dtype(value: Any) -> DType:
    """Give the dtype that an argument names: a DType, a Python type, or a NumPy dtype."""
    if isinstance(value, DType):
        return value
    if isinstance(value, type) and value in DEFAULTS:
        return DEFAULTS[value]
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if not isinstance(name, str) and isinstance(value, type):
        name = value.__name__  # NumPy's scalar types
    found = BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise errors.unknown_dtype(value)
    return found


def is_of_kind(dtype: DType, kind: str) -> builtins.bool:
    """Tell whether a dtype belongs to a kind, by the array API's name of it."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise errors.wrong_value("kind", kind, f"one of {', '.join(map(repr, KINDS))}")
    return dtype.kind in KINDS[kind]


def _widest(x: DType, y: DType) -> DType:
    """Join two dtypes of one kind."""
    if x.kind == y.kind:
        if x.itemsize == y.itemsize and x is not y:  # float16 and bfloat16
            return float32
        return x if x.itemsize >= y.itemsize else y
    signed, unsigned = (x, y) if x.kind == "signed integer" else (y, x)
    if unsigned is uint64:
        raise errors.no_promotion(x, y)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return {1: int16, 2: int32, 4: int64}[unsigned.itemsize]


def promote(x: DType, y: DType) -> DType:
    """Give the dtype that operands of two dtypes are computed in."""
    if x is y:
        return x
    low, high = (x, y) if _ORDER[x.kind] <= _ORDER[y.kind] else (y, x)
    if _ORDER[low.kind] == _ORDER[high.kind]:
        return _widest(x, y)
    # A wide float keeps its precision beside a narrow complex number.
    return complex128 if low is float64 and high is complex64 else high


def promote_scalar(dtype: DType, scalar: Any) -> DType:
    """Give the dtype of a tensor of `dtype` together with a Python scalar."""
    default = DEFAULTS[next(t for t in (bool, int, float, complex) if isinstance(scalar, t))]
    if _ORDER[default.kind] <= _ORDER[dtype.kind]:
        return dtype
    if default is complex64 and dtype is float64:
        return complex128
    return default
