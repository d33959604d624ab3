"""Questions about dtypes: their limits, their kinds, and what several of them are together."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from tessella import errors
from tessella._core import Tensor
from tessella.arguments import NUMBERS
from tessella.composites import DTypeLike, composite
from tessella.dtypes import (
    _ORDER,
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    is_of_kind,
    promote,
    promote_scalar,
)
from tessella.hints import Any

# Bits of the fraction and of the exponent.
_FORMATS = {float16: (10, 5), bfloat16: (7, 8), float32: (23, 8), float64: (52, 11)}
_PARTS = {complex64: float32, complex128: float64}


class FloatLimits(NamedTuple):
    """The limits of a floating dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

    @property
    def tiny(self) -> float:
        """The same as smallest_normal, as NumPy and PyTorch say too."""
        return self.smallest_normal


class IntegerLimits(NamedTuple):
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(value: Any) -> DType:
    return value.dtype if isinstance(value, Tensor) else as_dtype(value)


@composite(is_method=False, tested="tests/test_types.py")
def finfo(type: Any) -> FloatLimits:
    """Give the limits of a floating dtype, or of a tensor's: bits, eps, max, min, smallest_normal.

    eps is the distance from 1 to the next number. A complex dtype has the limits of its parts.

    >>> ts.finfo(ts.float32).max
    3.4028234663852886e+38
    """
    given = _dtype_of(type)
    dtype = _PARTS.get(given, given)
    if dtype not in _FORMATS:
        raise errors.no_kernel(given, "floats and complex numbers have these limits; see ts.iinfo")
    fraction, exponent = _FORMATS[dtype]
    eps, largest_exponent = 2.0**-fraction, 2 ** (exponent - 1) - 1
    most = (2 - eps) * 2.0**largest_exponent
    smallest = 2.0 ** (1 - largest_exponent)
    return FloatLimits(8 * dtype.itemsize, eps, most, -most, smallest, dtype)


@composite(is_method=False, tested="tests/test_types.py")
def iinfo(type: Any) -> IntegerLimits:
    """Give the limits of an integer dtype, or of a tensor's: bits, max, min.

    >>> ts.iinfo(ts.int8).min
    -128
    """
    dtype = _dtype_of(type)
    if not dtype.is_integer:
        raise errors.no_kernel(dtype, "integers have these limits; see ts.finfo")
    return IntegerLimits(8 * dtype.itemsize, int(dtype.highest), int(dtype.lowest), dtype)


@composite(is_method=False, tested="tests/test_types.py")
def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Tell whether a dtype is another one, belongs to a kind, or to one of a tuple of them.

    The kinds are "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric", and "user" for registered ones.

    >>> ts.isdtype(ts.int8, ("signed integer", ts.bool))
    True
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any(
        is_of_kind(dtype, each) if isinstance(each, str) else as_dtype(each) is dtype
        for each in kinds
    )


@composite(is_method=False, tested="tests/test_types.py")
def can_cast(from_: Any, to: DTypeLike) -> bool:
    """Tell whether promotion turns one dtype, or a tensor's, into another.

    >>> ts.can_cast(ts.int8, ts.int16)
    True
    """
    try:
        return promote(_dtype_of(from_), to) is to
    except errors.DTypeMismatch:
        return False


@composite(is_method=False, tested="tests/test_types.py")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Give the dtype that tensors, dtypes and numbers are computed in together.

    >>> ts.result_type(ts.int8, ts.ones(2), 3.5)
    float32
    """
    found, numbers = [], []
    for i, each in enumerate(arrays_and_dtypes):
        if isinstance(each, NUMBERS):
            numbers.append(each)
        elif isinstance(each, Tensor | DType):
            found.append(_dtype_of(each))
        else:
            what = "a tensor, a dtype or a number"
            raise errors.not_tensor(f"arrays_and_dtypes[{i}]", each, what)
    if not found:
        raise errors.no_tensor(("arrays_and_dtypes",))
    # The highest kind first, so that the order of the arguments does not matter: a float decides
    # what uint64 and a signed integer could not agree on.
    first, *rest = sorted(found, key=lambda dtype: -_ORDER[dtype.kind])
    joint = reduce(promote, rest, first)
    return reduce(promote_scalar, numbers, joint)
