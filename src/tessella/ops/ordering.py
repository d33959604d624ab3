"""Sorting along an axis: stable in either direction, NaN greater than every number."""

from __future__ import annotations

from typing import Any

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import case, has_torch_axis, refusal
from tessella.dtypes import int64
from tessella.ops.index import take_along_axis
from tessella.ops.movement import normal_axes


def _sorted_axis(x: Tensor, axis: int) -> int:
    if x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "complex numbers have no order; sort real(x) or abs(x)")
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "1 or more")
    return normal_axes(x, axis)[0]


def _argsort_ref(
    np: Any, x: Any, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    # Sorted backwards and read backwards, equal elements keep their order.
    turned = np.argsort(np.flip(x, axis), axis=axis, stable=True)
    return np.flip(x.shape[axis] - 1 - turned, axis)


def _sort_ref(np: Any, x: Any, axis: int = -1, **options: Any) -> Any:
    return np.take_along_axis(x, _argsort_ref(np, x, axis, **options), axis)


_SORTS = {
    "ulps": 0,
    "samples": [case((7,)), case((3, 5), axis=0), case((3, 5), descending=True), case((0, 2)),
                case((2, 40), stable=False)],
    "errors": [case((2, 3), axis=2, match="axis 2 is out of range"), case((), match="x.ndim is 0"),
               case((2,), dtype="complex64", match="not defined for complex64"),
               case((2,), descending=1, match="descending must be True or False")],
}  # fmt: skip


@composite(ref=_argsort_ref, **_SORTS)
def argsort(x: Tensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the indices that sort along an axis. Equal elements keep their order.

    >>> ts.argsort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    place = _sorted_axis(x, axis)
    order = _core.empty(x.shape, int64.id)
    if x.size:
        _core.sort(x, place, None, order, descending)
    return order


@composite(
    ref=_sort_ref, **_SORTS,
    refuses=[refusal("x.sort(dim=1)", "x.sort(axis=1), x.argsort(axis=1)",
                     "gives values and indices", has_torch_axis)],
)  # fmt: skip
def sort(x: Tensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the elements in order along an axis.

    >>> ts.sort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    place = _sorted_axis(x, axis)
    if _core.needs_node(x):
        return take_along_axis(x, argsort(x, place, descending=descending), place)
    values = _core.empty(x.shape, x.dtype.id)
    if x.size:
        _core.sort(x, place, values, None, descending)
    return values
