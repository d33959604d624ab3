"""Sorting along an axis: stable in either direction, NaN greater than every number."""

from __future__ import annotations

from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.dtypes import int64
from tessella.kinds import to_bool, to_int
from tessella.ops.index import take_along_axis
from tessella.ops.movement import normal_axes
from tessella.records import describe


def _prepare(name: str, x: Any, axis: Any, descending: Any) -> int:
    try:
        if not isinstance(x, Tensor):
            raise errors.not_tensor("x", x)
        if x.dtype.is_complex:
            raise errors.no_kernel(x.dtype, "complex numbers have no order; sort real(x) or abs(x)")
        if x.ndim == 0:
            raise errors.wrong_value("x.ndim", 0, "1 or more")
        to_bool("descending", descending)
        return normal_axes(x, to_int("axis", axis))[0]
    except errors.TessellaError as error:
        raise error.locate(name, [f"x  {describe(x)}"]) from None


def argsort(x: Tensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the indices that sort along an axis. Equal elements keep their order.

    >>> ts.argsort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    place = _prepare("argsort", x, axis, descending)
    order = _core.empty(x.shape, int64.id)
    if x.size:
        _core.sort(x, place, None, order, descending)
    return order


def sort(x: Tensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the elements in order along an axis.

    >>> ts.sort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    place = _prepare("sort", x, axis, descending)
    if _core.needs_node(x):
        return take_along_axis(x, argsort(x, place, descending=descending), place)
    values = _core.empty(x.shape, x.dtype.id)
    if x.size:
        _core.sort(x, place, values, None, descending)
    return values
