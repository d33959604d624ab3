"""Strict typed access: one element, read or written as the dtype that the caller names.

As in a typed buffer of C, nothing is converted: another dtype than the tensor's, or a value of
another kind, raises DTypeMismatch before a byte is touched. `x.at` and `x[i] = v` are the everyday
ways, which take a number of a lower kind too.
"""

from __future__ import annotations

from tessella import dtype_errors, errors
from tessella._core import Tensor
from tessella.declarations import describe
from tessella.dtypes import DType, as_dtype
from tessella.hints import Any, DTypeLike, Element, Real
from tessella.inplace import check_target, fill_
from tessella.tensors import at, checked_index

# What a dtype of each kind takes, and how that is said; bool is no integer here.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "True or False"),
    "signed integer": ((int,), "an int"),
    "unsigned integer": ((int,), "an int"),
    "real floating": ((float, int), "a float or an int"),
    "complex floating": ((complex, float, int), "a complex, a float or an int"),
    "user": ((tuple,), "a tuple"),
}


def read(self: Tensor, *index: int, dtype: DTypeLike) -> Real:
    """Give the element at an index, of a tensor that has this dtype: another one raises.

    >>> ts.tensor([[1, 2], [3, 4]]).read(1, 0, dtype=ts.int64)
    3
    """
    try:
        _check_dtype(self, as_dtype(dtype))
        return at(self, *index)
    except errors.TessellaError as error:
        raise error.relocate("read", _shown(self, index, dtype)) from None


def write(self: Tensor, *index: int, value: Element, dtype: DTypeLike) -> None:
    """Set the element at an index, of a tensor that has this dtype, to a value of its kind.

    bool takes a bool, integers take an int, floats a float or an int, complex dtypes those or a
    complex number, and a user's dtype a tuple. Anything else raises before a byte is touched.

    >>> x = ts.zeros(2)
    >>> x.write(1, value=2.5, dtype=ts.float32)
    >>> x.tolist()
    [0.0, 2.5]
    """
    try:
        _check_dtype(self, as_dtype(dtype))
        _check_value(value, self.dtype)
        check_target(self)
        place = checked_index(self, index, "write")
        fill_(self[tuple(place)], value)
    except errors.TessellaError as error:
        shown = [*_shown(self, index, dtype), f"value  {describe(value)}"]
        raise error.relocate("write", shown) from None


def _check_dtype(x: Tensor, dtype: DType) -> None:
    if x.dtype is not dtype:
        raise dtype_errors.wrong_access(x.dtype, dtype)


def _check_value(value: Any, dtype: DType) -> None:
    types, shown = _TYPES[dtype.kind]
    is_bool = isinstance(value, bool)
    if not isinstance(value, types) or is_bool != (types == (bool,)):
        raise dtype_errors.wrong_kind(value, dtype, shown)


def _shown(x: Tensor, index: tuple[Any, ...], dtype: Any) -> list[str]:
    return [f"x      {describe(x)}", f"index  {describe(index)}", f"dtype  {describe(dtype)}"]
