"""Sorting along an axis: stable in either direction, NaN greater than every number."""

from __future__ import annotations

from typing import NamedTuple

from tessella import _core, errors
from tessella._core import Tensor
from tessella.composites import composite
from tessella.declarations import Refusal, case, has_torch_axis, refusal, torch_axis
from tessella.dtypes import int64
from tessella.hints import Any
from tessella.ops.creation import arange
from tessella.ops.elementwise import isnan, where
from tessella.ops.index import take_along_axis
from tessella.ops.joining import roll
from tessella.ops.movement import normal_axes


class Ordered(NamedTuple):
    """Elements along an axis, and where they were."""

    values: Tensor
    indices: Tensor


def sorted_axis(x: Tensor, axis: int) -> int:
    """Check that x has an order, and give the axis from 0 on."""
    if x.dtype.is_complex:
        raise errors.no_kernel(x.dtype, "complex numbers have no order; sort real(x) or abs(x)")
    if x.ndim == 0:
        raise errors.wrong_value("x.ndim", 0, "at least 1")
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
def argsort(x: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = True) -> Tensor:
    """Give the indices that sort along an axis. Equal elements keep their order.

    >>> ts.argsort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    place = sorted_axis(x, axis)
    order = _core.empty(x.shape, int64.id)
    if x.size:
        _core.sort(x, place, None, order, descending)
    return order


def _gives_places(axis: str) -> Refusal:
    return refusal(f"x.sort(dim={axis})", f"x.sort(axis={axis}), x.argsort(axis={axis})",
                   "gives values and indices", has_torch_axis,
                   lambda *call: _gives_places(torch_axis(*call)))  # fmt: skip


@composite(ref=_sort_ref, refuses=[_gives_places("1")], **_SORTS)
def sort(x: Tensor, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Give the elements in order along an axis.

    >>> ts.sort(ts.tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    place = sorted_axis(x, axis)
    return smallest(x, x.shape[place], place, descending)


@composite(
    ref=lambda np, x: np.sort(x, axis=0), ulps=0, samples=[case((7,)), case((3, 5)), case((0, 2))],
    errors=[case((), match="x.ndim is 0"),
            case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def msort(x: Tensor) -> Tensor:
    """Give the elements in order along the first axis.

    >>> ts.msort(ts.tensor([[3, 1], [2, 5]])).tolist()
    [[2, 1], [3, 5]]
    """
    place = sorted_axis(x, 0)
    return smallest(x, x.shape[place], place)


# --- flat: all elements as one line --------------------------------------------------------------


def nan_last(ordered: Tensor, x: Tensor, descending: bool) -> Tensor:
    """Move what the NaNs of a vector x became to the end: a falling order has them first."""
    if not descending or not x.dtype.is_floating:
        return ordered
    if not _core.is_recording():
        count = int(isnan(x).sum().item())
        return roll(ordered, -count) if count else ordered
    places = arange(x.size) + isnan(x).sum()
    return ordered[where(places < x.size, places, places - x.size)]


def _flat_sort_ref(np: Any, x: Any, descending: bool = False) -> Any:
    line = np.sort(x, axis=None, stable=True)
    if descending:
        nans = int(np.isnan(x).sum()) if x.dtype.kind == "f" else 0
        line = np.concatenate([line[: len(line) - nans][::-1], line[len(line) - nans :]])
    return line.reshape(x.shape)


@composite(
    ref=_flat_sort_ref, ulps=0, has_twin=True,
    samples=[case((7,)), case((3, 5)), case((3, 5), descending=True), case((0, 2)), case(())],
    errors=[case((2,), dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def flat_sort(x: Tensor, *, descending: bool = False) -> Tensor:
    """Give all elements in order as if they were one flat line, row by row, in x's shape.

    The axes do not count: `sort` sorts along one. NaN comes last in either direction, and equal
    elements keep their order.

    >>> ts.flat_sort(ts.tensor([[3, 1], [4, 2]])).tolist()
    [[1, 2], [3, 4]]
    """
    line = x.reshape(-1)
    return nan_last(sort(line, descending=descending), line, descending).reshape(x.shape)


@composite(
    ref=lambda np, x: np.flip(x.reshape(-1)).reshape(x.shape), ulps=0, has_twin=True, gives="view",
    samples=[case((7,)), case((3, 5)), case((0, 2)), case(())],
)  # fmt: skip
def flat_reverse(x: Tensor) -> Tensor:
    """Give all elements in reverse as if they were one flat line, row by row, in x's shape.

    The axes do not count: `flip` turns some of them around. A view where the strides allow it.

    >>> ts.flat_reverse(ts.tensor([[1, 2], [3, 4]])).tolist()
    [[4, 3], [2, 1]]
    """
    return x.reshape(-1).flip(0).reshape(x.shape)


# --- the first few -------------------------------------------------------------------------------


def smallest(x: Tensor, count: int, place: int, descending: bool = False) -> Tensor:
    """Give the first elements in order along an axis; no others are sorted."""
    if _core.needs_node(x):
        return first_few(x, count, place, descending).values
    values = _core.empty((*x.shape[:place], count, *x.shape[place + 1 :]), x.dtype.id)
    if values.size:
        _core.sort(x, place, values, None, descending)
    return values


def first_few(x: Tensor, count: int, place: int, descending: bool = False) -> Ordered:
    """Give the first elements in order along an axis, and where they are."""
    shape = (*x.shape[:place], count, *x.shape[place + 1 :])
    indices = _core.empty(shape, int64.id)
    is_recorded = _core.needs_node(x)
    values = None if is_recorded else _core.empty(shape, x.dtype.id)
    if indices.size:
        _core.sort(x, place, values, indices, descending)
    return Ordered(take_along_axis(x, indices, place) if values is None else values, indices)


def _topk_ref(
    np: Any, x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    order = _argsort_ref(np, x, axis, descending=largest)
    order = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order


@composite(
    ref=_topk_ref, ulps=0,
    samples=[case((7,), k=3), case((3, 5), k=2, axis=0), case((3, 5), k=5, largest=False),
             case((2, 40), k=7, sorted=False), case((0, 3), k=0), case((2, 3), k=0)],
    errors=[case((2, 3), k=4, match="k is 4"), case((2, 3), k=-1, match="k is -1"),
            case((), k=1, match="x.ndim is 0"), case((2, 3), k=1, axis=2, match="axis 2 is out"),
            case((2,), k=1, dtype="complex64", match="not defined for complex64")],
)  # fmt: skip
def topk(x: Tensor, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> Ordered:
    """Give the k largest (or smallest) elements along an axis, and where they are.

    They stand in order, whatever `sorted` says; of equal ones the first in x comes first. A NaN is
    greater than every number.

    >>> values, indices = ts.topk(ts.tensor([3, 9, 7, 9]), 3)
    >>> values.tolist(), indices.tolist()
    ([9, 9, 7], [1, 3, 2])
    """
    place = sorted_axis(x, axis)
    if not 0 <= k <= x.shape[place]:
        raise errors.wrong_value("k", k, f"0 to {x.shape[place]}, the size of the axis")
    return first_few(x, k, place, largest)
